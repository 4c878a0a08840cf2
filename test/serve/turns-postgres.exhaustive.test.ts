import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it, onTestFinished } from 'vitest';
import { Keyturn } from '../../src/keyturn.ts';
import { proposeSay } from '../journey/authority.ts';
import { shared } from '../journey/postgres-host.ts';
import { postgres } from '../store/postgres-place.ts';
import { shownAs } from './service.ts';
import { type Ask, expectShort, turnsOfEach } from './turns.ts';

const server = postgres();
const PROPOSALS = 3_000;
const TOGETHER = 32;

/** Each is signed: what takes longest of an entry is its signature. */
const ASKED: Readonly<Record<string, readonly object[]>> = {
  'ledger/verify': [{}, { deep: true }],
  'ledger/verifyStore': [{}, { deep: true }],
  'ledger/export': [{ with_objects: true }],
  'system/previewGc': [{ older_than_s: 0 }],
  'system/status': [{}],
  'policies/diff': [{ recent: 10_000 }],
};

it('no long read holds up a service that has a long ledger on PostgreSQL', async () => {
  const p = await shared(server(), 'turns');
  const yaml = join(p.root, 'keyturn.yaml');
  await p.keyturn.close();
  writeFileSync(
    yaml,
    readFileSync(yaml, 'utf8').replace(/^proposals:.*$/m, 'proposals: { pending: 10000, minute: 100000 }'),
  );
  const opened = { ...p, keyturn: await Keyturn.open({ at: p.root }) };
  onTestFinished(() => opened.keyturn.close());
  let left = PROPOSALS;
  const one = async () => {
    while (left-- > 0) await proposeSay(opened);
  };
  await Promise.all(Array.from({ length: TOGETHER }, one));
  const took = await turnsOfEach(opened, (s, cookie) => {
    const headers = () => ({ ...shownAs(cookie), origin: s.address });
    return Object.entries(ASKED).flatMap(([verb, requests]) =>
      requests.map(
        (request): Ask => ({
          what: `${verb} ${JSON.stringify(request)}`,
          path: `/v1/${verb}`,
          request,
          headers,
        }),
      ),
    );
  });
  await expectShort(opened, took);
}, 1_800_000);
