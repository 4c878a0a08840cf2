import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { AwaitsApprover } from '../../src/agent/answer-shape.ts';
import type { Signer } from '../../src/identity/act.ts';
import { freshSigner } from '../support/keys.ts';
import { entriesAbout } from '../support/ledger.ts';
import { agentPlace, askedFor, elsewhere, yes } from './agent-place.ts';

/** Policies that grant no capability before a quorum approved: the agent core waits for it, and orders nothing that they deny. */

const place = agentPlace();
const [bo, cy, dee] = [freshSigner('bo'), freshSigner('cy'), freshSigner('dee')];

async function activate(text: string): Promise<void> {
  const { keyturn, root, ada } = place();
  for (const [name, content] of [
    ['own.cedar', text],
    ['quorums.yaml', 'two: { any: 2, role: ops }\n'],
    ['tests.yaml', '[]\n'],
  ] as const) {
    const path = join(root, 'policies', name);
    if (existsSync(path)) chmodSync(path, 0o644);
    writeFileSync(path, content);
  }
  await keyturn.policies.activate({ reason: 'A test.', signer: ada });
}

const forbid = (unless: string) =>
  `@id("two") @version("1") @scope("capability") @rationale("Two look at it.")
forbid (principal, action == Keyturn::Action::"grant", resource) unless { ${unless} };
`;

beforeAll(async () => {
  const { keyturn, ada } = place();
  for (const { name, public_key } of [bo, cy, dee]) {
    const roles = name === 'dee' ? [] : ['ops'];
    await keyturn.people.enrol({ name, principal: 'human', public_key, roles, signer: ada });
  }
});

const approve = ({ intent_id, hash }: AwaitsApprover, signer: Signer) =>
  elsewhere(place().root, (other) => other.intents.approve({ intent_id, hash, signer }));

async function awaited(utterance: string): Promise<AwaitsApprover> {
  const { keyturn } = place();
  const answer = await yes(keyturn, await askedFor(keyturn, utterance));
  if (answer.kind !== 'AWAITS_APPROVER') throw new Error(`expected to wait, got ${JSON.stringify(answer)}`);
  return answer;
}

describe('a step whose capability needs a quorum', () => {
  it('waits until the quorum approved, says whom it waits for, and then runs', async () => {
    await activate(forbid('context.quorums.contains("two")'));
    const { keyturn, written } = place();
    const { conversations, intents } = keyturn;
    const waiting = await awaited('append a notebook line "quorum one"');
    const { correlation_id, intent_id } = waiting;
    expect(waiting).toMatchObject({
      ...{ reason_code: 'ACCESS_AP_REQUIRED', missing: 2, reviewers: ['bo', 'cy'] },
    });
    const act = { act: 'approve', intent_id };
    expect(await conversations.status({ correlation_id })).toMatchObject({ status: 'PAUSED', next: act });
    expect(await intents.get({ intent_id })).toMatchObject({ missing: 2, capabilities: [] });

    await approve(waiting, bo);
    const size = (await entriesAbout(keyturn, intent_id)).length;
    const again = await conversations.resume({ correlation_id });
    expect(again).toMatchObject({ kind: 'AWAITS_APPROVER', missing: 1, reviewers: ['cy'] });
    expect(again.user_visible_text).toContain('cy');
    expect(await conversations.status({ correlation_id })).toMatchObject({ next: act });
    expect(await entriesAbout(keyturn, intent_id)).toHaveLength(size);
    expect(written()).not.toContain('+ quorum one');

    await approve(waiting, cy);
    expect(await conversations.status({ correlation_id })).toMatchObject({ next: { act: 'resume' } });
    expect(await conversations.resume({ correlation_id })).toMatchObject({
      kind: 'OUTCOME',
      plan_state: 'COMPLETED',
    });
    expect(written()).toContain('+ quorum one');
    const { decisions } = await conversations.replay({ correlation_id });
    expect(decisions.map(({ reason_code }) => reason_code)).toEqual([
      'ACCESS_AP_REQUIRED',
      'STEP_DISPATCHED',
    ]);
    const { runs } = await intents.get({ intent_id });
    await keyturn.runs.replay({ execution_id: runs[0]!.execution_id });
  });

  it('waits on after the approver that its risk asks for', async () => {
    const waiting = await awaited('wipe the whole archive "quorum two"');
    const { correlation_id } = waiting;
    const { conversations } = place().keyturn;
    expect(waiting).toMatchObject({ missing: 2 });
    await approve(waiting, bo);
    expect(await conversations.resume({ correlation_id })).toMatchObject({
      ...{ kind: 'AWAITS_APPROVER', missing: 1 },
    });
    await approve(waiting, cy);
    expect((await conversations.resume({ correlation_id })).kind).toBe('OUTCOME');
    expect(place().written()).toContain('! quorum two');
    expect((await conversations.replay({ correlation_id })).decisions).toHaveLength(2);
  });

  it('runs at once where the delegation of the activation is approval enough', async () => {
    await activate(forbid('context.approvals >= 1'));
    const { keyturn } = place();
    const answer = await yes(keyturn, await askedFor(keyturn, 'append a notebook line "one is enough"'));
    expect(answer).toMatchObject({ kind: 'OUTCOME', reason_code: 'STEP_SUCCEEDED' });
  });

  it('is refused where no approval would make the policies allow it', async () => {
    await activate(forbid('context.attempt > 100'));
    const { keyturn, written } = place();
    const answer = await yes(keyturn, await askedFor(keyturn, 'append a notebook line "never"'));
    expect(answer.kind).not.toBe('AWAITS_APPROVER');
    expect(written()).not.toContain('+ never');
  });
});
