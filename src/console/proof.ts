import type * as auditing from '../audit/index.ts';
import type { App } from './app.ts';
import { refuse } from './refusal.ts';
import { dayOf } from './words.ts';

/** The path of `keyturn/audit` for a browser, which the build puts here. */
declare const AUDIT_PATH: string;

export interface ProvenHere {
  readonly entries: number;
  readonly size: number;
  /** The head that this browser kept before, and when; null where it kept none. */
  readonly kept: { readonly size: number; readonly at: string } | null;
  readonly took_ms: number;
  readonly bundle: string;
  readonly key: string;
}

interface KeptHead {
  readonly text: string;
  readonly size: number;
  readonly at: number;
  readonly key: string;
}

/**
 * Verifies the story of one intent in this browser: the path of each entry to the signed head, every signature, and that the ledger
 * only grew since the head that this browser remembers. The head that holds now is remembered in its place.
 */
export async function proveHere({ api, kept, world }: App, intent_id: string): Promise<ProvenHere> {
  const { auditProof } = (await import(AUDIT_PATH)) as typeof auditing;
  const name = `head.${world.get().origin}`;
  const before = headIn(kept.get(name));
  const { bundle, key } = await api.ledger.prove({ intent_id, ...(before && { kept: before.text }) });
  if (before && before.key !== key)
    refuse('LEDGER_OTHER', 'The ledger is signed by another key than the one that this browser remembers.');
  const from = performance.now();
  const { entries, head } = auditProof(new TextEncoder().encode(bundle), {
    key,
    ...(before && { kept: before.text }),
  });
  const took_ms = performance.now() - from;
  const now = await api.ledger.head();
  if (!before || now.size >= before.size)
    kept.set(
      name,
      JSON.stringify({ text: now.text, size: now.size, at: Date.now(), key } satisfies KeptHead),
    );
  return {
    entries: entries.length,
    size: head.size,
    kept: before && { size: before.size, at: dayOf(before.at) },
    took_ms,
    bundle,
    key,
  };
}

export function headIn(text: string | null): KeptHead | null {
  try {
    return text === null ? null : (JSON.parse(text) as KeptHead);
  } catch {
    return null;
  }
}
