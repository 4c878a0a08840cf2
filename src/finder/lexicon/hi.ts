import type { LexiconEntry } from './entry.ts';

export const hi: LexiconEntry = {
  language: 'hi',
  scripts: ['Devanagari'],
  affirmative: ['हाँ', 'हां', 'जी हाँ', 'जी हां', 'हाँ, कर दो', 'मैं पुष्टि करता हूँ', 'मैं पुष्टि करती हूँ', 'पुष्टि'],
  negative: ['नहीं', 'जी नहीं', 'रद्द करो', 'मत करो'],
  ambiguous: ['ठीक', 'ठीक है', 'अच्छा', 'ओके', 'शायद', 'बाद में', 'चलो', 'देखते हैं', 'जी'],
};
