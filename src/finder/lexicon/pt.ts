import type { LexiconEntry } from './entry.ts';

export const pt: LexiconEntry = {
  language: 'pt',
  scripts: ['Latin'],
  affirmative: ['sim', 'sim, faça', 'sim, pode fazer', 'sim, confirmo', 'confirmo'],
  negative: ['não', 'nao', 'não, obrigado', 'não, obrigada', 'cancelar', 'cancela'],
  ambiguous: [
    'ok',
    'okay',
    'tá',
    'tá bom',
    'está bem',
    'beleza',
    'claro',
    'talvez',
    'depois',
    'pode ser',
    'certo',
  ],
};
