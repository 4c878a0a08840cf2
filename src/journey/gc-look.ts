import type { Digest } from '../canonical/digest.ts';
import { parseEvent } from '../event/event.ts';
import { correlationOf } from '../gate/agent.ts';
import { conversationNeed, intentNeed, type Need, NOT_NEEDED } from '../gate/needed.ts';
import { isKept, type ObjectRole, objectsOf } from '../gate/objects.ts';
import { openEntry } from '../ledger/entry.ts';
import type { HeldObject } from '../store/store.ts';
import type { Context } from './context.ts';

/** A stored object, with what rests on it. */
export interface GcObject extends HeldObject {
  /** What it is to the first entry that names it. */
  readonly role: ObjectRole;
  /** When an entry named it last. */
  readonly at: string;
  /** The intents, conversations and others that it belongs to. */
  readonly subjects: readonly string[];
  /** Executions and conversations that could still be undone, and could not without it. */
  readonly undo: readonly string[];
}

/**
 * Why an object stays: decisions rest on it, something that is not over needs it, an undo needs it, no entry names it, its bytes are
 * not what its digest says, or it is too new or too small.
 */
export type Stays = 'rules' | 'in_use' | 'undoable' | 'unnamed' | 'damaged' | 'new_or_small';

export interface LookedAt extends GcObject {
  /** The runs whose undo must be given up first. */
  readonly executions: readonly string[];
  readonly stays: Extract<Stays, 'rules' | 'in_use'> | null;
}

export interface Look {
  /** The entries that it rests on. What came later is not in it. */
  readonly size: number;
  /** The oldest first. */
  readonly objects: readonly LookedAt[];
  /** Objects that no entry names. Some are named by other objects, so none of them is removed. */
  readonly unnamed: readonly HeldObject[];
}

/**
 * All stored objects, and what needs them. The list of objects is read before the entries: whatever names one of them was written with
 * it. Memory grows with the number of objects, not with their bytes.
 */
export async function lookAtObjects(context: Context): Promise<Look> {
  const { store } = context;
  const held = new Map<Digest, number>();
  for await (const batch of store.objects()) for (const { digest, bytes } of batch) held.set(digest, bytes);
  const { size } = await store.tip();
  const named = await namedIn(context, held, size);
  const needOf = needsOf(context);
  const objects: LookedAt[] = [];
  for (const [digest, found] of named) objects.push(await judged(digest, held.get(digest)!, found, needOf));
  objects.sort((a, b) => (a.at === b.at ? (a.digest < b.digest ? -1 : 1) : a.at < b.at ? -1 : 1));
  const unnamed = [...held].filter(([digest]) => !named.has(digest));
  return { size, objects, unnamed: unnamed.map(([digest, bytes]) => ({ digest, bytes })) };
}

interface Named {
  readonly roles: Set<ObjectRole>;
  readonly subjects: Set<string>;
  at: string;
}

async function namedIn(
  { store }: Context,
  held: ReadonlyMap<Digest, number>,
  size: number,
): Promise<Map<Digest, Named>> {
  const named = new Map<Digest, Named>();
  for await (const batch of store.entries())
    for (const { seq, bytes } of batch) {
      if (seq >= size) return named;
      const entry = openEntry(bytes);
      for (const { role, digest } of objectsOf(parseEvent(entry))) {
        if (!held.has(digest)) continue;
        const found = named.get(digest) ?? { roles: new Set(), subjects: new Set(), at: entry.at };
        found.roles.add(role);
        found.subjects.add(entry.subject);
        found.at = entry.at;
        named.set(digest, found);
      }
    }
  return named;
}

async function judged(
  digest: Digest,
  bytes: number,
  { roles, subjects, at }: Named,
  needOf: (subject: string) => Promise<Need>,
): Promise<LookedAt> {
  const needs: Need[] = [];
  for (const subject of subjects) needs.push(await needOf(subject));
  const executions = needs.flatMap(({ execution_id }) => execution_id ?? []);
  const conversations = needs.flatMap(({ correlation_id }) => correlation_id ?? []);
  // A wish stays open, so that its user can be told when it is served.
  const in_use = roles.has('intake') || needs.some((need) => need.in_use);
  const [role] = roles;
  return {
    digest,
    bytes,
    role: role!,
    at,
    subjects: [...subjects],
    undo: [...executions, ...conversations],
    executions,
    stays: [...roles].some(isKept) ? 'rules' : in_use ? 'in_use' : null,
  };
}

/** Each subject is looked up once. */
function needsOf({ store, clock }: Context): (subject: string) => Promise<Need> {
  const known = new Map<string, Need>();
  const now = clock();
  async function find(subject: string): Promise<Need> {
    const intent = await store.find('intent', subject);
    if (intent) return intentNeed(intent, (await store.find('dispatched', subject))?.is_over === false, now);
    if (!subject.startsWith('agent:')) return NOT_NEEDED;
    const conversation = await store.find('agent', correlationOf(subject));
    return conversation ? conversationNeed(conversation) : NOT_NEEDED;
  }
  return async (subject) => {
    const need = known.get(subject) ?? (await find(subject));
    known.set(subject, need);
    return need;
  };
}
