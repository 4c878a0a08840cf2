import { chmodSync, copyFileSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { AgentAnswer } from '../../src/agent/answer-shape.ts';
import { askedFor, writeSimulation, writtenIn, yes } from '../agent/agent-place.ts';
import { human } from '../journey/authority.ts';
import { type Project, projectOfFile } from '../support/project.ts';
import { expectRefusal } from '../support/refusal.ts';

/** What a human activated is what a yes runs: the program, its interpreter, its sandbox, its steps, and what undoes it. */

const TOOLS = `version: 1
tools:
  - name: note
    summary: Writes a line.
    executable: ./note.sh
    args: ["{text}"]
    parameters: { text: { type: string, max_length: 100 } }
    cwd: box
    sandbox: { read: [interpreter], write: [box] }
    undo: compensating
  - name: strike
    summary: Writes another line.
    executable: ./strike.sh
    args: ["{text}"]
    parameters: { text: { type: string, max_length: 100 } }
    cwd: box
    sandbox: { write: [box] }
    undo: compensating
  - name: say
    summary: Prints a word.
    executable: ./say.sh
    sandbox: {}
    undo: none
pipelines:
  - name: nightly
    summary: Tidies up.
    steps: [{ tool: say }, { sql: nightly.sql, database: shop.duckdb }]
`;

const text = {
  text: {
    type: 'string',
    max_length: 80,
    question: { en: 'Which words?' },
    formats: ['"words in quotes"', 'plain words'],
    extract: 'quoted',
  },
};
const careful = { impactful: true, side_effecting: true, irreversible: false, fields: text };
const calm = { impactful: false, side_effecting: false, irreversible: false };

function simulation(id: string, phrase: string, rest: object): object {
  const summary = { en: phrase.charAt(0).toUpperCase() + phrase.slice(1) };
  const named = { id, version: 1, family: 'notes', summary, phrases: { en: [phrase] }, access_action: id };
  return { ...named, risk: 'LOW', ...rest };
}

const SIMULATIONS = [
  simulation('note.add', 'append a notebook line', {
    ...careful,
    risk: 'MEDIUM',
    effect: { tool: 'note', arguments: { text: '+ {text}' } },
    rollback_plan_ref: 'note.strike',
  }),
  simulation('note.strike', 'strike out some earlier writing', {
    ...careful,
    effect: { tool: 'strike', arguments: { text: '~ {text}' } },
    rollback_plan_ref: 'note.add',
  }),
  simulation('hello.show', 'greet everybody kindly', { ...calm, effect: { tool: 'say' } }),
  simulation('archive.wipe', 'wipe the whole archive', {
    ...careful,
    impactful: false,
    irreversible: true,
    risk: 'HIGH',
    effect: { tool: 'note', arguments: { text: '! {text}' } },
  }),
  simulation('diary.week', 'fill the weekly diary', {
    ...careful,
    steps: [
      { simulation: 'note.add', fields: { text: '{text} one' } },
      { simulation: 'note.strike', fields: { text: '{text} two' } },
    ],
    rollback_plan_ref: 'note.strike',
  }),
  simulation('shop.close', 'close the corner shop', {
    ...careful,
    fields: {},
    impactful: false,
    effect: {
      plan: {
        plan_id: 'close',
        action_plan: [
          {
            action_id: 'tidy',
            action_type: 'PIPELINE_RUN',
            target: 'nightly',
            operation: { type: 'run', pipeline: 'nightly' },
          },
        ],
      },
    },
  }),
  simulation('shop.count', 'count the remaining apples', {
    ...careful,
    fields: {},
    impactful: false,
    effect: {
      plan: {
        plan_id: 'count',
        action_plan: [
          {
            action_id: 'count',
            action_type: 'SQL_EXECUTE',
            target: 'shop.duckdb',
            operation: { type: 'sql_execute', details: { query_file: 'count.sql' } },
          },
        ],
      },
    },
  }),
];

const IDS = [
  'note.add',
  'note.strike',
  'hello.show',
  'archive.wipe',
  'diary.week',
  'shop.close',
  'shop.count',
];

const script = (mark: string) => `#!/bin/sh\necho "${mark}$1" >> lines\n`;

/** The files as they were when everything was activated. */
const FILES: readonly (readonly [string, string, number])[] = [
  ['tools.yaml', TOOLS, 0o444],
  ['note.sh', '#!@/interpreter/sh\necho "$1" >> lines\n', 0o755],
  ['strike.sh', script(''), 0o755],
  ['say.sh', '#!/bin/sh\necho hello\n', 0o755],
  ['nightly.sql', 'create table if not exists tidied (at integer);\n', 0o644],
  ['count.sql', 'create table if not exists apples (n integer);\n', 0o644],
];

let p: Project;

projectOfFile(async (made) => {
  p = made;
  const { root, keyturn } = p;
  mkdirSync(join(root, 'box'));
  mkdirSync(join(root, 'interpreter'));
  restore();
  for (const one of SIMULATIONS) writeSimulation(root, one);
  for (const id of IDS) await keyturn.simulations.register({ id, reason: 'A test.', signer: p.ada });
  for (const id of IDS) await keyturn.simulations.activate({ id, reason: 'A test.', signer: p.ada });
});

afterEach(restore);

function restore(): void {
  const { root } = p;
  for (const [name, text, mode] of FILES) renamedOver(root, name, text.replace('@', root), mode);
  copyFileSync('/bin/sh', join(root, 'interpreter', 'sh'));
  chmodSync(join(root, 'interpreter', 'sh'), 0o755);
  rmSync(join(root, 'box', 'lines'), { force: true });
}

/** As an editor, a package manager or an attacker writes a file: another one takes its name. */
function renamedOver(root: string, name: string, bytes: string, mode: number): void {
  const beside = join(root, `${name}.new`);
  writeFileSync(beside, bytes);
  chmodSync(beside, mode);
  renameSync(beside, join(root, name));
}

const tools = (root: string, from: string, to: string) => {
  const before = readFileSync(join(root, 'tools.yaml'), 'utf8');
  renamedOver(root, 'tools.yaml', before.replace(from, to), 0o444);
};

const CHANGES: readonly (readonly [string, string, (root: string) => void])[] = [
  ['the script', 'executables[0].sha256', (root) => renamedOver(root, 'note.sh', script('OTHER '), 0o755)],
  [
    'its interpreter',
    'executables[1].sha256',
    (root) => writeFileSync(join(root, 'interpreter', 'sh'), '\0', { flag: 'a' }),
  ],
  [
    'the executable that the registry names',
    'executables[0]',
    (root) => tools(root, './note.sh', './strike.sh'),
  ],
  [
    'the sandbox',
    'sandbox',
    (root) => tools(root, 'sandbox: { read: [interpreter], write: [box] }', 'sandbox: none'),
  ],
  ['the arguments', 'args[0]', (root) => tools(root, 'args: ["{text}"]', 'args: ["OTHER {text}"]')],
];

function refusedFor(answer: AgentAnswer, what: string): void {
  expect(answer).toMatchObject({ kind: 'REFUSED', reason_code: 'ACTIVATION_DIFFERS' });
  expect(answer.user_visible_text).toContain(what);
}

describe('S2: an activation binds what runs', () => {
  it.each(CHANGES)(
    'another one than was activated: %s. The goal is refused, and the yes',
    async (_, what, change) => {
      const { root, keyturn } = p;
      const prompt = await askedFor(keyturn, 'append a notebook line "late"');
      change(root);
      refusedFor(await yes(keyturn, prompt), what);
      refusedFor(
        await keyturn.conversations.ask({ user_id: 'ada', utterance: 'append a notebook line "early"' }),
        what,
      );
      refusedFor(
        await keyturn.conversations.ask({ user_id: 'ada', utterance: 'wipe the whole archive "high"' }),
        what,
      );
      expect(writtenIn(root)).toEqual([]);
      await keyturn.conversations.replay({ correlation_id: prompt.correlation_id });
    },
  );

  it('LOW risk without a prompt is refused as well, also where the tool lost its sandbox', async () => {
    const { root, keyturn } = p;
    const ask = () => keyturn.conversations.ask({ user_id: 'ada', utterance: 'greet everybody kindly' });
    expect((await ask()).kind).toBe('OUTCOME');
    renamedOver(root, 'say.sh', '#!/bin/sh\necho other\n', 0o755);
    refusedFor(await ask(), 'executables[0].sha256');
    renamedOver(root, 'say.sh', '#!/bin/sh\necho hello\n', 0o755);
    tools(root, 'sandbox: {}', 'sandbox: none');
    // What activation demands is demanded again: without a sandbox it is not harmless.
    refusedFor(await ask(), 'side_effecting');
  });

  it('the second step of a chain is looked at when its turn comes', async () => {
    const { root, keyturn } = p;
    const first = await askedFor(keyturn, 'fill the weekly diary "chain"');
    const done = await yes(keyturn, first);
    if (done.kind !== 'OUTCOME' || done.next?.kind !== 'CONFIRM') throw new Error(JSON.stringify(done));
    renamedOver(root, 'strike.sh', script('OTHER '), 0o755);
    refusedFor(await yes(keyturn, done.next), 'executables[0].sha256');
    expect(writtenIn(root)).toEqual(['+ chain one']);
    await keyturn.conversations.replay({ correlation_id: first.correlation_id });
  });

  it('an undo runs what was activated to undo, or nothing', async () => {
    const { root, keyturn } = p;
    const prompt = await askedFor(keyturn, 'append a notebook line "undone"');
    expect((await yes(keyturn, prompt)).kind).toBe('OUTCOME');
    renamedOver(root, 'strike.sh', script('OTHER '), 0o755);
    const { correlation_id } = prompt;
    refusedFor(await keyturn.conversations.undo({ correlation_id, user_id: 'ada' }), 'executables[0].sha256');
    expect(writtenIn(root)).toEqual(['+ undone']);
  });

  it('what would undo it belongs to what was activated', async () => {
    const { root, keyturn } = p;
    renamedOver(root, 'strike.sh', script('OTHER '), 0o755);
    const ask = { user_id: 'ada', utterance: 'append a notebook line "no way back"' };
    refusedFor(await keyturn.conversations.ask(ask), 'undone_by.effect.executables[0].sha256');
  });

  it.each([
    ['close the corner shop', 'say.sh', 'effect.pipelines[0].steps[0].executables[0].sha256'],
    ['close the corner shop', 'nightly.sql', 'effect.pipelines[0].steps[1].sha256'],
    ['count the remaining apples', 'count.sql', 'effect.files[0].sha256'],
  ])('a plan takes its steps with it: to %s with another %s is refused', async (utterance, file, what) => {
    const { root, keyturn } = p;
    const prompt = await askedFor(keyturn, utterance);
    const text = file.endsWith('.sh') ? script('OTHER ') : 'drop table customers;\n';
    renamedOver(root, file, text, 0o755);
    refusedFor(await yes(keyturn, prompt), what);
    refusedFor(await keyturn.conversations.ask({ user_id: 'ada', utterance }), what);
    await keyturn.conversations.replay({ correlation_id: prompt.correlation_id });
  });

  const sql = (operation: object) => ({
    action_id: 'run',
    action_type: 'SQL_EXECUTE',
    target: 'shop.duckdb',
    operation: { type: 'sql_execute', ...operation },
  });
  const written = (action_type: string, target: string, operation: object) => ({
    action_id: 'write',
    action_type,
    target,
    operation: { type: 'create', ...operation },
  });
  it.each([
    ['a query', [sql({ query: "insert into apples values ('{text}')" })]],
    ['a query in its details', [sql({ details: { query: "delete from apples where kind = '{text}'" } })]],
    [
      'a file of SQL that the plan makes',
      [written('FILE_CREATE', 'new.sql', { content: '{text}' }), sql({ query_file: 'new.sql' })],
    ],
    [
      'which file is written before a file of SQL is read',
      [written('FILE_MODIFY', '{text}', { content: 'x' }), sql({ details: { query_file: 'count.sql' } })],
    ],
  ])('what a user says is never part of %s', async (what, action_plan) => {
    const id = `shop.${what.replaceAll(' ', '').toLowerCase()}`;
    const effect = { plan: { plan_id: 'told', action_plan } };
    writeSimulation(
      p.root,
      simulation(id, 'tell the shop a secret', { ...careful, impactful: false, effect }),
    );
    const change = { id, reason: 'A test.', signer: p.ada };
    await expectRefusal('SIMULATION_INVALID', () => p.keyturn.simulations.register(change));
    await expectRefusal('SIMULATION_INVALID', () => p.keyturn.simulations.activate(change));
  });

  it('a human who looks again and activates it makes it run', async () => {
    const { root, keyturn, ada } = p;
    renamedOver(root, 'say.sh', '#!/bin/sh\necho other\n', 0o755);
    await keyturn.simulations.activate({ id: 'hello.show', reason: 'Seen.', signer: ada });
    const answer = await keyturn.conversations.ask({ user_id: 'ada', utterance: 'greet everybody kindly' });
    expect(answer.kind).toBe('OUTCOME');
  });

  it('of two humans who activate at once one is refused, and nothing stays delegated when it is disabled', async () => {
    const { root, keyturn, ada } = p;
    const bob = await human(p, 'bob');
    const id = 'hello.again';
    writeSimulation(root, simulation(id, 'salute the assembled crowd', { ...calm, effect: { tool: 'say' } }));
    await keyturn.simulations.register({ id, reason: 'A test.', signer: ada });
    const delegated = async () =>
      (await keyturn.agents.delegations()).delegations.filter(
        ({ actions, status }) => status === 'active' && actions.includes(`simulation:${id}@1`),
      );
    const activating = [ada, bob].map((signer) =>
      keyturn.simulations.activate({ id, reason: 'At once.', signer }),
    );
    const refused = (await Promise.allSettled(activating)).filter(({ status }) => status === 'rejected');
    expect(refused).toMatchObject([{ reason: { code: 'SIMULATION_CHANGE_ILLEGAL' } }]);
    expect(await delegated()).toHaveLength(1);
    await keyturn.simulations.disable({ id, reason: 'A test.', signer: ada });
    expect(await delegated()).toEqual([]);
  });
});
