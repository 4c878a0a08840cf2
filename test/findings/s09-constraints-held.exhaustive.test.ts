import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PERMITS, policy, rules, yes } from '../journey/authority.ts';
import { type Project, projectOfFile, writeRegistry } from '../support/project.ts';
import { keyturn as command } from '../support/pty.ts';
import { expectRefusal } from '../support/refusal.ts';
import { runSeen } from '../support/seen.ts';

const tool = (name: string, sandbox: string, executable = '/usr/bin/true', more = '') => `  - name: ${name}
    summary: A test.
    executable: ${executable}
    sandbox: ${sandbox}
    undo: none
${more}`;

const REGISTRY = `version: 1
tools:
${tool('plain', '{}')}
${tool('out', '{ write: [out] }')}
${tool('root', '{ write: [.] }')}
${tool('peek', '{ read: [data] }')}
${tool('wired', '{ network: true }')}
${tool('bare', 'none')}
${tool('copy', '{ read: [data], write: [out] }', '/usr/bin/true', '    action: copying\n')}
${tool('fail', '{}', '/usr/bin/false')}
pipelines:
  - { name: nightly, summary: One step., steps: [{ tool: plain }] }
  - { name: filling, summary: One step., steps: [{ tool: out }] }
`;

interface Call {
  readonly kind: string;
  readonly tool?: string;
  readonly arguments?: object;
}

const call = (name: string): Call => ({ kind: 'tool', tool: name, arguments: {} });
const planOf = (...action_plan: object[]) => ({
  kind: 'plan',
  task_id: 'TASK-1',
  config: null,
  plan: { plan_id: 'PLAN-1', action_plan: action_plan.map((one, i) => ({ action_id: `A${i}`, ...one })) },
});
const create = (target: string) => ({
  action_type: 'FILE_CREATE',
  target,
  operation: { type: 'create', content: 'x\n' },
});
const remove = { action_type: 'FILE_DELETE', target: 'old/a.txt', operation: { type: 'delete' } };
const running = (pipeline: string) => ({
  action_type: 'PIPELINE_RUN',
  target: pipeline,
  operation: { type: 'pipeline_run', pipeline },
});
const nightly = running('nightly');

let p: Project;

projectOfFile(async (made) => {
  p = made;
  const { root } = p;
  for (const folder of ['out/deep', 'data', 'old']) mkdirSync(join(root, folder), { recursive: true });
  writeFileSync(join(root, 'old', 'a.txt'), 'old\n');
  symlinkSync('out', join(root, 'mirror'));
  writeRegistry(root, REGISTRY);
});

const proposing = (effect: object, constraints: object, over: object = {}) =>
  p.keyturn.intents.propose({
    declared_goal: 'A test',
    issuer: 'ada',
    effect,
    constraints,
    ...over,
  } as never);

/** On the way to a capability: refused where the finding says, or nowhere. */
async function journey(
  effect: Call,
  constraints: object,
  over: { alternates?: object[] } = {},
): Promise<string> {
  const { intent_id, hash } = await proposing(effect, constraints, over);
  await p.keyturn.intents.approve({ intent_id, hash, signer: p.ada });
  const action = effect.kind === 'tool' && over.alternates ? { action: `tool:${effect.tool}` } : {};
  await p.keyturn.intents.grant({ intent_id, hash, signer: p.ada, ...action });
  return intent_id;
}

