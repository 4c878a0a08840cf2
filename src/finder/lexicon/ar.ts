import type { LexiconEntry } from './entry.ts';

export const ar: LexiconEntry = {
  language: 'ar',
  scripts: ['Arabic'],
  affirmative: ['نعم', 'نعم أؤكد', 'نعم، أؤكد', 'أؤكد', 'نعم، نفذ'],
  negative: ['لا', 'لا شكرا', 'إلغاء', 'ألغ'],
  ambiguous: ['حسنا', 'حسناً', 'تمام', 'طيب', 'ماشي', 'أوكي', 'ربما', 'لاحقا', 'إن شاء الله', 'موافق'],
};
