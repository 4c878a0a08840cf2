import { beforeAll, describe, expect, it } from 'vitest';
import { textWidth } from '../../src/cli/fold.ts';
import { Keyturn } from '../../src/keyturn.ts';
import { freshSigner } from '../support/keys.ts';
import { inTerminal } from '../support/pty.ts';
import { agentScene } from './agent-scene.ts';

const { place, run } = agentScene();
const GOAL = 'A goal that is longer than the room which a terminal of eighty columns leaves for it.';
const LONG_ID = `talk-${'x'.repeat(100)}`;
let id: string;

beforeAll(async () => {
  const { keyturn, ada } = place();
  const { public_key } = freshSigner('scout');
  await keyturn.people.enrol({ name: 'scout', principal: 'agent', public_key, signer: ada });
  const { digest } = Keyturn.makeToken('scout');
  const reason = 'for a test';
  await keyturn.agents.addToken({ name: 'scout', digest, reason, signer: ada });
  const actions = ['tool:note', 'tool:say', 'tool:fail', 'tool:wait'];
  await keyturn.agents.delegate({ delegate: 'scout', actions, ttl_s: 600, reason, signer: ada });
  const effect = { kind: 'tool' as const, tool: 'say', arguments: { word: 'hello' } };
  ({ intent_id: id } = await keyturn.intents.propose({ issuer: 'scout', declared_goal: GOAL, effect }));
  for (const correlation_id of ['talk-again', 'talk-again-2'])
    await keyturn.conversations.ask({ user_id: 'ada', utterance: 'append a notebook line', correlation_id });
  await keyturn.conversations.ask({ user_id: 'ada', utterance: 'paint the garden fence blue' });
});

/** What a command prints on a terminal of this width, line by line. */
async function shown(words: readonly string[], columns: number, answer?: string): Promise<string[]> {
  const session = inTerminal(words, { cwd: place().root, env: { NO_COLOR: '1' }, columns, rows: 500 });
  if (answer !== undefined) {
    await session.expect(' (y/n) ');
    session.type(answer);
  }
  const code = await session.exited;
  expect({ code, thrown: /\n\s+at /.test(session.text) }, session.text).toEqual({
    code: answer === undefined ? 0 : 1,
    thrown: false,
  });
  return session.text.trimEnd().split('\n');
}

/** The characters without what a fold adds and what columns are filled with. */
const bare = (text: string) => text.replaceAll(/[\s↪]/g, '');

describe('on a terminal of 80 columns', () => {
  it.each([
    'identity list',
    'credential list',
    'delegation list',
    'token list',
    'control list',
    'executor list',
    'mcp list',
    'tool list',
  ])('%s fits, and nothing of it is cut', async (command) => {
    const words = command.split(' ');
    const lines = await shown(words, 80);
    for (const line of lines) expect(line.length, line).toBeLessThanOrEqual(80);
    const [head = '', ...rows] = (await run(...words)).stdout.trimEnd().split('\n');
    for (const cell of [head, ...rows].flatMap((row) => row.split(/ {2,}/)))
      expect(bare(lines.join('')), cell).toContain(bare(cell));
  });

  it.each([
    ['list', 1],
    ['runs', 1],
    ['capabilities', 1],
    ['agent list', 1],
    ['explain', 1],
    ['simulation list', 2],
    ['intake list', 2],
  ])('%s fits, with as many lines for each: %i', async (command, each) => {
    const words = command.split(' ');
    const lines = await shown(words, 80);
    for (const line of lines) expect(line.length, line).toBeLessThanOrEqual(80);
    const rows = (await run(...words)).stdout.trimEnd().split('\n');
    expect(lines).toHaveLength(each * rows.length);
  });

  it('a list of conversations has the goal, the age and ids that can be typed', async () => {
    const [head, ...rows] = await shown(['agent', 'list'], 80);
    expect(head).toMatch(/^ID +STATUS +AGE +SIMULATION +FOR +GOAL$/);
    expect(rows).toHaveLength(3);
    expect(rows[0]).toMatch(/^[0-9a-f]{8} +\S+ +\d+[smhd] +- +ada +paint the garden fence/);
    expect(rows[1]).toMatch(/^talk-again- {2}WAITING_CLARIFY/);
    expect(rows[2]).toMatch(/^talk-again +WAITING_CLARIFY +\d+[smhd] +- +ada +append a notebook/);
    const story = await run('agent', 'status', 'talk-again-');
    expect(story.stdout).toContain('Conversation: talk-again-2 of ada');
    expect((await run('agent', 'status', 'talk-again')).stdout).toContain('Conversation: talk-again of ada');
  });

  it('the ledger shows a conversation by the beginning of its id', async () => {
    const { stdout, code } = await run('ledger', 'show', 'talk-again-');
    expect(code).toBe(0);
    expect(stdout).toContain('agent:talk-again-2');
    expect((await run('ledger', 'show', 'talk-aga')).stderr).toContain('ID_AMBIGUOUS');
    expect((await run('ledger', 'show', 'talk-none')).stderr).toContain('INTENT_NOT_FOUND');
    expect((await run('ledger', 'show', 'x'.repeat(200))).stderr).toContain('INTENT_NOT_FOUND');
  });

  it('an id that leaves no room for a row takes several lines, all of them narrow enough', async () => {
    const { keyturn } = place();
    for (const end of ['a', 'b'])
      await keyturn.conversations.ask({
        user_id: 'ada',
        utterance: 'append a notebook line',
        correlation_id: `${LONG_ID}${end}`,
      });
    const lines = await shown(['agent', 'list'], 80);
    for (const line of lines) expect(line.length, line).toBeLessThanOrEqual(80);
    for (const end of ['a', 'b']) expect(bare(lines.join(''))).toContain(`${LONG_ID}${end}`);
  });
});

