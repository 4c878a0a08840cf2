import { expect, it, onTestFinished } from 'vitest';
import { preview } from '../../src/journey/run.ts';
import { readConfig } from '../../src/project/config.ts';
import { journeyContext } from '../../src/project/context.ts';
import { requireProject } from '../../src/project/layout.ts';
import { openLedger } from '../../src/project/open.ts';
import { SILENT } from '../../src/telemetry.ts';
import { steady } from '../support/project.ts';
import { authority, proposeSay } from './authority.ts';

it('a look before a run asks once where the ledger ends, and holds the kept head and the clock against that', async () => {
  const p = await authority();
  const intent = await proposeSay(p);
  await p.keyturn.intents.turn({ ...intent, signer: p.ada });

  const layout = requireProject(p.root);
  const config = readConfig(layout);
  const clock = () => new Date();
  const ledger = await openLedger(layout, config, { ...steady(clock), mode: 'read' });
  onTestFinished(() => ledger.store.close());
  const ends: number[] = [];
  const kept: number[] = [];
  const store = {
    ...ledger.store,
    tip: async () => {
      const tip = await ledger.store.tip();
      ends.push(tip.size);
      return tip;
    },
  };
  const requireKeptHead: typeof ledger.requireKeptHead = async (end) => {
    kept.push(end.size);
    await ledger.requireKeptHead(end);
  };
  const opened = { ...ledger, store, requireKeptHead };
  const context = journeyContext(layout, config, opened, clock, SILENT, null);
  await preview(context, intent);
  expect(ends).toHaveLength(1);
  expect(kept).toEqual(ends);
});
