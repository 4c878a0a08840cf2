import type { LexiconEntry } from './entry.ts';

export const fr: LexiconEntry = {
  language: 'fr',
  scripts: ['Latin'],
  affirmative: ['oui', 'oui, fais-le', 'oui, faites-le', 'oui, je confirme', 'je confirme'],
  negative: ['non', 'non merci', 'annuler', 'annule'],
  ambiguous: [
    "d'accord",
    'd’accord',
    'ok',
    'okay',
    'bon',
    'bien',
    'ouais',
    'peut-être',
    'plus tard',
    'ça marche',
    'entendu',
    'si',
  ],
};
