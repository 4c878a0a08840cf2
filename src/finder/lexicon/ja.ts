import type { LexiconEntry } from './entry.ts';

export const ja: LexiconEntry = {
  language: 'ja',
  scripts: ['Han', 'Hiragana', 'Katakana'],
  affirmative: ['はい', 'はい、実行してください', 'はい、確認しました', '承認します', '実行してください'],
  negative: ['いいえ', 'やめて', 'やめてください', 'キャンセル', '中止'],
  ambiguous: [
    'うん',
    'ええ',
    'いいよ',
    'いいです',
    '大丈夫',
    '大丈夫です',
    '結構です',
    '了解',
    '了解です',
    'たぶん',
    'あとで',
    'オーケー',
  ],
};
