import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { authority, call, granted, yes } from '../journey/authority.ts';
import { create, planOf, planProjects, ran, undo } from '../journey/plan-story.ts';
import { entriesAbout, objectOf } from '../support/ledger.ts';
import type { Project } from '../support/project.ts';
import { expectRefusal } from '../support/refusal.ts';
import { runSeen } from '../support/seen.ts';

const plans = planProjects();

interface Finished {
  readonly stdout: { readonly digest: string | null };
  readonly stderr: { readonly digest: string | null };
}

async function finished({ keyturn }: Project, intent_id: string): Promise<Finished> {
  const story = await entriesAbout(keyturn, intent_id);
  return story.find(({ kind }) => kind === 'execution.finished')!.body as never;
}

/** Two runs that printed the same to standard output, and nothing to standard error. */
async function twins(p: Project) {
  const runs = [];
  for (const _ of [1, 2]) {
    const intent = await granted(p);
    const { execution_id } = await runSeen(p.keyturn, { ...intent, confirm: yes });
    runs.push({ ...intent, execution_id, finished: await finished(p, intent.intent_id) });
  }
  return runs as [(typeof runs)[0], (typeof runs)[0]];
}

const erase = ({ keyturn, ada }: Project, digest: string, confirmed: object = {}) =>
  keyturn.ledger.erase({ digest, reason: 'a secret', signer: ada, ...confirmed });

describe('S18: erasing takes away what was named and nothing else', () => {
  it('replays a run whose output was erased', async () => {
    const p = await authority();
    const [run] = await twins(p);
    await erase(p, run.finished.stdout.digest!);
    expect((await p.keyturn.runs.replay({ execution_id: run.execution_id })).steps.at(-1)).toMatchObject({
      what: 'outcome',
    });
  });

  it('leaves the output of one run when another run printed the same', async () => {
    const p = await authority();
    const [one, other] = await twins(p);
    await erase(p, one.finished.stdout.digest!);
    expect(await objectOf(p.keyturn, other.finished.stdout.digest!)).toBeInstanceOf(Uint8Array);
  });

  it('has no object for an output of nothing', async () => {
    const p = await authority();
    const [one] = await twins(p);
    expect(one.finished.stderr.digest).toBeNull();
  });

  it('does not take away an undo without a word', async () => {
    const p = await plans();
    const { hash, report } = await ran(p, planOf([create('a', 'a.txt')]));
    const refusal = await expectRefusal('ERASE_UNCONFIRMED', () => erase(p, hash));
    expect(refusal.facts).toMatchObject({ undo: report.execution_id });
    await undo(p, report);
  });

  it('a rollback says which object it misses, and who erased it', async () => {
    const p = await plans();
    const { hash, report } = await ran(p, planOf([create('a', 'a.txt')]));
    await erase(p, hash, { undo: [report.execution_id] });
    const { message } = await expectRefusal('OBJECT_MISSING', () =>
      p.keyturn.plans.previewRollback({ run: report.execution_id }),
    );
    expect(message).toMatch(/^The plan that was approved is no longer stored\. It was erased by ada on /);
  });

  it('never erases the policies that decisions rest on', async () => {
    const p = await authority();
    const { policy } = await p.keyturn.system.get();
    await expectRefusal('OBJECT_KEPT', () => erase(p, policy!));
    await granted(p);
  });

  it('does not erase what several intents rest on unless all of them were confirmed', async () => {
    const p = await authority();
    const [one] = await twins(p);
    const { registry_digest } = await p.keyturn.intents.get({ intent_id: one.intent_id });
    const refusal = await expectRefusal('ERASE_UNCONFIRMED', () => erase(p, registry_digest));
    expect(refusal.facts).toMatchObject({ holders: 2 });
  });

  it('keeps erased what a later commit brings again', async () => {
    const p = await authority();
    const first = await granted(p, { nonce: 'AAAAAAAAAAAAAAAAAAAAAA==' });
    const { registry_digest } = await p.keyturn.intents.get({ intent_id: first.intent_id });
    await erase(p, registry_digest);
    const again = await granted(p, { intent_id: randomUUID(), ...call('say', { word: 'again' }) });
    expect((await p.keyturn.intents.get({ intent_id: again.intent_id })).registry_digest).toBe(
      registry_digest,
    );
    await expectRefusal('OBJECT_MISSING', () => objectOf(p.keyturn, registry_digest));
  });
});
