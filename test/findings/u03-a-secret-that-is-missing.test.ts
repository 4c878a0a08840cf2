import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { fileFolder, makeProject, type Project } from '../cli/project.ts';
import { writeRegistry, writeSecrets } from '../support/project.ts';
import { expectRefusal } from '../support/refusal.ts';

const REGISTRY = `version: 1
tools:
  - name: call
    summary: Prints a variable.
    executable: /usr/bin/printenv
    args: [TOKEN]
    secrets: { TOKEN: api.token }
    sandbox: {}
    undo: none
pipelines:
  - { name: calls, summary: One step., steps: [{ tool: call }] }
`;

const folder = fileFolder();
let p: Project;

beforeAll(async () => {
  p = await makeProject(folder);
  writeRegistry(folder, REGISTRY);
});

beforeEach(() => void writeSecrets(folder, {}));

const PLAN = {
  plan_id: 'PLAN-1',
  action_plan: [
    {
      action_id: 'A1',
      action_type: 'PIPELINE_RUN',
      target: 'calls',
      operation: { type: 'pipeline_run', pipeline: 'calls' },
    },
  ],
};

async function planned() {
  return p.inside(async (keyturn) => {
    const effect = { kind: 'plan' as const, task_id: 'TASK-1', config: null, plan: PLAN };
    const { intent_id, hash } = await keyturn.intents.propose({
      issuer: 'bot',
      declared_goal: 'A plan.',
      effect,
    });
    return { id: intent_id, hash };
  });
}

describe('U3: a secret that a tool needs and that is missing', () => {
  it('is named and refused before the y of turn, and nothing is recorded', async () => {
    const { id } = await p.propose('call');
    const size = await p.size();
    const { screen, stderr } = await p.talk(['turn', id]);
    expect(stderr).toMatch(/secret api\.token is NOT SET.*\(SECRET_MISSING /);
    expect(screen).not.toContain('(y/n)');
    expect(await p.size()).toBe(size);
  });

  it.each(['a tool', 'a step of a pipeline'])('is refused before the y of run, for %s', async (what) => {
    const intent = what === 'a tool' ? await p.propose('call') : await planned();
    await p.ready(intent);
    const { screen, stderr } = await p.talk(['run', intent.id, intent.hash]);
    expect(stderr).toContain('SECRET_MISSING');
    expect(screen).not.toContain('(y/n)');
  });

  it('is refused after the y when it was taken away meanwhile, and it runs when it is there', async () => {
    const { id: intent_id, hash } = await p.propose('call');
    await p.ready({ id: intent_id, hash });
    await p.inside(async (keyturn) => {
      writeSecrets(folder, { 'api.token': { command: ['/usr/bin/printf', ''] } });
      await expectRefusal('SECRET_MISSING', () => keyturn.runs.look({ intent_id, hash }));
      const source = { 'api.token': { command: ['/usr/bin/printf', 'a-real-token'] } };
      writeSecrets(folder, source);
      const { seen } = await keyturn.runs.look({ intent_id, hash });
      writeSecrets(folder, {});
      await expectRefusal('SECRET_MISSING', () => keyturn.runs.run({ intent_id, hash, seen }));
      writeSecrets(folder, source);
      expect(await keyturn.runs.run({ intent_id, hash, seen })).toMatchObject({ result: 'success' });
    });
  });
});
