import { arRules } from './ar.ts';
import { deRules } from './de.ts';
import { enRules } from './en.ts';
import { esRules } from './es.ts';
import { frRules } from './fr.ts';
import { hiRules } from './hi.ts';
import { itRules } from './it.ts';
import { jaRules } from './ja.ts';
import { ptRules } from './pt.ts';
import type { LanguageRules } from './rules.ts';
import { zhRules } from './zh.ts';

/** Every language that the finder hears. */
export const LANGUAGE_RULES: ReadonlyMap<string, LanguageRules> = new Map(
  [arRules, deRules, enRules, esRules, frRules, hiRules, itRules, jaRules, ptRules, zhRules].map((rules) => [
    rules.language,
    rules,
  ]),
);