describe.each([80, 40])('on a terminal of %i columns', (columns) => {
  it.each([
    'status',
    'list',
    'show',
    'runs',
    'explain',
    'explain TOOL_UNKNOWN',
    'explain TOOL_UNKNWON',
    'propose --tool nothing --by scout --goal x',
    'doctor',
    'tool list',
    'tool lint',
    'policy check',
    'policy diff',
    'identity list',
    'credential list',
    'agent list',
    'simulation list',
    'intake list',
    'ledger show',
    'ledger verify',
    'hook status',
    'gc --preview',
  ])('%s cuts no word that a row has room for', async (command) => {
    const words = command === 'show' ? [command, id] : command.split(' ');
    const session = inTerminal(words, { cwd: place().root, env: { NO_COLOR: '1' }, columns, rows: 500 });
    await session.exited;
    const rows = session.text.replaceAll('\r', '').trimEnd().split('\n');
    for (const [i, row] of rows.entries()) {
      // The terminal itself wraps such a row: that cuts a word, unless it is a command to copy or one value alone.
      if (row.length > columns) expect(row).toMatch(/(^|: +)keyturn |^([\w ]+:)? *\S+$/);
      const next = /^ *(?:│ )?↪ (.*)$/.exec(rows[i + 1] ?? '');
      if (!next || /\s$/.test(row) || next[1]!.startsWith(' ')) continue;
      const word = `${/\S*$/.exec(row)![0]}${/^\S*/.exec(next[1]!)![0]}`;
      expect(word.length, `${row}\n${rows[i + 1]}`).toBeGreaterThan(columns / 2);
    }
  });
});

describe('on a terminal of 20 columns', () => {
  it.each([['status'], ['list'], ['show']])('%s says everything', async (command) => {
    const words = command === 'show' ? [command, id] : [command];
    const text = bare((await shown(words, 20)).join(''));
    expect(text).toContain(bare(GOAL));
    const wide = (await run(...words)).stdout.trimEnd().split('\n');
    if (command === 'show') for (const line of wide) expect(text, line).toContain(bare(line));
  });

  it('turn shows all that is decided on before it asks', async () => {
    const text = bare((await shown(['turn', id.slice(0, 8)], 20, 'n')).join(''));
    for (const words of [GOAL, id, '/usr/bin/printf %s hello', 'Asked by', 'NO UNDO'])
      expect(text).toContain(bare(words));
  });
});

describe.each([20, 30, 60, 79, 90])('on a terminal of %i columns no row goes beyond the edge', (columns) => {
  /** A command to copy stays whole, and behind a question stands what was typed. */
  const requireNarrow = (rows: readonly string[]) => {
    for (const row of rows.map((one) => one.replaceAll('\r', ''))) {
      if (!/(^|: +)keyturn |\(y\/n\)/.test(row)) expect(textWidth(row), row).toBeLessThanOrEqual(columns);
      expect(row).not.toMatch(/^ *↪ *$/);
    }
  };

  it.each(['show', 'list', 'status'])('%s', async (command) => {
    requireNarrow(await shown(command === 'show' ? [command, id] : [command], columns));
  });

  it('turn, before it asks', async () => {
    requireNarrow(await shown(['turn', id.slice(0, 8)], columns, 'n'));
  });
});
