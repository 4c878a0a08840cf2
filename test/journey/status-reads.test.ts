import { randomUUID } from 'node:crypto';
import { expect, it, onTestFinished } from 'vitest';
import { nextNeeded } from '../../src/journey/list.ts';
import { statusOf } from '../../src/journey/status.ts';
import { readConfig } from '../../src/project/config.ts';
import { journeyContext } from '../../src/project/context.ts';
import { requireProject } from '../../src/project/layout.ts';
import { openLedger } from '../../src/project/open.ts';
import type { Store } from '../../src/store/store.ts';
import { SILENT } from '../../src/telemetry.ts';
import { steady } from '../support/project.ts';
import { expectRefusal } from '../support/refusal.ts';
import { authority, proposeSay } from './authority.ts';

const DAY_MS = 24 * 3_600_000;
const EXPIRED = 40;

it('the status and the next of a project read no intent that expired before today', async () => {
  let now = new Date();
  const p = await authority(() => now);
  const expiry = new Date(now.getTime() + 3_600_000).toISOString();
  for (let i = 0; i < EXPIRED; i++) {
    const intent = await proposeSay(p, { expiry });
    if (i % 2 === 0) await p.keyturn.intents.approve({ ...intent, signer: p.ada });
  }
  const lives = await proposeSay(p, { expiry: new Date(now.getTime() + 20 * DAY_MS).toISOString() });
  now = new Date(now.getTime() + 2 * DAY_MS);

  const layout = requireProject(p.root);
  const config = readConfig(layout);
  const ledger = await openLedger(layout, config, { ...steady(() => now), mode: 'read' });
  onTestFinished(() => ledger.store.close());
  const read: string[] = [];
  const page: Store['page'] = async (name, asked) => {
    const rows = await ledger.store.page(name, asked);
    read.push(...rows.map(({ state }) => (state as { intent_id: string }).intent_id));
    return rows;
  };
  const store = { ...ledger.store, page };
  const context = journeyContext(layout, config, { ...ledger, store }, () => now, SILENT, null);

  const { waiting, approval_expired, approved, ungranted } = await statusOf(context, {});
  expect(waiting.map(({ intent_id }) => intent_id)).toEqual([lives.intent_id]);
  expect([approval_expired, approved, ungranted]).toEqual([[], [], []]);
  // Once for what waits, once for what is approved.
  expect(read).toEqual([lives.intent_id, lives.intent_id]);
  read.length = 0;
  expect(await nextNeeded(context, { needs: 'ada' })).toEqual({ intent_id: lives.intent_id, more: 0 });
  expect(read).toEqual([lives.intent_id]);
});

it('the next after one that was decided meanwhile is the one that was proposed after it', async () => {
  const p = await authority();
  const [first, second, third] = [await proposeSay(p), await proposeSay(p), await proposeSay(p)];
  await p.keyturn.intents.reject({ ...second, reason: 'No.', signer: p.ada });
  const next = (after?: string) => p.keyturn.intents.next({ needs: 'ada', ...(after && { after }) });
  expect(await next()).toEqual({ intent_id: first.intent_id, more: 1 });
  expect(await next(second.intent_id)).toEqual({ intent_id: third.intent_id, more: 0 });
  expect(await next(third.intent_id)).toEqual({ intent_id: null, more: 0 });
});

it('the next after one whose id an earlier refusal names is the one that was proposed after it', async () => {
  const p = await authority();
  const [early, intent_id] = [await proposeSay(p), randomUUID()];
  await expectRefusal('INTENT_NOT_FOUND', () =>
    p.keyturn.intents.grant({ intent_id, hash: early.hash, signer: p.ada }),
  );
  const next = (after: string) => p.keyturn.intents.next({ needs: 'ada', after });
  expect(await next(intent_id)).toEqual({ intent_id: null, more: 0 });
  await proposeSay(p, { intent_id });
  expect(await next(early.intent_id)).toEqual({ intent_id, more: 0 });
  expect(await next(intent_id)).toEqual({ intent_id: null, more: 0 });
});
