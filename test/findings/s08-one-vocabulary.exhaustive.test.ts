import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Signer } from '../../src/identity/act.ts';
import { Keyturn } from '../../src/keyturn.ts';
import { parsePolicySet } from '../../src/policy/set.ts';
import { STARTER_POLICIES, STARTER_QUORUMS } from '../../src/policy/starter.ts';
import { Refusal } from '../../src/refusal.ts';
import { human, PERMITS, policy, rules } from '../journey/authority.ts';
import { type Project, projectOfFile, writeRegistry } from '../support/project.ts';
import { scratch } from '../support/scratch.ts';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

const tool = (name: string, sandbox: string, more = '') => `  - name: ${name}
    summary: Does nothing.
    executable: /usr/bin/true
    sandbox: ${sandbox}
    undo: exact
${more}`;

const NAMES = [
  'plain',
  'ci',
  'root',
  'env',
  'secret',
  'bare',
  'wired',
  'deploy',
  'scraper',
  'export',
  'final',
];

const REGISTRY = `version: 1
tools:
${tool('plain', '{ write: [out] }')}
${tool('ci', '{ write: [.github/workflows] }')}
${tool('root', '{ write: [.] }')}
${tool('env', '{ write: [.env] }')}
${tool('secret', '{ write: [secrets/deep] }')}
${tool('bare', 'none')}
${tool('wired', '{ network: true }')}
${tool('deploy', '{}')}
${tool('scraper', '{}')}
${tool('export', '{}', '    category: data-export\n')}
${tool('final', '{}').replace('undo: exact', 'undo: none')}
pipelines:
${NAMES.map((name) => `  - { name: ${name}, summary: One step., steps: [{ tool: ${name} }] }`).join('\n')}
`;

type Kind = 'tool' | 'plan' | 'pipeline';
type Effect = object;

const call = (name: string): Effect => ({ kind: 'tool', tool: name, arguments: {} });

const planOf = (action: object): Effect => ({
  kind: 'plan',
  task_id: 'TASK-1',
  config: null,
  plan: { plan_id: 'PLAN-1', action_plan: [action] },
});

const creating = (target: string): Effect =>
  planOf({
    action_id: 'A1',
    action_type: 'FILE_CREATE',
    target,
    operation: { type: 'create', content: '{}\n' },
  });

const running = (pipeline: string): Effect =>
  planOf({
    action_id: 'A1',
    action_type: 'PIPELINE_RUN',
    target: pipeline,
    operation: { type: 'pipeline_run', pipeline },
  });

/** The texts of the policies that are shipped, by id. */
let shipped: Map<string, string>;

async function readShipped(): Promise<Map<string, string>> {
  const examples = { files: [{ name: 'a.cedar', text: read('docs/policies/examples.cedar') }] };
  const starter = { files: [{ name: 'b.cedar', text: STARTER_POLICIES }] };
  const sets = [
    await parsePolicySet({ ...examples, quorums: read('docs/policies/examples-quorums.yaml'), tests: null }),
    await parsePolicySet({ ...starter, quorums: STARTER_QUORUMS, tests: null }),
  ];
  return new Map(sets.flatMap(({ policies }) => policies.map(({ id, text }) => [id, text])));
}

const QUORUMS = `${read('docs/policies/examples-quorums.yaml')}two-humans: { any: 2 }\n`;

let p: Project;
let bob: Signer;

/** One project for the file: each test activates its own policies. */
projectOfFile(async (made) => {
  shipped = await readShipped();
  p = made;
  const { root, keyturn } = p;
  bob = await human(p, 'bob');
  await keyturn.people.enrol({ name: 'scout', principal: 'agent', public_key: null, signer: p.ada });
  for (const folder of ['out', '.github/workflows', 'secrets/deep'])
    mkdirSync(join(root, folder), { recursive: true });
  writeFileSync(join(root, '.env'), 'A=1\n');
});

beforeEach(() => {
  writeRegistry(p.root, REGISTRY);
  signers = [p.ada, bob];
});

/** Which policy said no on the way to a capability, or null when it was granted. */
async function denier(effect: Effect, over: { goal?: string; ttl_s?: number } = {}): Promise<string | null> {
  const { goal = 'A test', ttl_s = 60 } = over;
  const { intent_id, hash } = await p.keyturn.intents.propose({
    declared_goal: goal,
    issuer: 'scout',
    effect,
  } as never);
  try {
    for (const signer of signers) await p.keyturn.intents.approve({ intent_id, hash, signer });
    await p.keyturn.intents.grant({ intent_id, hash, signer: p.ada, ttl_s });
    return null;
  } catch (error) {
    if (error instanceof Refusal && error.code === 'POLICY_DENIED') return String(error.facts.policies);
    throw error;
  }
}

/** Two humans both approve, so that a plan on protected files gets as far as the policies. */
let signers: Signer[] = [];

async function activate(id: string): Promise<void> {
  const text = shipped.get(id) ?? expect.fail(`There is no policy "${id}".`);
  await rules(p, PERMITS + text, QUORUMS);
}

/** What no policy is about but those that ask for an undo: a pipeline has none. */
const PLAIN_PIPELINE = running('plain');
const PLAIN = [call('plain'), creating('src/a.txt'), PLAIN_PIPELINE];

