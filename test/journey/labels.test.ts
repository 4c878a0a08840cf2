import { describe, expect, it } from 'vitest';
import { generateKeyPair } from '../../src/canonical/ed25519.ts';
import { entriesAbout } from '../support/ledger.ts';
import { type Project, project, writeRegistry } from '../support/project.ts';
import { expectRefusal } from '../support/refusal.ts';
import { executorOf } from './executing.ts';
import { planOf, planProjects, proposed } from './plan-story.ts';

const tool = (name: string, executor: string | null) => `  - name: ${name}
    summary: Prints a word.
    executable: /usr/bin/printf
    args: ["done"]
    sandbox: none
    undo: none
${executor === null ? '' : `    executor: ${executor}\n`}`;
const REGISTRY = `version: 1
tools:
${tool('plain', null)}${tool('query', 'database')}${tool('ship', 'releases')}pipelines:
  - { name: both, summary: Two., steps: [{ tool: query }, { tool: ship }] }
  - { name: one, summary: Two., steps: [{ tool: query }, { tool: plain }] }
`;
const pipeline = (name: string) =>
  planOf([
    {
      action_id: '1',
      action_type: 'PIPELINE_RUN',
      target: name,
      operation: { type: 'pipeline_run', pipeline: name },
    },
  ]);

const proposing = ({ keyturn, ada }: Project, name: string) =>
  keyturn.intents.propose({
    declared_goal: 'Do it.',
    effect: { kind: 'tool', tool: name, arguments: {} },
    signer: ada,
  });
const serving = ({ keyturn, ada }: Project, labels: string[], over: object = {}) =>
  keyturn.system.addExecutor({ labels, reason: 'a test', signer: ada, ...over });
/** Another host, which is enrolled and does nothing. */
const another = (p: Project, labels: string[]) =>
  serving(p, labels, { name: 'far', public_key: generateKeyPair().public_key });

const projects = planProjects();

describe('an executor with a label', () => {
  it('runs what the registry binds to the label, and the label is part of what is approved and shown', async () => {
    const p = await project(REGISTRY);
    await serving(p, ['database']);
    await executorOf(p);
    const { intent_id, hash } = await proposing(p, 'query');
    const { effect, shown } = await p.keyturn.intents.review({ intent_id });
    expect(effect).toMatchObject({ executor: 'database' });
    expect(JSON.stringify(shown)).toContain('database');
    const { audience } = await p.keyturn.intents.turn({ intent_id, hash, signer: p.ada });
    expect(audience).toMatch(/\/database$/);
    expect((await p.keyturn.intents.waitFor({ intent_id })).status).toBe('succeeded');
    await p.keyturn.ledger.verify({ deep: true });
    const other = await proposing(p, 'query');
    writeRegistry(p.root, REGISTRY.replace('executor: database', 'executor: releases'));
    await expectRefusal('EFFECT_CHANGED', () =>
      p.keyturn.intents.approve({ intent_id: other.intent_id, hash: other.hash, signer: p.ada }),
    );
  });

  it('leaves what is for another label, which nobody here can run by hand either; status says what it waits for', async () => {
    const p = await project(REGISTRY);
    await serving(p, ['database']);
    await another(p, ['releases']);
    const { told } = await executorOf(p);
    const { intent_id, hash } = await proposing(p, 'ship');
    expect(await p.keyturn.intents.whatIf({ intent_id, hash, by: 'ada', act: 'turn' })).toMatchObject({
      code: null,
    });
    const { seen } = await p.keyturn.intents.turn({ intent_id, hash, signer: p.ada });
    const near = await proposing(p, 'plain');
    await p.keyturn.intents.turn({ intent_id: near.intent_id, hash: near.hash, signer: p.ada });
    expect((await p.keyturn.intents.waitFor({ intent_id: near.intent_id })).status).toBe('succeeded');
    expect(told.map((one) => one.intent_id)).not.toContain(intent_id);
    await expectRefusal('EXECUTOR_ELSEWHERE', () => p.keyturn.runs.run({ intent_id, hash, seen }));
    expect((await p.keyturn.system.status()).approved).toMatchObject([
      { intent_id, waits_for: { executor: 'releases', enrolled: 1 } },
    ]);
    const kinds = (await entriesAbout(p.keyturn, intent_id)).map(({ kind }) => kind);
    expect(kinds).not.toContain('execution.claimed');
  });

  it('is not the one for a claim that was made for another label, whoever writes the claim', async () => {
    const p = await project(REGISTRY);
    await another(p, ['releases']);
    const { intent_id, hash } = await proposing(p, 'ship');
    await p.keyturn.intents.turn({ intent_id, hash, signer: p.ada });
    // With the label it may, and once that is taken back it may not.
    await serving(p, ['releases']);
    const { seen } = await p.keyturn.runs.preview({ intent_id, hash });
    await serving(p, []);
    await expectRefusal('EXECUTOR_ELSEWHERE', () => p.keyturn.runs.run({ intent_id, hash, seen }));
    await serving(p, ['other', 'releases']);
    expect(await p.keyturn.runs.run({ intent_id, hash, seen })).toMatchObject({ result: 'success' });
  });

  it('that nobody enrolled gets no order: that is said before a key is turned, and by the act itself', async () => {
    const p = await project(REGISTRY);
    const { intent_id, hash } = await proposing(p, 'query');
    const asked = { intent_id, hash, by: 'ada', act: 'turn' } as const;
    expect(await p.keyturn.intents.whatIf(asked)).toMatchObject({ code: 'EXECUTOR_ABSENT' });
    await expectRefusal('EXECUTOR_ABSENT', () => p.keyturn.intents.turn({ intent_id, hash, signer: p.ada }));
    const { public_key } = await another(p, ['database']);
    expect(await p.keyturn.intents.whatIf(asked)).toMatchObject({ code: null });
    await p.keyturn.system.revokeExecutor({ public_key, reason: 'gone', signer: p.ada });
    expect(await p.keyturn.intents.whatIf(asked)).toMatchObject({ code: 'EXECUTOR_ABSENT' });
  });

  it('is meant by a plan whose steps name it; a plan for two of them is refused', async () => {
    const p = await projects({}, REGISTRY);
    await serving(p, ['database']);
    const { intent_id, hash } = await proposed(p, pipeline('one'), { issuer: 'ada' });
    const { audience } = await p.keyturn.intents.turn({ intent_id, hash, signer: p.ada });
    expect(audience).toMatch(/\/database$/);
    await expectRefusal('EXECUTOR_ELSEWHERE', () => proposed(p, pipeline('both'), { issuer: 'ada' }));
  });

  it('is refused where a label is no name, or there are too many', async () => {
    const p = await project(REGISTRY);
    await expectRefusal('NAME_MALFORMED', () => serving(p, ['A b']));
    const many = Array.from({ length: 17 }, (_, i) => `l${i}`);
    await expectRefusal('SHAPE_INVALID', () => serving(p, many));
    expect((await serving(p, ['b', 'a', 'b'])).labels).toEqual(['a', 'b']);
  });
});
