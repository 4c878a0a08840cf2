import type { LexiconEntry } from './entry.ts';

export const zh: LexiconEntry = {
  language: 'zh',
  scripts: ['Han'],
  affirmative: ['是', '是的', '确认', '我确认', '是的,我确认'],
  negative: ['不', '不是', '否', '取消', '不要'],
  ambiguous: ['好', '好的', '行', '可以', '嗯', '哦', '也许', '以后再说', '随便', '没问题', '对吧'],
};