describe('S9: what an intent says about its own bounds is held, or asked about', () => {
  it.each([
    'nothing',
    'anything',
    'tools',
    'the reports folder',
    'do not touch src/ or docs/',
    'tool',
    'tool:',
    'tool:a*',
    'write:',
    'write:../x',
    'write:a//b',
    'src/../x',
    'read-only',
    'README.md',
    'Network',
    'network ',
    'src/*.ts',
    '\u0001/x',
  ])('a word that is not known needs clarification: %j', async (word) => {
    await expectRefusal('CLARIFICATION_NEEDED', () => journey(call('plain'), { scope: [word] }));
    await expectRefusal('CLARIFICATION_NEEDED', () => journey(call('plain'), { prohibitions: [word] }));
  });

  const pipeline = planOf(nightly);
  it.each<[string, Call]>([
    ['tool:*', call('plain')],
    ['tool:plain', call('plain')],
    ['tool:plain', pipeline],
    ['tool:*', pipeline],
    ['copying', call('copy')],
    ['write', call('out')],
    ['write', planOf(create('a.txt'))],
    ['write', planOf(remove)],
    ['write', call('bare')],
    ['write:out/deep', call('out')],
    ['write:out', call('root')],
    ['./out/', call('copy')],
    ['data/', call('peek')],
    ['read', call('peek')],
    ['read:data', call('copy')],
    ['delete', planOf(remove)],
    ['delete', call('out')],
    ['delete:old', planOf(remove)],
    ['old/', planOf(remove)],
    ['/etc', call('bare')],
    ['network', call('wired')],
    ['network', call('bare')],
    ['unconfined', call('bare')],
    ['plan', planOf(create('a.txt'))],
    ['FILE_CREATE', planOf(create('a.txt'))],
    ['pipeline:nightly', pipeline],
    ['pipeline:*', pipeline],
    ['PIPELINE_RUN', pipeline],
  ])('a prohibition of %s is held', async (word, effect) => {
    const refusal = await expectRefusal('ACTION_PROHIBITED', () => journey(effect, { prohibitions: [word] }));
    expect(refusal.message).toContain(word.replace('./out/', 'out').replace(/\/$/, ''));
  });

  it.each<[string, Call]>([
    ['network', call('out')],
    ['write:data', call('out')],
    ['delete', planOf(create('a.txt'))],
    ['tool:other', call('plain')],
    ['copying', call('plain')],
    ['plan', call('plain')],
    ['secrets/', planOf(create('src/a.txt'))],
    ['unconfined', call('root')],
  ])('a prohibition of %s leaves the rest alone', async (word, effect) => {
    await journey(effect, { prohibitions: [word] });
  });

  it.each<[string[], Call]>([
    [['tool:other'], call('plain')],
    [['plan'], call('plain')],
    [['out/'], call('root')],
    [['out/'], call('wired')],
    [['out/'], call('bare')],
    [['write:out'], call('copy')],
    [['read:data'], call('copy')],
    [['network'], call('out')],
    [['FILE_CREATE'], planOf(create('a.txt'), remove)],
    [['src/'], planOf(create('srcs/a.txt'))],
    [['delete:old'], planOf(create('old/b.txt'))],
    [['tool:*'], planOf(create('a.txt'))],
    [['pipeline:weekly'], pipeline],
  ])('a scope of %j allows nothing else', async (scope, effect) => {
    await expectRefusal('ACTION_PROHIBITED', () => journey(effect, { scope }));
  });

  it.each<[string[], Call]>([
    [['tool:plain'], call('plain')],
    [['tool:*'], call('wired')],
    [['copying', 'data/', 'out/'], call('copy')],
    [['write:.', 'tool:root'], call('root')],
    [['network'], call('wired')],
    [['unconfined'], call('bare')],
    [['plan', 'src/'], planOf(create('src/a.txt'))],
    [['FILE_DELETE', 'delete:old'], planOf(remove)],
    [['pipeline:nightly'], pipeline],
    [['write'], call('out')],
  ])('a scope of %j covers what it names', async (scope, effect) => {
    await journey(effect, { scope });
  });

  it('an absolute path beneath the project is the same as the relative one', async () => {
    const out = join(p.root, 'out');
    await expectRefusal('ACTION_PROHIBITED', () => journey(call('out'), { prohibitions: [`write:${out}`] }));
    await expectRefusal('ACTION_PROHIBITED', () =>
      journey(call('out'), { prohibitions: [join(p.root, '..')] }),
    );
    await journey(call('out'), { scope: [`write:${out}`] });
  });

  it('a word stays what it is when the intent also requests an action of that name', async () => {
    const asking = (prohibition: string) =>
      proposing(
        call('out'),
        { prohibitions: [prohibition] },
        { requested_actions: ['tool:out', 'write:out', 'deploys'] },
      );
    await expectRefusal('ACTION_PROHIBITED', () => asking('write:out'));
    await expectRefusal('CLARIFICATION_NEEDED', () => asking('deploys'));
  });

  it.each(['write:mirror', './mirror', 'mirror/deep'])(
    'a path that leads through a link needs clarification: %s',
    async (word) => {
      await expectRefusal('CLARIFICATION_NEEDED', () => journey(call('out'), { prohibitions: [word] }));
      await expectRefusal('CLARIFICATION_NEEDED', () => journey(call('plain'), { scope: [word] }));
      const absolute = join(p.root, word.replace('write:', ''));
      await expectRefusal('CLARIFICATION_NEEDED', () => journey(call('out'), { prohibitions: [absolute] }));
    },
  );

  it('how many files a step of a pipeline touches cannot be told', async () => {
    const limits = { max_files: 0 };
    await expectRefusal('CLARIFICATION_NEEDED', () => journey(planOf(running('filling')), { limits }));
    await journey(pipeline, { limits });
  });

  it('binds an alternate like the rest', async () => {
    const over = { alternates: [call('wired')] };
    await expectRefusal('ACTION_PROHIBITED', () =>
      journey(call('fail'), { prohibitions: ['network'] }, over),
    );
    await expectRefusal('ACTION_PROHIBITED', () => journey(call('fail'), { scope: ['tool:fail'] }, over));
  });

  it('holds after a failure, when a human turns to an alternate that it allows', async () => {
    const constraints = { scope: ['tool:fail', 'tool:plain'] };
    const intent_id = await journey(call('fail'), constraints, { alternates: [call('plain')] });
    const { hash } = await p.keyturn.intents.get({ intent_id });
    expect((await runSeen(p.keyturn, { intent_id, hash, confirm: yes })).result).toBe('failure');
    await p.keyturn.runs.retry({
      intent_id,
      reason: 'once more',
      alternate: 'plain',
      signer: p.ada,
    } as never);
    await p.keyturn.intents.grant({ intent_id, hash, signer: p.ada, action: 'tool:plain' });
    expect((await runSeen(p.keyturn, { intent_id, hash, confirm: yes })).result).toBe('success');
  });

  it('is shown, and policies see it', async () => {
    const { intent_id } = await proposing(call('out'), { scope: ['./out/'], prohibitions: ['network'] });
    const { stdout } = await command(['show', intent_id], { cwd: p.root });
    expect(stdout).toMatch(/Scope: +\.\/out\//);
    expect(stdout).toMatch(/Prohibited: +network/);
    const seen = 'context.scope.contains("out") && context.prohibitions.contains("network")';
    await rules(
      p,
      PERMITS + policy('seen', 'intent', `forbid (principal, action, resource) when { ${seen} };`),
    );
    const { hash } = await p.keyturn.intents.get({ intent_id });
    await expectRefusal('POLICY_DENIED', () => p.keyturn.intents.approve({ intent_id, hash, signer: p.ada }));
  });
});
