import { ar } from './ar.ts';
import { de } from './de.ts';
import { en } from './en.ts';
import { es } from './es.ts';
import { fr } from './fr.ts';
import { hi } from './hi.ts';
import { it } from './it.ts';
import { ja } from './ja.ts';
import { pt } from './pt.ts';
import type { LanguageRules } from './rules.ts';
import { zh } from './zh.ts';

/** Every language that the finder hears. */
export const LANGUAGE_RULES: ReadonlyMap<string, LanguageRules> = new Map(
  [ar, de, en, es, fr, hi, it, ja, pt, zh].map((rules) => [rules.language, rules]),
);
