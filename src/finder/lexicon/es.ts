import type { LexiconEntry } from './entry.ts';

export const es: LexiconEntry = {
  language: 'es',
  scripts: ['Latin'],
  affirmative: ['sí', 'si', 'sí, hazlo', 'sí, confirmo', 'confirmo'],
  negative: ['no', 'no, gracias', 'cancelar', 'cancela'],
  ambiguous: [
    'vale',
    'ok',
    'okay',
    'bueno',
    'claro',
    'de acuerdo',
    'tal vez',
    'quizás',
    'quizá',
    'luego',
    'está bien',
    'dale',
  ],
};
