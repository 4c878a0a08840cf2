import { type Digest, sha256 } from '../canonical/digest.ts';
import { canonicalBytes, type Json, type JsonObject } from '../canonical/json.ts';

/** A tool that a grant is for, with the digest of its definition. */
export interface GrantPin {
  readonly action: string;
  readonly pin: string;
}

/** What a grant says beside its uses and its time, under one digest. */
export interface GrantBounds {
  readonly format: 'keyturn-grant/1';
  /** A JSON Schema that the arguments must fit; null for any. */
  readonly arguments: JsonObject | null;
  /** The definition of each tool as it was when a human signed. */
  readonly pins: readonly GrantPin[];
}

export function sealGrantBounds(
  schema: JsonObject | undefined,
  pins: readonly GrantPin[],
): { readonly digest: Digest; readonly bytes: Uint8Array } {
  const bounds: GrantBounds = { format: 'keyturn-grant/1', arguments: schema ?? null, pins };
  const bytes = canonicalBytes(bounds as unknown as Json);
  return { bytes, digest: sha256(bytes) };
}
