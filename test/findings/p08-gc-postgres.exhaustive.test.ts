import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { create, planOf, proposed, ran, remove, undo } from '../journey/plan-story.ts';
import { anotherHost, shared } from '../journey/postgres-host.ts';
import { postgres } from '../store/postgres-place.ts';
import { entriesAbout, objectOf } from '../support/ledger.ts';
import type { Project } from '../support/project.ts';
import { expectRefusal } from '../support/refusal.ts';

const server = postgres();
const BIG = 'x'.repeat(5_000);
const EVEN_UNDOABLE = { keep_bytes: 0, undoable_too: true };

const asked = async (p: Project) => {
  const { removes, objects } = await p.keyturn.system.previewGc(EVEN_UNDOABLE);
  return { runs: removes, objects: objects.removes, reason: 'full', signer: p.ada };
};

describe('P8: gc of a ledger on a server', () => {
  it('removes backups and objects, and every host says by whom', async () => {
    const p = await shared(server(), 'gc');
    const host = await anotherHost(p);
    writeFileSync(join(p.root, 'a'), 'one');
    const { report, intent_id } = await ran(p, planOf([create('1', 'n', BIG), remove('2', 'a')]));
    const { effect_digest } = await p.keyturn.intents.get({ intent_id });
    expect(await p.keyturn.system.previewGc({ keep_bytes: 0 })).toMatchObject({
      removes: [],
      objects: { removes: [] },
    });
    const { runs, objects } = await p.keyturn.system.gc(await asked(p));
    expect(runs).toMatchObject([{ expired: true, removed: true }]);
    expect(objects).toMatchObject({ kept: [], code: null });
    expect(objects.objects).toBeGreaterThan(0);
    const { message } = await expectRefusal('OBJECT_MISSING', () => objectOf(host.keyturn, effect_digest));
    expect(message).toMatch(/^It was removed by gc on \S+ by ada\.$/);
    await expectRefusal('BACKUPS_EXPIRED', () => undo(p, report));
    await host.keyturn.ledger.verifyStore({ deep: true });
    expect(await host.keyturn.ledger.rebuild({ write: false })).toMatchObject({ differences: [] });
  });

  it('of two hosts at once, while a third proposes, removes each object once and loses none that is needed', async () => {
    const registry = `${readFileSync(join((await shared(server(), 'gc-model')).root, 'tools.yaml'), 'utf8')}# ${'long '.repeat(400)}\n`;
    const p = await shared(server(), 'gc-race', registry);
    const [two, three] = [await anotherHost(p), await anotherHost(p)];
    for (const file of ['a', 'b', 'c']) {
      const { report } = await ran(p, planOf([create('1', file, BIG)]));
      await undo(p, report);
    }
    const request = await asked(p);
    expect(request.objects.length).toBeGreaterThan(5);
    const [first, second] = await Promise.all([
      p.keyturn.system.gc(request),
      two.keyturn.system.gc(request),
      ...['d', 'e', 'f'].map((file) => proposed(three, planOf([create('1', file, BIG)]))),
    ]);
    expect(first.objects.objects + second.objects.objects).toBeLessThanOrEqual(request.objects.length);
    for (const { digest } of request.objects)
      expect((await entriesAbout(p.keyturn, digest)).length, 'removed at most once').toBeLessThan(2);
    for (const intent of (await p.keyturn.intents.list({ status_word: 'waiting', limit: 10 })).intents) {
      const { registry_digest, effect_digest } = intent;
      for (const digest of [registry_digest, effect_digest]) await objectOf(p.keyturn, digest);
    }
    await p.keyturn.ledger.verifyStore({ deep: true });
  });

  it('of backups on another host leaves them to it', async () => {
    const p = await shared(server(), 'gc-host');
    const host = await anotherHost(p);
    writeFileSync(join(p.root, 'a'), 'one');
    const { report } = await ran(p, planOf([create('1', 'n', BIG), remove('2', 'a')]));
    const there = await host.keyturn.system.previewGc(EVEN_UNDOABLE);
    expect(there.removes).toEqual([]);
    expect(there.objects.removes.flatMap(({ undo: lost }) => lost)).toContain(report.execution_id);
    await host.keyturn.system.gc(await asked(host));
    await expectRefusal('BACKUPS_EXPIRED', () => undo(p, report));
    const here = await p.keyturn.system.previewGc({ older_than_s: 3600 });
    expect(here.removes, 'given up there, removed here').toMatchObject([{ begun: true }]);
    expect((await p.keyturn.system.gc(await asked(p))).runs).toMatchObject([{ removed: true }]);
  });
});
