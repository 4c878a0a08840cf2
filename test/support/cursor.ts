import { sha256 } from '../../src/canonical/digest.ts';
import { canonicalText, type JsonObject } from '../../src/canonical/json.ts';

/** A cursor with the seal of its list, as every reader of the source can make it. */
export function sealedCursor(list: string, origin: string, seq: number, filter: JsonObject = {}): string {
  return `${seq.toString(36)}-${sha256(canonicalText({ list, origin, seq, ...filter })).slice(0, 16)}`;
}
