import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { cpus, loadavg, release } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { migrateStore } from '../../src/keyturn.ts';
import { type Server, startServer } from '../../test/support/postgres-server.ts';
import { type Row, tableOf } from '../table.ts';
import { median } from '../timing.ts';
import { bundled, ROOT, STARTER } from '../workshop.ts';
import type { Lap } from './contestant.ts';
import { killedBetween } from './killed.ts';
import { HERE, missing, PEERS, type Peer, programOf, versions } from './peer.ts';
import { type Running, started } from './process.ts';

/**
 * `npm run bench:peers`: a human-approved effect that starts one child process, kept by Keyturn and by each peer, in
 * alternating rounds of one run. Then each is killed between the effect and its record. A bench informs: it ends with 0
 * whatever it finds.
 */
const CALLERS = 32;
const JOURNEYS = 128;
const ROUNDS = 7;
/** Until most of the code of both sides is compiled: what stands before agents runs for days. */
const WARM_UP_ROUNDS = 16;
const NOTHING = ['/bin/true'] as const;

/** Both sides of a comparison, and where each keeps its records. */
interface Pair {
  readonly peer: Peer;
  readonly programs: Sides<string>;
  place(side: Side, what: string): Promise<{ root: string; url: string | null }>;
}

type Side = 'keyturn' | 'peer';
type Sides<T> = Readonly<Record<Side, T>>;

async function pairOf(peer: Peer, folder: string, keyturn: string, server: Server): Promise<Pair> {
  return {
    peer,
    programs: { keyturn, peer: await programOf(peer, join(HERE, 'node_modules', '.bench')) },
    place: async (side, what) => {
      const name = `${peer.name.toLowerCase()}_${side}_${what}`;
      const root = join(folder, name);
      if (peer.store === 'SQLite') return { root, url: null };
      const client = new Client({ connectionString: server.url() });
      await client.connect();
      await client.query(`CREATE DATABASE ${name}`);
      await client.end();
      const url = server.url({ database: name });
      if (side === 'keyturn') await migrateStore({ url });
      return { root, url };
    },
  };
}

async function speedRow(pair: Pair): Promise<Row> {
  const { peer, programs } = pair;
  const start = async (side: Side) =>
    started(programs[side], { ...(await pair.place(side, 'speed')), command: NOTHING });
  const running: Sides<Running> = { keyturn: await start('keyturn'), peer: await start('peer') };
  const laps: Sides<Lap>[] = [];
  for (let round = 0; round < WARM_UP_ROUNDS + ROUNDS; round++) {
    const both = await lapOfBoth(running, round);
    if (round >= WARM_UP_ROUNDS) laps.push(both);
  }
  for (const one of Object.values(running)) await one.close();
  const ratio = median(laps.map((both) => both.peer.ms / both.keyturn.ms));
  const cpu_ms = (side: Side) => median(laps.map((both) => both[side].cpu_ms / JOURNEYS)).toFixed(1);
  const rate = (side: Side) => (1000 * JOURNEYS) / median(laps.map((both) => both[side].ms));
  const failures = laps.reduce((sum, both) => sum + both.keyturn.failures + both.peer.failures, 0);
  return {
    figure: `journeys, ${CALLERS} callers, ${peer.store}, beside ${peer.name}`,
    measured: `${ratio.toFixed(2)} of its rate, ${failures} failed`,
    asked: `>= ${peer.asked.toFixed(1)}, 0 failed`,
    verdict: ratio >= peer.asked && failures === 0 ? 'ok' : 'MISSED',
    baseline: `${rate('keyturn').toFixed(0)} against ${rate('peer').toFixed(0)} a second, CPU ${cpu_ms('keyturn')} ms against ${cpu_ms('peer')} ms each; ${ROUNDS} rounds of ${JOURNEYS}, ratios from ${spread(laps)}`,
  };
}

/** One after the other, and the other way round in the next round. */
async function lapOfBoth(running: Sides<Running>, round: number): Promise<Sides<Lap>> {
  const lap = (side: Side) =>
    running[side].ask({ act: 'journeys', prefix: `round-${round}`, journeys: JOURNEYS, callers: CALLERS });
  if (round % 2 === 0) return { keyturn: await lap('keyturn'), peer: await lap('peer') };
  const peer = await lap('peer');
  return { peer, keyturn: await lap('keyturn') };
}

function spread(laps: readonly Sides<Lap>[]): string {
  const ratios = laps.map((both) => both.peer.ms / both.keyturn.ms);
  return `${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}`;
}

async function killRow(pair: Pair): Promise<Row> {
  const { peer, programs } = pair;
  const ended = async (side: Side) => killedBetween(programs[side], await pair.place(side, 'kill'));
  const both = { keyturn: await ended('keyturn'), peer: await ended('peer') };
  return {
    figure: `effects after kill -9 before the record, ${peer.store}, beside ${peer.name}`,
    measured: `${both.keyturn.effects} against ${both.peer.effects}`,
    asked: '1 against 2',
    verdict: both.keyturn.effects === 1 && both.peer.effects === 2 ? 'ok' : 'MISSED',
    baseline: `Keyturn: ${both.keyturn.said}; ${peer.name}: ${both.peer.said}`,
  };
}

async function rowsOf(pair: Pair): Promise<Row[]> {
  const from = Date.now();
  const rows: Row[] = [];
  for (const measure of [speedRow, killRow]) {
    try {
      rows.push(await measure(pair));
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      rows.push({
        figure: pair.peer.name,
        measured: 'failed',
        asked: '',
        verdict: 'MISSED',
        baseline: problem,
      });
    }
  }
  console.error(`${pair.peer.name}: measured in ${((Date.now() - from) / 1000).toFixed(0)} s`);
  return rows;
}

const [load = 0] = loadavg();
const absent = PEERS.filter((peer) => missing(peer).length > 0);
const present = PEERS.filter((peer) => !absent.includes(peer));
const folder = mkdtempSync(join(ROOT, 'node_modules', '.bench-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
// The server is not root, and must get through to its data.
chmodSync(folder, 0o711);
mkdirSync(join(folder, 'server'), { mode: 0o711 });
const keyturn = await bundled(join(HERE, 'keyturn.ts'), join(folder, 'keyturn.mjs'));
await bundled(STARTER, join(folder, 'starter-process.js'));
const server = await startServer({ max_wal_size: '4GB' }, join(folder, 'server'));
const rows: Row[] = [];
for (const peer of present) rows.push(...(await rowsOf(await pairOf(peer, folder, keyturn, server))));
await server.remove();

console.log(`
on: Node ${process.version}, Linux ${release()}, ${cpus().length} cores, load average ${load.toFixed(1)} at the start
${present.map((peer) => `${peer.name}: ${versions(peer)}`).join('\n')}
${absent.map((peer) => `LEFT OUT: ${peer.name}, because ${missing(peer).join(' and ')} could not be installed here.\n`).join('')}
${tableOf(rows)}

A journey is one child process (/bin/true) that a human approved, recorded before and after it. Ratios are medians of the ratios of each
round. CPU is that of the process and of all that it started, without the PostgreSQL server.`);
