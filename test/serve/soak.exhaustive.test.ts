import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { shared } from '../journey/postgres-host.ts';
import { postgres } from '../store/postgres-place.ts';
import { project } from '../support/project.ts';
import { CONFIG, type SoakSize, soakService } from './soak.ts';

const server = postgres();

const is_full = process.env.KEYTURN_SOAK !== undefined;
const SIZE: SoakSize = {
  seconds: is_full ? Number(process.env.KEYTURN_SOAK_SECONDS) : 30,
  kills: is_full ? Number(process.env.KEYTURN_SOAK_SERVICE_KILLS) : 3,
  callers: is_full ? 16 : 4,
};

/** A kill comes once the processes work again, which takes as long as the machine makes it. */
const MOST_MS = is_full ? 3_600_000 : 900_000;

describe('a service under load whose processes are killed', () => {
  it(
    'on SQLite: nothing is lost, nothing runs twice, and the ledger verifies',
    async () => {
      const told = await soakService(await project('version: 1\ntools: []\n', undefined, CONFIG), SIZE);
      console.log(JSON.stringify(told));
      expect(told.kills).toBe(SIZE.kills);
    },
    MOST_MS,
  );

  it(
    'on PostgreSQL: nothing is lost, nothing runs twice, and the ledger verifies',
    async () => {
      const p = await shared(server(), 'soak-service');
      appendFileSync(join(p.root, 'keyturn.yaml'), 'service: { requests_minute: 1000000 }\n');
      const told = await soakService(p, SIZE);
      console.log(JSON.stringify(told));
      expect(told.kills).toBe(SIZE.kills);
    },
    MOST_MS,
  );
});
