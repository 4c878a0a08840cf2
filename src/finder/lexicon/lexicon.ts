import { sha256 } from '../../canonical/digest.ts';
import { canonicalBytes } from '../../canonical/json.ts';
import { ar } from './ar.ts';
import { de } from './de.ts';
import { en } from './en.ts';
import type { LexiconEntry } from './entry.ts';
import { es } from './es.ts';
import { fr } from './fr.ts';
import { hi } from './hi.ts';
import { it } from './it.ts';
import { ja } from './ja.ts';
import { pt } from './pt.ts';
import { zh } from './zh.ts';

const entries: readonly LexiconEntry[] = [ar, de, en, es, fr, hi, it, ja, pt, zh];

export const LEXICON: ReadonlyMap<string, LexiconEntry> = new Map(
  entries.map((entry) => [entry.language, entry]),
);

/** A digest of the words: a change of one word changes it, and old confirmations still say which words they were read by. */
export const LEXICON_VERSION = `confirm-lexicon/2+sha256:${sha256(canonicalBytes(entries))}`;
