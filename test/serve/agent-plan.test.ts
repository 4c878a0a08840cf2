import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Refusal } from '../../src/refusal.ts';
import { agent, authority } from '../journey/authority.ts';
import { headersOf } from '../mcp/stage.ts';
import { create, replace } from '../plan/written.ts';
import { expectRefusal } from '../support/refusal.ts';
import { call, type Service, service, session } from './service.ts';

const MARK = 'hunter42';
const FILES = {
  'private.txt': `db_password = ${MARK}\n`,
  'private.json': JSON.stringify({ db: { password: MARK } }),
  'private.yaml': `db:\n  password: ${MARK}\n`,
  '.env': `DB_PASSWORD=${MARK}\n`,
  '.git/config': `[remote "origin"]\n  url = https://x:${MARK}@example.org\n`,
};

function plant(root: string): void {
  for (const [path, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
}

const edit = (target: string, operation: object) => ({ ...replace('a1', target, 'x', 'y'), operation });
const search = (target: string, pattern: string, more = {}) =>
  edit(target, { type: 'text_replace', pattern, replacement: '', regex: true, ...more });
const planOf = (...actions: object[]) => ({ plan_id: 'x', action_plan: actions, execution_instructions: {} });
const drafted = (...actions: object[]) =>
  ({
    declared_goal: 'x',
    effect: { kind: 'plan', plan: planOf(...actions), config: null, task_id: 'x' },
  }) as never;

/** Each with a right and a wrong guess, both of which no file fits. */
const GUESSES: readonly (readonly [string, object, object])[] = [
  ...(['private.txt', '.env', '.git/config'] as const).map(
    (path) =>
      [
        `how often an expression matches in ${path}`,
        search(path, `${MARK.slice(0, 3)}`, { expected_matches: 99 }),
        search(path, 'wrong', { expected_matches: 99 }),
      ] as const,
  ),
  [
    'how often a text occurs',
    { ...replace('a1', 'private.txt', MARK, 'y'), operation: literal(MARK) },
    { ...replace('a1', 'private.txt', 'wrong', 'y'), operation: literal('wrong') },
  ],
  [
    'which keys a JSON file has',
    edit('private.json', { type: 'json_add_property', path: '$.db', key: 'password', value: 1 }),
    edit('private.json', { type: 'json_add_property', path: '$.dc', key: 'password', value: 1 }),
  ],
  [
    'which value a JSON file has',
    edit('private.json', { type: 'json_update_value', path: '$.db.password', value: MARK }),
    edit('private.json', { type: 'json_remove_property', path: '$.db', key: 'wrong' }),
  ],
  [
    'which value a YAML file has',
    edit('private.yaml', { type: 'yaml_update', path: 'db.password', value: MARK }),
    edit('private.yaml', { type: 'yaml_update', path: 'db.wrong', value: 1 }),
  ],
  [
    'how many lines a file has',
    edit('private.txt', { type: 'line_delete', start_line: 99, end_line: 99 }),
    edit('private.txt', { type: 'json_update_value', path: '$.a', value: 1 }),
  ],
];

const SOUND = { plan_id: 'x', actions: 1, checked: 'form', problems: [] };

function literal(pattern: string) {
  return { type: 'text_replace', pattern, replacement: 'y', expected_matches: 99 };
}

type Told = Readonly<Record<string, unknown>>;

/** What the model is told of a call over MCP. */
async function toldOver(s: Service, body: object): Promise<string> {
  const headers = { accept: 'application/json, text/event-stream', ...headersOf(body) };
  return (await call(s, '/mcp', { jsonrpc: '2.0', ...body }, { token: s.token, headers })).text;
}

/** All that the caller is told. */
async function toldOf(act: Promise<Told>): Promise<Told> {
  try {
    return await act;
  } catch (error) {
    const { code, message, facts } = error as Refusal;
    return { code, message, facts };
  }
}

describe('an agent is told nothing of what is in a file', () => {
  it('the face tells nothing', async () => {
    const p = await authority();
    plant(p.root);
    await agent(p, 'scout');
    const face = p.keyturn.as({ name: 'scout' });
    for (const [what, right, wrong] of GUESSES) {
      const one = await toldOf(face.intents.propose(drafted(right)));
      expect(one, what).toEqual(await toldOf(face.intents.propose(drafted(wrong))));
      expect(one, what).toMatchObject({ code: 'PLAN_UNFIT', facts: {} });
      for (const action of [right, wrong])
        expect(await face.plans.validate({ plan: JSON.stringify(planOf(action)) }), what).toEqual(SOUND);
    }
  });

  it('an answer over HTTP tells nothing', async () => {
    const s = await service();
    plant(s.root);
    const told = async (path: string, request: unknown) => {
      const { status, body } = await call(s, path, request, { token: s.token });
      return { ...body, status };
    };
    for (const [what, right, wrong] of GUESSES) {
      const one = await told('/v1/intents/propose', drafted(right));
      expect(one, what).toEqual(await told('/v1/intents/propose', drafted(wrong)));
      expect(one, what).toMatchObject({ code: 'PLAN_UNFIT' });
      for (const action of [right, wrong])
        expect(await told('/v1/plans/validate', { plan: JSON.stringify(planOf(action)) }), what).toEqual({
          ...SOUND,
          status: 200,
        });
    }
  });

  it('a result over MCP tells nothing', async () => {
    const s = await service();
    plant(s.root);
    const told = async (action: object) => {
      const name = 'keyturn_plan';
      const params = { name, arguments: { goal: 'x', plan: planOf(action) } };
      return toldOver(s, { id: 1, method: 'tools/call', params });
    };
    for (const [, right, wrong] of GUESSES) {
      const one = await told(right);
      expect(one).toBe(await told(wrong));
      expect(one).toContain('PLAN_UNFIT');
    }
  });

  it('also where an action that cannot be done follows the guess', async () => {
    const p = await authority();
    plant(p.root);
    await agent(p, 'scout');
    const face = p.keyturn.as({ name: 'scout' });
    const after = create('a2', 'private.json');
    for (const guess of [replace('a1', 'private.txt', MARK, 'y'), replace('a1', 'private.txt', 'wrong', 'y')])
      await expectRefusal('PLAN_UNFIT', () => face.intents.propose(drafted(guess, after)));
  });
});

describe('a plan of an agent', () => {
  it('is refused with the reason where that is the plan itself, or which paths exist', async () => {
    const p = await authority();
    plant(p.root);
    await agent(p, 'scout');
    const face = p.keyturn.as({ name: 'scout' });
    for (const [code, action] of [
      ['FILE_NOT_FOUND', replace('a1', 'nothing.txt', 'x', 'y')],
      ['FILE_EXISTS', create('a1', 'private.txt')],
      ['EDIT_PATTERN_INVALID', search('private.txt', '(')],
      ['EDIT_PATH_MALFORMED', edit('private.json', { type: 'json_update_value', path: '$[', value: 1 })],
    ] as const)
      await expectRefusal(code, () => face.intents.propose(drafted(action)));
    const { problems } = await face.plans.validate({
      plan: JSON.stringify(planOf(search('private.txt', '('))),
    });
    expect(problems).toMatchObject([{ code: 'EDIT_PATTERN_INVALID', pointer: '/action_plan/0' }]);
  });

  it('searches no protected file, under no other name either', async () => {
    const p = await authority();
    plant(p.root);
    await agent(p, 'scout');
    const face = p.keyturn.as({ name: 'scout' });
    const moved = { ...replace('a0', '.env', 'x', 'y'), action_type: 'FILE_RENAME' };
    const rename = { ...moved, operation: { type: 'rename', new_path: 'moved.txt' } };
    for (const actions of [[search('.env', MARK)], [rename, search('moved.txt', MARK)]])
      await expectRefusal('PLAN_UNFIT', () => face.intents.propose(drafted(...actions)));
    // A text that it knows is changed there, as a human sees it.
    await face.intents.propose(drafted(replace('a1', '.env', MARK, 'y')));
  });

  it('counts as a proposal where it is refused, too', async () => {
    const p = await authority();
    plant(p.root);
    await agent(p, 'scout');
    const face = p.keyturn.as({ name: 'scout' });
    const codes: unknown[] = [];
    for (let i = 0; i < 125; i += 1)
      codes.push(((await toldOf(face.intents.propose(drafted(search('.env', `wrong${i}`))))) as Told).code);
    expect(codes.slice(0, 120)).toEqual(Array(120).fill('PLAN_UNFIT'));
    expect(codes.slice(120)).toEqual(Array(5).fill('PROPOSALS_LIMITED'));
  });
});

describe('a human is told', () => {
  it('where a plan does not fit, in the library and over HTTP', async () => {
    const s = await service();
    plant(s.root);
    const cookie = await session(s);
    const action = search('private.txt', MARK, { expected_matches: 99 });
    const plan = JSON.stringify(planOf(action));
    const expected = { checked: 'files', problems: [{ code: 'EDIT_MATCH_COUNT' }] };
    expect(await s.keyturn.plans.validate({ plan })).toMatchObject(expected);
    expect((await call(s, '/v1/plans/validate', { plan }, { cookie })).body).toMatchObject(expected);
    await expectRefusal('EDIT_MATCH_COUNT', () =>
      s.keyturn.intents.propose({ ...(drafted(action) as object), issuer: 'bot' } as never),
    );
  });
});
