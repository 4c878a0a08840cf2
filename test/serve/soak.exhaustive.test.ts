import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { anotherHost, shared } from '../journey/postgres-host.ts';
import { postgres } from '../store/postgres-place.ts';
import { project } from '../support/project.ts';
import { CONFIG, type Host, type SoakSize, type SoakTold, soakService, writeMarking } from './soak.ts';

const server = postgres();

const is_full = process.env.KEYTURN_SOAK !== undefined;
const SIZE: SoakSize = {
  seconds: is_full ? Number(process.env.KEYTURN_SOAK_SECONDS) : 30,
  kills: is_full ? Number(process.env.KEYTURN_SOAK_SERVICE_KILLS) : 4,
  callers: is_full ? 16 : 4,
};

/** A kill comes once the processes work again, which takes as long as the machine makes it. */
const MOST_MS = is_full ? 3_600_000 : 900_000;

/** Each of them was killed, about as often as the others. */
function requireKilled({ kills, killed }: SoakTold, parts: number): void {
  expect(kills).toBe(SIZE.kills);
  expect(Object.keys(killed)).toHaveLength(parts);
  for (const times of Object.values(killed)) expect(times).toBeGreaterThanOrEqual(Math.floor(kills / parts));
}

describe('a service under load whose processes are killed', () => {
  it(
    'on SQLite: nothing is lost, nothing runs twice, and the ledger verifies',
    async () => {
      const p = await project('version: 1\ntools: []\n', undefined, CONFIG);
      const told = await soakService([{ ...p, executor: 'executor' }], writeMarking(p.root), SIZE);
      console.log(JSON.stringify(told));
      requireKilled(told, 2);
    },
    MOST_MS,
  );

  it(
    'on PostgreSQL, two services and two executors: nothing is lost, nothing runs twice, and the ledger verifies',
    async () => {
      const p = await shared(server(), 'soak-service');
      appendFileSync(join(p.root, 'keyturn.yaml'), 'service: { requests_minute: 1000000 }\n');
      const marks = writeMarking(p.root);
      const other = await anotherHost(p);
      await other.keyturn.system.rotateControlKey({ reason: 'the second service', signer: p.ada });
      const hosts: [Host, Host] = [
        { ...p, executor: 'near' },
        { ...other, executor: 'far' },
      ];
      for (const { keyturn, executor: name } of hosts)
        await keyturn.system.addExecutor({ name, labels: ['executor'], reason: 'a test', signer: p.ada });
      const told = await soakService(hosts, marks, SIZE);
      console.log(JSON.stringify(told));
      requireKilled(told, 4);
      expect(Object.keys(told.ran).sort()).toEqual(['far', 'near']);
    },
    MOST_MS,
  );
});
