import { randomUUID } from 'node:crypto';
import { describe, expect, it, vi } from 'vitest';
import { generateKeyPair } from '../../src/canonical/ed25519.ts';
import type { Event, SignedKind } from '../../src/event/event.ts';
import type { ActFacts, OpenKey } from '../../src/identity/act.ts';
import { keyCredential } from '../../src/identity/credential.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { authority, proposeSay, yes } from '../journey/authority.ts';
import type { Project } from '../support/project.ts';
import { runSeen } from '../support/seen.ts';
import { signedAt } from '../support/signed.ts';

const { read } = vi.hoisted(() => ({ read: { rows: 0 } }));

/** The driver of SQLite as it is; the rows that it returns are counted. */
vi.mock('@photostructure/sqlite', async (original) => {
  const driver = await original<typeof import('@photostructure/sqlite')>();
  type Statement = ReturnType<InstanceType<typeof driver.DatabaseSync>['prepare']>;
  const counted = (statement: Statement): Statement =>
    new Proxy(statement, {
      get(target, name) {
        const found = Reflect.get(target, name) as unknown;
        if (typeof found !== 'function') return found;
        return (...given: unknown[]) => {
          const answer: unknown = found.apply(target, given);
          if (name === 'get') read.rows += 1;
          if (name === 'all') read.rows += (answer as unknown[]).length;
          return answer;
        };
      },
    });
  class DatabaseSync extends driver.DatabaseSync {
    override prepare(...given: Parameters<InstanceType<typeof driver.DatabaseSync>['prepare']>) {
      return counted(super.prepare(...given));
    }
  }
  return { ...driver, DatabaseSync };
});

async function rowsRead(act: () => Promise<void>): Promise<number> {
  const before = read.rows;
  await act();
  return read.rows - before;
}

/** The fewest of three journeys: a run that takes longer is looked at more often. */
async function fewestRead(p: Project): Promise<number> {
  const counts: number[] = [];
  for (let i = 0; i < 3; i++) counts.push(await rowsRead(() => journey(p)));
  return Math.min(...counts);
}

async function journey(p: Project): Promise<void> {
  const intent = await proposeSay(p);
  await p.keyturn.intents.turn({ ...intent, signer: p.ada });
  await runSeen(p.keyturn, { ...intent, confirm: yes });
}

/** Of each kind so many that have nothing to do with the journey. */
async function crowd({ keyturn, ada }: Project, count: number): Promise<void> {
  const { origin } = await keyturn.system.get();
  const path = keyturn.layout.store;
  const now = new Date();
  const store = await openSqliteStore({ path, tenant: 'default', clock: () => now, mode: 'write' });
  const key = generateKeyPair().public_key;
  const enrolled = (public_key: string) => ({
    principal: 'agent',
    credential: keyCredential(public_key),
    own: null,
    roles: [],
  });
  const acts: [SignedKind, string, object][] = [['key.enrolled', 'holder', enrolled(key)]];
  for (let i = 0; i < count; i++) {
    const expires_at = new Date(Date.now() + 60_000_000).toISOString();
    const more = { actions: ['tool:other'], approves: false, delegation: null, reason: 'A test.' };
    const reason = `Test ${i}.`; // two acts of one moment that say the same are one
    const freeze = { scope: 'tool', name: 'other', reason };
    acts.push(
      ['key.enrolled', `p${i}`, enrolled(generateKeyPair().public_key)],
      [
        'delegation.granted',
        randomUUID(),
        { delegate: 'holder', delegate_key: key, expires_at, grant: null, ...more },
      ],
      ['system.frozen', 'system', freeze],
      ['system.unfrozen', 'system', { ...freeze, lifts: { by: 'ada', at: now.toISOString() } }],
      [
        'role.assigned',
        'ada',
        { roles: [`role-${i % 2}`], replaces: i === 0 ? [] : [`role-${(i - 1) % 2}`], reason },
      ],
    );
  }
  const events = acts.map(([kind, subject, facts]) =>
    signedAt(origin, kind, subject, facts as ActFacts<SignedKind>, ada as OpenKey, now),
  );
  await store.commit({ events: events as Event[] });
  await store.close();
}

describe('T4: what a journey does not ask about', () => {
  it('is not read again: people, delegations, entries about the system and about who signs', async () => {
    const p = await authority();
    for (let i = 0; i < 2; i++) await journey(p);
    const before = await fewestRead(p);
    await crowd(p, 40);
    for (let i = 0; i < 30; i++) await proposeSay(p);
    // A process reads once what others appended.
    await journey(p);
    expect(before).toBeGreaterThan(10);
    expect(await fewestRead(p)).toBeLessThanOrEqual(before + 2);
  });
});
