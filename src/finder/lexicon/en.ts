import type { LexiconEntry } from './entry.ts';

export const en: LexiconEntry = {
  language: 'en',
  scripts: ['Latin'],
  affirmative: ['yes', 'yes, do it', 'yes do it', 'yes, i confirm', 'yes i confirm', 'i confirm', 'confirm'],
  negative: ['no', "no, don't", 'no, do not', 'cancel', 'stop', 'do not'],
  ambiguous: [
    'ok',
    'okay',
    'k',
    'fine',
    'sure',
    'yeah',
    'yep',
    'yup',
    'alright',
    'all right',
    'right',
    'maybe',
    'maybe later',
    'later',
    'i guess',
    'sounds good',
    'go ahead',
    'whatever',
    'no problem',
  ],
};
