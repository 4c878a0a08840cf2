import { randomUUID } from 'node:crypto';
import { generateKeyPair } from '../src/canonical/ed25519.ts';
import type { Event, SignedKind } from '../src/event/event.ts';
import type { ActFacts, OpenKey } from '../src/identity/act.ts';
import { keyCredential } from '../src/identity/credential.ts';
import type { Store } from '../src/store/store.ts';
import { signedAt } from '../test/support/signed.ts';
import { commitTogether, openStore } from './facts.ts';
import { runGoverned } from './governed.ts';
import { createProject, type Project, turnedIntent } from './project.ts';
import { timed, usual } from './timing.ts';

/** What a journey does not ask about: how much of it is there. */
export interface Crowd {
  readonly intents: number;
  readonly principals: number;
  readonly delegations: number;
  /** About `system`, and about each of those who sign or propose. */
  readonly entries: number;
}

export interface GrowthTimes {
  readonly small_ms: number;
  readonly big_ms: number;
  /** Entries that the big ledger began with. */
  readonly entries: number;
  /** The first journey of a process that opened the big project. */
  readonly first_ms: number;
}

interface Growth {
  readonly root: string;
  readonly rounds: number;
  readonly small: Crowd;
  readonly big: Crowd;
}

const WARM_UP = 10;

/** The same journey in two projects in turn: proposed, turned, run and recorded. */
export async function measureGrowth({ root, rounds, small, big }: Growth): Promise<GrowthTimes> {
  const few = await crowded(`${root}-small`, small);
  const many = await crowded(`${root}-big`, big);
  const { size: entries } = await many.keyturn.ledger.head();
  const first_ms = await timed(() => journey(many));
  const times: { small: number; big: number }[] = [];
  for (let i = 0; i < rounds + WARM_UP; i++) {
    const time = { small: await timed(() => journey(few)), big: await timed(() => journey(many)) };
    if (i >= WARM_UP) times.push(time);
  }
  for (const { keyturn } of [few, many]) await keyturn.close();
  return {
    small_ms: usual(times.map((time) => time.small)),
    big_ms: usual(times.map((time) => time.big)),
    entries,
    first_ms,
  };
}

async function journey(project: Project): Promise<void> {
  await runGoverned(project.keyturn, await turnedIntent(project));
}

/** A project, and beside what it is asked about a crowd that has nothing to do with it. */
async function crowded(root: string, crowd: Crowd): Promise<Project> {
  const project = await createProject(root);
  const { origin } = await project.keyturn.system.get();
  const store = await openStore(project.keyturn.layout.store, 'write');
  const commit = committer(store, origin, project.ada as OpenKey);
  await commit(Array.from({ length: crowd.principals }, (_, i) => enrolled(`p${i}`)));
  const holder = generateKeyPair().public_key;
  await commit([enrolled('holder', holder)]);
  await commit(Array.from({ length: crowd.delegations }, () => delegated('holder', holder)));
  const host = generateKeyPair().public_key;
  await commit(Array.from({ length: crowd.entries }, (_, i) => labelled(host, i)));
  for (const name of ['ada', 'planner'])
    await commit(Array.from({ length: crowd.entries }, (_, i) => assigned(name, i)));
  await commitTogether(store, crowd.intents, 'p0');
  await store.close();
  return project;
}

type Act = { [K in SignedKind]: readonly [kind: K, subject: string, facts: ActFacts<K>] }[SignedKind];

const enrolled = (name: string, public_key = generateKeyPair().public_key): Act => [
  'key.enrolled',
  name,
  { principal: 'agent', credential: keyCredential(public_key), own: null, roles: [] },
];

function delegated(delegate: string, delegate_key: string): Act {
  const expires_at = new Date(Date.now() + 86_400_000).toISOString();
  const more = {
    actions: ['tool:other'],
    approves: false,
    grant: null,
    delegation: null,
    reason: 'A bench.',
  };
  return ['delegation.granted', randomUUID(), { delegate, delegate_key, expires_at, ...more }];
}

/** A host that runs nothing, with another label each time. */
const labelled = (public_key: string, i: number): Act => {
  const replaces = i === 0 ? null : { name: 'other', labels: [`label-${(i - 1) % 2}`] };
  return [
    'executor.added',
    'system',
    { public_key, name: 'other', labels: [`label-${i % 2}`], replaces, reason: `A bench, ${i}.` },
  ];
};

const assigned = (name: string, i: number): Act => [
  'role.assigned',
  name,
  { roles: [`role-${i % 2}`], replaces: i === 0 ? [] : [`role-${(i - 1) % 2}`], reason: `A bench, ${i}.` },
];

/** Many in one commit: what is measured comes later. */
function committer(store: Store, origin: string, ada: OpenKey) {
  return async (acts: readonly Act[]): Promise<void> => {
    const events = acts.map(([kind, subject, facts]) =>
      signedAt(origin, kind, subject, facts, ada, new Date()),
    );
    for (let i = 0; i < events.length; i += 100)
      await store.commit({ events: events.slice(i, i + 100) as Event[] });
  };
}
