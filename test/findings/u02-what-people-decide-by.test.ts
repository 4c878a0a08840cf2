import { mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { Signer } from '../../src/identity/act.ts';
import { parsePolicySet } from '../../src/policy/set.ts';
import { Refusal } from '../../src/refusal.ts';
import { human, PERMITS, rules, writePolicies } from '../journey/authority.ts';
import { type Project, projectOfFile, writeRegistry } from '../support/project.ts';
import { expectRefusal } from '../support/refusal.ts';
import { freshFolder } from '../support/scratch.ts';

const read = (path: string) => readFileSync(new URL(`../../docs/policies/${path}`, import.meta.url), 'utf8');

const OUTSIDE = freshFolder('keyturn-u02-outside-');

const tool = (name: string, sandbox: string, parameters = '') => `  - name: ${name}
    summary: Does nothing.
    executable: /usr/bin/true
    sandbox: ${sandbox}
    undo: exact
${parameters}`;

const amount = (more: string) => `    args: [{ when: amount, args: ["{amount}"] }]
    parameters: { amount: { ${more} } }
`;

/** Where each tool writes; a pipeline of the same name has it as its only step. */
const WRITERS: Record<string, string> = {
  docs: '{ write: [docs] }',
  deep: '{ write: [docs/api] }',
  dotted: '{ write: [docs/../src] }',
  beside: '{ write: [docs, src] }',
  linked: '{ write: [docs/link] }',
  leaving: '{ write: [docs/away] }',
  absolute: `{ write: ["${OUTSIDE}"] }`,
  whole: '{ write: [.] }',
  bare: 'none',
  nothing: '{}',
};

const PIPELINES = {
  ...Object.fromEntries(Object.keys(WRITERS).map((name) => [name, `{ tool: ${name} }`])),
  small: '{ tool: pay, arguments: { amount: 100 } }',
  large: '{ tool: pay, arguments: { amount: 101 } }',
  hidden:
    '{ tool: nothing }, { tool: pay, arguments: { amount: 1 } }, { tool: pay, arguments: { amount: 101 } }',
};

const STEPS = Object.entries(PIPELINES)
  .map(([name, steps]) => `  - { name: ${name}, summary: Steps., steps: [${steps}] }\n`)
  .join('');

const registry = (pay = 'type: integer', pipelines = true) => `version: 1
tools:
${Object.entries(WRITERS)
  .map(([name, sandbox]) => tool(name, sandbox))
  .join('')}
${tool('pay', '{}', amount(pay))}
${pipelines ? `pipelines:\n${STEPS}` : ''}`;

const call = (name: string, given: object = {}) => ({ kind: 'tool', tool: name, arguments: given });

const planOf = (...actions: object[]) => ({
  kind: 'plan',
  task_id: 'TASK-1',
  config: null,
  plan: { plan_id: 'PLAN-1', action_plan: actions.map((one, i) => ({ action_id: `A${i}`, ...one })) },
});

const creating = (target: string) => ({
  action_type: 'FILE_CREATE',
  target,
  operation: { type: 'create', content: '{}\n' },
});

const running = (pipeline: string) => ({
  action_type: 'PIPELINE_RUN',
  target: pipeline,
  operation: { type: 'pipeline_run', pipeline },
});

let p: Project;
let bob: Signer;
let shipped: Map<string, string>;

projectOfFile(
  async (made) => {
    const files = [{ name: 'a.cedar', text: read('examples.cedar') }];
    const { policies } = await parsePolicySet({ files, quorums: read('examples-quorums.yaml'), tests: null });
    shipped = new Map(policies.map(({ id, text }) => [id, text]));
    p = made;
    const { root, keyturn } = p;
    bob = await human(p, 'bob');
    await keyturn.people.enrol({ name: 'scout', principal: 'agent', public_key: null, signer: p.ada });
    for (const folder of ['docs/api', 'src']) mkdirSync(join(root, folder), { recursive: true });
    symlinkSync('../src', join(root, 'docs/link'));
    symlinkSync(OUTSIDE, join(root, 'docs/away'));
    writeRegistry(root, registry());
  },
  { name: 'alice' },
);

afterAll(() => rmSync(OUTSIDE, { recursive: true }));

async function activate(id: string): Promise<void> {
  await rules(p, PERMITS + shipped.get(id)!, read('examples-quorums.yaml'));
}

/** Which code and policy said no on the way to a capability, or null when it was granted. */
async function denial(effect: object, signers: Signer[] = [p.ada]): Promise<string | null> {
  const { intent_id, hash } = await p.keyturn.intents.propose({
    declared_goal: 'A test',
    issuer: 'scout',
    effect,
  } as never);
  try {
    for (const signer of signers) await p.keyturn.intents.approve({ intent_id, hash, signer });
    await p.keyturn.intents.grant({ intent_id, hash, signer: p.ada, ttl_s: 60 });
    return null;
  } catch (error) {
    if (error instanceof Refusal && error.code.startsWith('POLICY_'))
      return String(error.facts.policies || error.code);
    throw error;
  }
}

describe('U2: payments above 100 need two people', () => {
  const LARGE = 'two-for-large-payments';

  it('a payment above 100 needs two people, as a tool and as a step of a pipeline', async () => {
    await activate(LARGE);
    const small = [call('pay', { amount: 100 }), planOf(running('small')), planOf(creating('src/a.txt'))];
    const large = [
      call('pay', { amount: 101 }),
      planOf(running('large')),
      planOf(running('hidden')),
      planOf(creating('src/b.txt'), running('small'), running('large')),
    ];
    for (const effect of small) expect(await denial(effect), JSON.stringify(effect)).toBeNull();
    for (const effect of large) expect(await denial(effect), JSON.stringify(effect)).toBe(LARGE);
    for (const effect of large) expect(await denial(effect, [p.ada, bob])).toBeNull();
  });

  it('what the registry says now does not go round what the policies declare', async () => {
    await activate(LARGE);
    try {
      writeRegistry(p.root, registry('type: integer, required: false', false));
      expect(await denial(call('pay'))).toBe('POLICY_ERROR');
      writeRegistry(p.root, registry('type: integer, default: 101', false));
      expect(await denial(call('pay'))).toBe(LARGE);
      writeRegistry(p.root, registry('type: string', false));
      expect(await denial(call('pay', { amount: '101' }))).toBe('POLICY_ERROR');
      writeRegistry(p.root, registry('type: number', false));
      expect(await denial(call('pay', { amount: 100.5 }))).toBe('POLICY_ERROR');
      expect(await denial(call('pay', { amount: 101 }))).toBe(LARGE);
    } finally {
      writeRegistry(p.root, registry());
    }
  });

  it('a policy that reads another type than tools.yaml has is not activated', async () => {
    const text = PERMITS + shipped.get(LARGE)!.replace('amount: integer', 'amount: number');
    writePolicies(p, text.replace('amount > 100', 'amount.greaterThan(decimal("100.0"))'));
    const refused = await expectRefusal('POLICY_INVALID', () =>
      p.keyturn.policies.activate({ reason: 'a test', signer: p.ada }),
    );
    expect(refused.message).toContain('tools.yaml says integer');
    expect((await p.keyturn.policies.check()).problems).toMatchObject([{ severity: 'error' }]);
  });
});

describe('U2: writes only beneath docs/', () => {
  const DOCS = 'only-beneath-docs';

  it('holds for tools, plans and pipelines, and no link, dot or absolute path goes round it', async () => {
    await activate(DOCS);
    const fine = ['docs', 'deep', 'nothing'];
    for (const name of Object.keys(WRITERS)) {
      const expected = fine.includes(name) ? null : DOCS;
      expect(await denial(call(name), [p.ada, bob]), name).toBe(expected);
      expect(await denial(planOf(running(name)), [p.ada, bob]), `pipeline ${name}`).toBe(expected);
    }
    expect(await denial(planOf(creating('docs/a.md'), creating('docs/new/b.md')))).toBeNull();
    for (const path of ['src/a.md', 'a.md', 'documents/a.md'])
      expect(await denial(planOf(creating('docs/a.md'), creating(path))), path).toBe(DOCS);
  });

  it.each([
    ['docs/../src/a.md', 'PATH_ESCAPES'],
    ['/etc/a.md', 'PATH_ESCAPES'],
    ['./docs/a.md', 'PATH_ESCAPES'],
    ['docs/link/a.md', 'FILE_IS_SYMLINK'],
    ['docs/away/a.md', 'FILE_IS_SYMLINK'],
  ] as const)('a plan that names %s cannot even be proposed', async (path, code) => {
    const effect = planOf(creating(path));
    await expectRefusal(code, () =>
      p.keyturn.intents.propose({ declared_goal: 'A test', issuer: 'scout', effect } as never),
    );
  });
});
