import { randomUUID } from 'node:crypto';
import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Event } from '../src/event/event.ts';
import { openSqliteStore } from '../src/store/sqlite/store.ts';
import type { Commit, Store } from '../src/store/store.ts';

/** Figures of the SQLite store, each beside the raw disk in the same round, because a disk has moods. */

const ROUNDS = 7;
const EACH = 400;
const folder = mkdtempSync(join(tmpdir(), 'keyturn-bench-'));
const clock = () => new Date();
const digest = 'ab'.repeat(32);

function proposal(): Commit {
  const subject = randomUUID();
  const event: Event<'intent.proposed'> = {
    kind: 'intent.proposed',
    subject,
    body: {
      hash: digest,
      effect_digest: digest,
      registry_digest: digest,
      tool: 'deploy',
      proposer: 'planner',
      proposer_kind: 'agent',
      expires_at: '2030-01-15T12:00:00.000Z',
    },
  };
  return { claims: [`intent:${subject}`], events: [event] };
}

async function microseconds(count: number, act: () => unknown): Promise<number> {
  const from = process.hrtime.bigint();
  await act();
  return Number(process.hrtime.bigint() - from) / 1000 / count;
}

const median = (values: number[]) => values.toSorted((a, b) => a - b)[values.length >> 1]!;

async function commitRates(store: Store, bytes: Uint8Array) {
  const raw: number[] = [];
  const lone: number[] = [];
  const grouped: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const fd = openSync(join(folder, `raw-${round}`), 'a');
    raw.push(
      await microseconds(EACH, () => {
        for (let i = 0; i < EACH; i++) {
          writeSync(fd, bytes);
          fdatasyncSync(fd);
        }
      }),
    );
    closeSync(fd);
    lone.push(
      await microseconds(EACH, async () => {
        for (let i = 0; i < EACH; i++) await store.commit(proposal());
      }),
    );
    grouped.push(
      await microseconds(64 * 20, async () => {
        for (let i = 0; i < 20; i++)
          await Promise.all(Array.from({ length: 64 }, () => store.commit(proposal())));
      }),
    );
  }
  return { raw: median(raw), lone: median(lone), grouped: median(grouped) };
}

async function grow(store: Store, size: number): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 0; n < size; n += 500) {
    const commits = Array.from({ length: 500 }, proposal);
    for (let i = 0; i < 500; i += 100) ids.push(commits[i]!.events[0]!.subject);
    await Promise.all(commits.map((commit) => store.commit(commit)));
  }
  return ids;
}

async function reads(store: Store, ids: string[]) {
  const read = async () => {
    for (let i = 0; i < 20_000; i++) {
      await store.intent(ids[i % ids.length]!);
      await store.tip();
    }
  };
  await read();
  return microseconds(20_000, read);
}

async function scan(store: Store) {
  const { size } = await store.tip();
  return microseconds(size, async () => {
    for await (const batch of store.entries()) if (batch.length === 0) throw new Error('empty');
  });
}

async function figures(size: number): Promise<void> {
  const path = join(folder, `store-${size}.db`);
  const store = await openSqliteStore({ path, tenant: 'bench', clock, mode: 'create' });
  const ids = await grow(store, size);
  const one = await reads(store, ids.slice(0, 1));
  const many = await reads(store, ids);
  const scanned = await scan(store);
  const { entries } = await store.commit(proposal());
  const { raw, lone, grouped } = await commitRates(store, entries[0]!.bytes);
  console.log(
    `${size} entries: raw ${raw.toFixed(1)} us, one commit ${lone.toFixed(1)} us (${(raw / lone).toFixed(2)} of its rate),`,
    `64 at once ${grouped.toFixed(1)} us each (${(lone / grouped).toFixed(1)}x),`,
    `intent + tip ${one.toFixed(2)} us, ${many.toFixed(2)} us over ${ids.length} ids,`,
    `scan ${scanned.toFixed(2)} us an entry`,
  );
  const took = await microseconds(1e6, () => store.rebuild({ write: false }));
  console.log(`  rebuild ${took.toFixed(1)} s`);
  await store.close();
}

for (const size of process.argv.slice(2).map(Number)) await figures(size);
rmSync(folder, { recursive: true });
