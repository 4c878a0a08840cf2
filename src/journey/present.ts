import type { KeyObject } from 'node:crypto';
import { sha256 } from '../canonical/digest.ts';
import { type ExecutorFacts, unmetCondition } from '../capability/conditions.ts';
import { kidOf } from '../capability/key.ts';
import { type HeldCapability, type Holder, proveHolder, requireHolder } from '../capability/proof.ts';
import { openCapability, requireUsable } from '../capability/verify.ts';
import { readFileBeneath, readRegularFile } from '../durable/beneath.ts';
import type { Capability, IntentState, Issued } from '../gate/state.ts';
import { requireIssuerHolds, type System } from '../gate/system.ts';
import { limits } from '../limits.ts';
import { Refusal, refuse } from '../refusal.ts';
import { isForThisHost } from './addressed.ts';
import type { Context } from './context.ts';
import type { Effect } from './derived.ts';
import { actionOf, categoryOf, neededScope } from './reach.ts';
import { requireAsOrdered } from './terms.ts';

/** What the caller of a run gives. Without a text the newest capability that was ordered for the intent is used. */
export interface Presented {
  readonly text?: string;
  /** The key of the holder, for a capability that is bound to one. */
  readonly holder?: Holder;
}

export interface UsableCapability {
  readonly held: HeldCapability;
  /** What the ledger says about it, or will say once it is claimed. */
  readonly recorded: IssuedCapability;
}

type IssuedCapability = Capability & { readonly issued: Issued };

/**
 * Step 5 of 002: the executor validates the capability, offline against the public keys of the control plane, and
 * against the ledger for revocation, use, and what the human ordered.
 */
export async function requireCapability(
  context: Context,
  { state, system }: { readonly state: IntentState; readonly system: System },
  effect: Effect,
  presented: Presented & { readonly text: string },
): Promise<UsableCapability> {
  const now = context.clock();
  const { text } = presented;
  const opened = openCapability(text, keysOf(context, system));
  const audience = isForThisHost(context, system, opened.root.audience)
    ? opened.root.audience
    : context.audience;
  const proof = presented.holder ? proveHolder(text, presented.holder, { audience, now }) : null;
  const held = requireHolder(opened, proof, { audience, now });
  const recorded = state.capabilities.find(({ capability_id }) => capability_id === opened.root.jti);
  if (!recorded && (await context.store.find('capability', opened.root.jti)))
    refuse('CAPABILITY_INTENT_CHANGED', 'It was issued for another intent.');
  // The token itself must be the one that was issued, whatever else the same key has signed.
  const known = recorded?.issued?.token === sha256(text.split('~')[0]!);
  const expected = {
    now,
    audience,
    intent_id: state.intent_id,
    intent_hash: state.hash,
    effect_digest: state.effect_digest,
    attempt: state.attempt,
    action: actionOf(effect),
    needs: neededUnlessConfined(effect),
    facts: conditionFacts(context, now),
  };
  requireUsable(held, expected, known ? recorded!.status : null);
  requireIssuerHolds(system, recorded!.issued!.control_key);
  const { tool_category } = held.claims;
  if (tool_category !== null && tool_category !== categoryOf(effect))
    refuse('CAPABILITY_WRONG_ACTION', `It is for tools of the category "${tool_category}".`);
  await requireAsOrdered(context.store, recorded!, opened.root, effect);
  return { held, recorded: recorded as IssuedCapability };
}

/** A sandbox is made from the scope, which may be narrower than what the effect needs. What has no sandbox must be within the scope. */
function neededUnlessConfined(effect: Effect) {
  return effect.kind === 'tool' && effect.sandbox !== 'none' ? null : neededScope(effect);
}

function keysOf({ public_key }: Context, { control_keys }: System): (kid: string) => KeyObject | null {
  return (kid) => {
    const found = control_keys.find((one) => kidOf(one.public_key) === kid);
    return found === undefined ? null : public_key(found.public_key);
  };
}

function conditionFacts(context: Context, now: Date): ExecutorFacts {
  return {
    now,
    environment: context.environment,
    host: context.process.host,
    fileDigest: (path) => digestBeneath(context, path),
  };
}

/** What a condition names: a path of the project, or an absolute one. Nothing there is an answer; unreadable is not. */
function digestBeneath({ root }: Context, path: string): string | null {
  try {
    const { bytes } = path.startsWith('/')
      ? readRegularFile(path, limits.condition_file_bytes)
      : readFileBeneath(root, path, limits.condition_file_bytes);
    return sha256(bytes);
  } catch (error) {
    if (error instanceof Refusal && error.code === 'FILE_NOT_FOUND') return null;
    throw error;
  }
}

/** F5, too: a condition that was met and no longer is. Null while all of them hold. */
export function conditionBroken(context: Context, { held }: UsableCapability): Refusal | null {
  const unmet = unmetCondition(held.claims.conditions, conditionFacts(context, context.clock()));
  return unmet === null ? null : new Refusal('CAPABILITY_CONDITION_UNMET', unmet);
}
