import { rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { sha256 } from '../../src/canonical/digest.ts';
import type { Event } from '../../src/event/event.ts';
import { auditProof, Keyturn } from '../../src/keyturn.ts';
import type { Entry } from '../../src/ledger/entry.ts';
import { picture } from '../plan/engine/story.ts';
import { statedBy } from '../support/executor.ts';
import { entriesAbout } from '../support/ledger.ts';
import type { Intent, Project } from '../support/project.ts';
import { expectRefusal } from '../support/refusal.ts';
import { forgedProof } from './forged-proof.ts';
import { create, expectProvable, planOf, planProjects, ran, run, runnable, undo } from './plan-story.ts';

const planProject = planProjects();
const PLAN = planOf(Array.from({ length: 60 }, (_, i) => create(`${i + 1}`, `f${i}`)));

/** Another process of this host. */
async function another({ root }: Project, act: (keyturn: Keyturn) => Promise<unknown>): Promise<void> {
  const keyturn = await Keyturn.open({ at: root });
  try {
    await act(keyturn);
  } finally {
    await keyturn.close();
  }
}

/** Revokes the only executor as soon as the intent has this status. */
const revokedAt = (p: Project, { intent_id }: Intent, status: string) =>
  another(p, async (keyturn) => {
    while ((await keyturn.intents.get({ intent_id })).status !== status)
      await new Promise((go) => setImmediate(go));
    await revoked({ ...p, keyturn });
  });

async function revoked({ keyturn, ada: signer }: Project): Promise<void> {
  const { public_key } = (await keyturn.system.get()).executors[0]!;
  await keyturn.system.revokeExecutor({ public_key, reason: 'stolen', signer });
}

describe('an executor that was revoked', () => {
  it('while it rolls back leaves that stuck, and says so, until another key takes it up', async () => {
    const p = await planProject();
    const before = picture(p.root);
    const { report, ...intent } = await ran(p, PLAN);
    const [outcome] = await Promise.all([undo(p, report), revokedAt(p, intent, 'rolling_back')]);
    expect(outcome.status).toBe('stuck');
    expect(outcome.instructions).toEqual([expect.stringContaining('The executor was revoked.')]);
    expect((await p.keyturn.intents.get({ intent_id: intent.intent_id })).status).toBe('stuck');
    await expectRefusal('EXECUTOR_REVOKED', () =>
      p.keyturn.plans.previewRollback({ run: report.execution_id }),
    );
    await expectRefusal('EXECUTOR_REVOKED', () => undo(p, report));

    rmSync(p.keyturn.layout.executor_key);
    await p.keyturn.system.addExecutor({ reason: 'A new key.', signer: p.ada });
    await another(p, async (keyturn) =>
      expect((await undo({ ...p, keyturn }, report)).status).toBe('rolled_back'),
    );
    expect(picture(p.root)).toEqual(before);
    await expectProvable(p);
  });

  it('before the checkpoint of its plan states nothing but its end, and changes nothing', async () => {
    const p = await planProject();
    const before = picture(p.root);
    const intent = await runnable(p, PLAN);
    const [report] = await Promise.all([run(p, intent), revokedAt(p, intent, 'claimed')]);
    expect(report).toMatchObject({ result: 'partial', reason_code: 'EXECUTOR_REVOKED' });
    const { seq: last } = (await entriesAbout(p.keyturn, 'system')).find(
      ({ kind }) => kind === 'executor.revoked',
    )!;
    const later = (await entriesAbout(p.keyturn, intent.intent_id)).filter(({ seq }) => seq > last);
    for (const { kind } of later) expect(['violation.detected', 'execution.finished']).toContain(kind);
    expect(picture(p.root)).toEqual(before);
    await expectProvable(p);
  });

  it('is not believed by a proof bundle either, also where the ledger was written again with the stolen keys', async () => {
    const p = await planProject();
    const intent = await runnable(p, PLAN);
    const { intent_id } = intent;
    await Promise.all([run(p, intent), revokedAt(p, intent, 'claimed')]);
    const end = (await entriesAbout(p.keyturn, intent_id)).find(({ kind }) => kind === 'execution.finished')!;
    const { executor_key, executor_signature, ...said } = end.body as Event<'execution.finished'>['body'];
    const forged = async (body: object) =>
      forgedProof(p.keyturn, intent_id, (entry) =>
        entry.seq === end.seq ? { ...entry, body: body as Entry['body'] } : entry,
      );
    const same = await forged(end.body);
    auditProof(same.bytes, same);
    const unsigned = await forged({ ...end.body, result: 'success' });
    await expectRefusal('SIGNATURE_INVALID', () => auditProof(unsigned.bytes, unsigned));
    for (const lie of [{ result: 'success' }, { reports: { journal: sha256('untouched') } }]) {
      const body = { ...said, ...lie };
      const { body: signed } = await statedBy(p.keyturn, { kind: end.kind, subject: intent_id, body });
      const proof = await forged(signed);
      await expectRefusal('EXECUTOR_REVOKED', () => auditProof(proof.bytes, proof));
    }
  });
});
