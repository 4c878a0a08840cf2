import type { LexiconEntry } from './entry.ts';

export const de: LexiconEntry = {
  language: 'de',
  scripts: ['Latin'],
  affirmative: ['ja', 'ja, mach das', 'ja, ausführen', 'ja, ich bestätige', 'ich bestätige', 'bestätigt'],
  negative: ['nein', 'nein danke', 'abbrechen', 'stopp'],
  ambiguous: [
    'ok',
    'okay',
    'gut',
    'na gut',
    'klar',
    'gern',
    'gerne',
    'jo',
    'vielleicht',
    'später',
    'passt',
    'in ordnung',
    'einverstanden',
    'meinetwegen',
  ],
};