/** What a policy is about, done by a tool, by a plan and by a step of a pipeline. */
const ROWS: [string, Partial<Record<Kind, Effect[]>>, { goal?: string; ttl_s?: number }?][] = [
  [
    'protected-files',
    {
      tool: [call('ci'), call('root'), call('env'), call('secret'), call('bare')],
      plan: [creating('.github/workflows/x.yml'), creating('secrets/new.txt'), creating('sub/.env')],
      pipeline: [running('bare'), running('ci'), running('root')],
    },
  ],
  ['no-wide-scope', { tool: [call('root'), call('bare')], pipeline: [running('root'), running('bare')] }],
  [
    'dev-and-ops-for-elevated',
    { tool: [call('root'), call('ci')], plan: [creating('package.json')], pipeline: [running('ci')] },
  ],
  ['assurance-for-no-undo', { tool: [call('final')], pipeline: [PLAIN_PIPELINE] }],
  ['prohibited-goals', { tool: [call('export')], pipeline: [running('export')] }],
  ['deploy-needs-a-release', { tool: [call('deploy')], pipeline: [running('deploy')] }],
  ['kill-switch-scraper', { tool: [call('scraper')], pipeline: [running('scraper')] }],
  ['ttl-network', { tool: [call('wired')], pipeline: [running('wired')] }, { ttl_s: 601 }],
  ['short-without-undo', { tool: [call('final')], pipeline: [PLAIN_PIPELINE] }, { ttl_s: 901 }],
];

describe('S8: a shipped policy does what its words say, for a tool, a plan and a pipeline', () => {
  it.each(ROWS)('%s', async (id, effects, over) => {
    await activate(id);
    const about = Object.values(effects).flat();
    for (const effect of about) expect(await denier(effect, over), JSON.stringify(effect)).toBe(id);
    for (const effect of PLAIN.filter((one) => !about.includes(one)))
      expect(await denier(effect, over), JSON.stringify(effect)).toBeNull();
  });

  it('ttl-general bounds the life of a capability, whatever it is for', async () => {
    await activate('ttl-general');
    for (const effect of PLAIN) {
      expect(await denier(effect, { ttl_s: 1801 }), JSON.stringify(effect)).toBe('ttl-general');
      expect(await denier(effect, { ttl_s: 1800 }), JSON.stringify(effect)).toBeNull();
    }
  });

  it('two-for-elevated asks for a second human for a tool that can write a protected file', async () => {
    await activate('two-for-elevated');
    signers = signers.slice(0, 1);
    for (const name of ['root', 'ci', 'env']) expect(await denier(call(name)), name).toBe('two-for-elevated');
    expect(await denier(call('plain'))).toBeNull();
    signers = [p.ada, bob];
    for (const name of ['root', 'ci', 'env']) expect(await denier(call(name)), name).toBeNull();
  });
});

describe('S8: the paths that a policy sees', () => {
  const about = (paths: string) =>
    PERMITS + policy('seen', 'capability', `forbid (principal, action, resource) when { ${paths} };`);

  it.each<[string, Effect]>([
    ['context.writes_in.contains("out")', call('plain')],
    ['resource.writes.contains("out")', call('plain')],
    ['resource.writes.contains(".")', call('root')],
    ['context.scope_writes.contains(".env")', call('env')],
    ['context.writes_in.contains("src")', creating('src/a.txt')],
  ])('are relative to the project: %s', async (paths, effect) => {
    await rules(p, about(paths));
    expect(await denier(effect)).toBe('seen');
  });

  it('are absolute outside the project, and a folder around the project is also the project', async () => {
    const outside = scratch();
    writeRegistry(p.root, `version: 1\ntools:\n${tool('plain', `{ write: ["${outside}"] }`)}`);
    await rules(p, about(`context.scope_writes.contains("${outside}") && !resource.elevated`));
    expect(await denier(call('plain'))).toBe('seen');
    const around = join(p.root, '..');
    writeRegistry(p.root, `version: 1\ntools:\n${tool('plain', `{ write: ["${around}"] }`)}`);
    await rules(p, about('context.scope_writes.contains(".") && resource.elevated'));
    expect(await denier(call('plain'))).toBe('seen');
  });

  it('are all there when a plan has more places than a token names', async () => {
    const outside = scratch();
    const places = Array.from({ length: 70 }, (_, i) => join(outside, String(i), 'a'));
    for (const place of places) mkdirSync(place, { recursive: true });
    const reaching = 'pipelines:\n  - { name: away, summary: Away., steps: [{ tool: plain }] }\n';
    writeRegistry(
      p.root,
      `version: 1\ntools:\n${tool('plain', `{ write: [${places.join(', ')}] }`)}${reaching}`,
    );
    await rules(p, about(`context.scope_writes.contains("${places[7]}")`));
    expect(await denier(running('away'))).toBe('seen');
  });

  it('are the same when the project is opened through a link', async () => {
    await rules(p, about('context.scope_writes.contains("out")'));
    const link = join(scratch(), 'link');
    symlinkSync(p.root, link);
    const direct = p;
    p = { ...p, keyturn: await Keyturn.open({ at: link }) };
    try {
      expect(await denier(call('plain'))).toBe('seen');
    } finally {
      await p.keyturn.close();
      p = direct;
    }
  });
});
