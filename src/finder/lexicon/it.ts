import type { LexiconEntry } from './entry.ts';

export const it: LexiconEntry = {
  language: 'it',
  scripts: ['Latin'],
  affirmative: ['sì', 'si', 'sì, fallo', 'sì, confermo', 'confermo'],
  negative: ['no', 'no, grazie', 'annulla', 'annullare'],
  ambiguous: [
    'ok',
    'okay',
    'va bene',
    'bene',
    'certo',
    "d'accordo",
    'd’accordo',
    'forse',
    'dopo',
    'magari',
    'più tardi',
  ],
};
