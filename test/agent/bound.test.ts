import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { sha256 } from '../../src/canonical/digest.ts';
import { differences, effectDiffers, openBound } from '../../src/journey/bound.ts';
import { grant } from '../../src/journey/grant.ts';
import { run } from '../../src/journey/run.ts';
import { submit } from '../../src/journey/submit.ts';
import { objectOf } from '../support/ledger.ts';
import { writeRegistry } from '../support/project.ts';
import { expectRefusal } from '../support/refusal.ts';
import { agentPlace, askedFor, SIMULATIONS, writeSimulation, yes } from './agent-place.ts';
import { asCore } from './by-hand.ts';

/** What an activation binds, and what it does not. */

const place = agentPlace();
const tools = () => readFileSync(join(place().root, 'tools.yaml'), 'utf8');
let before: string | null = null;

function registry(text: string): void {
  before ??= tools();
  writeRegistry(place().root, text);
}

afterEach(() => {
  if (before !== null) writeRegistry(place().root, before);
  before = null;
});

const [NOTE] = SIMULATIONS as Record<string, unknown>[];
const change = (id: string) => ({ id, reason: 'A test.', signer: place().ada });

function simulationFile(id: string, over: object): ReturnType<typeof change> {
  const phrase = `handle ${id.replaceAll('.', ' ')} matters`;
  writeSimulation(place().root, { ...NOTE, id, summary: { en: phrase }, phrases: { en: [phrase] }, ...over });
  return change(id);
}

async function registered(id: string, over: object): Promise<ReturnType<typeof change>> {
  simulationFile(id, over);
  await place().keyturn.simulations.register(change(id));
  return change(id);
}

const boundOf = async (id: string) => {
  const { bound } = (await place().keyturn.simulations.get({ id })).registered!;
  return openBound(await objectOf(place().keyturn, bound!));
};

describe('differences', () => {
  it.each([
    [{ a: 1 }, { a: 1 }, []],
    [{ a: { b: [1, { c: 2 }] } }, { a: { b: [1, { c: 3 }] } }, ['a.b[1].c']],
    [{ a: [1, 2] }, { a: [1] }, ['a']],
    [{ a: 1 }, { b: 1 }, ['a', 'b']],
    [{ a: 'none' }, { a: { network: true } }, ['a']],
    [null, { a: 1 }, ['']],
  ])('of %j and %j are %j', (one, other, found) => {
    expect(differences(one, other)).toEqual(found);
  });

  it('are named up to a number that a person reads', () => {
    const many = (value: number) => Object.fromEntries(Array.from('abcdefghijkl', (key) => [key, value]));
    expect(differences(many(1), many(2))).toEqual([...'abcdefgh', 'and 4 more']);
  });
});

describe('what an activation binds', () => {
  it('is stored whole: programs with their digests, sandbox, limits, template and undo', async () => {
    const bound = await boundOf('note.add');
    expect(bound).toMatchObject({
      format: 'keyturn-bound/1',
      simulation: 'note.add',
      version: 1,
      effect: {
        kind: 'tool' as const,
        tool: 'note',
        args: ['{text}'],
        sandbox: { network: false, write: [join(place().root, 'box')] },
        limits: { processes: 256 },
        definition_digest: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
      steps: [],
      undone_by: { simulation: 'note.remove', version: 1, effect: { tool: 'note' } },
    });
    const programs = (bound.effect as { executables: { path: string; sha256: string }[] }).executables;
    expect(programs[0]!.path).toBe(join(place().root, 'note.sh'));
    for (const { sha256 } of programs) expect(sha256).toMatch(/^[0-9a-f]{64}$/);
    expect((await boundOf('diary.week')).steps.map(({ simulation }) => simulation)).toEqual([
      'note.add',
      'hello.show',
      'note.add',
    ]);
  });

  it('is not held up by a tool that it does not use', async () => {
    const { keyturn } = place();
    registry(tools().replace('summary: Waits.', 'summary: Waits longer.'));
    const answer = await keyturn.conversations.ask({ user_id: 'ada', utterance: 'greet everybody kindly' });
    expect(answer.kind).toBe('OUTCOME');
  });

  it('is looked at again by `get`, which names what differs', async () => {
    const { keyturn } = place();
    expect(await keyturn.simulations.get({ id: 'lamp.dim' })).toMatchObject({
      registered: null,
      differs: [],
    });
    expect(await keyturn.simulations.get({ id: 'hello.show' })).toMatchObject({ differs: [] });
    registry(tools().replace('args: ["%s", "{word}"]', 'args: ["%s%s", "{word}", "!"]'));
    expect((await keyturn.simulations.get({ id: 'hello.show' })).differs).toContain('effect.args');
    registry(tools().replace('/usr/bin/printf', '/usr/bin/no-such-program'));
    const gone = await keyturn.simulations.get({ id: 'hello.show' });
    expect(gone).toMatchObject({ differs: [expect.stringContaining('no-such-program')] });
  });

  it('of a template is what its steps were: another activation of a step needs one of the template', async () => {
    const { keyturn } = place();
    await keyturn.simulations.activate(
      await registered('word.say', {
        impactful: false,
        rollback_plan_ref: undefined,
        fields: {},
        effect: { tool: 'say', arguments: { word: 'one' } },
      }),
    );
    const template = await registered('word.chain', {
      impactful: false,
      rollback_plan_ref: undefined,
      fields: {},
      effect: undefined,
      steps: [{ simulation: 'word.say' }],
    });
    await keyturn.simulations.activate(template);
    await keyturn.simulations.activate(
      await registered('word.say', {
        version: 2,
        impactful: false,
        rollback_plan_ref: undefined,
        fields: {},
        effect: { tool: 'say', arguments: { word: 'two' } },
      }),
    );
    const ask = { user_id: 'ada', utterance: 'handle word chain matters' };
    expect(await keyturn.conversations.ask(ask)).toMatchObject({
      kind: 'REFUSED',
      reason_code: 'ACTIVATION_DIFFERS',
      user_visible_text: expect.stringContaining('steps[0].version'),
    });
    await keyturn.simulations.activate(template);
    expect((await keyturn.conversations.ask(ask)).kind).toBe('CONFIRM');
  });

  it('does not keep an undo from running when what would undo the undo is gone', async () => {
    const { keyturn, written } = place();
    await keyturn.simulations.activate(
      await registered('page.strike', {
        rollback_plan_ref: 'note.add',
        effect: { tool: 'note', arguments: { text: 'struck {text}' } },
      }),
    );
    await keyturn.simulations.activate(
      await registered('page.add', {
        rollback_plan_ref: 'page.strike',
        effect: { tool: 'note', arguments: { text: 'page {text}' } },
      }),
    );
    await keyturn.simulations.activate(
      await registered('page.strike', {
        version: 2,
        rollback_plan_ref: 'page.add',
        effect: { tool: 'note', arguments: { text: 'struck {text}' } },
      }),
    );
    await keyturn.simulations.activate(change('page.add'));
    const prompt = await askedFor(keyturn, 'handle page add matters "one"');
    expect((await yes(keyturn, prompt)).kind).toBe('OUTCOME');
    await keyturn.simulations.disable(change('page.add'));
    const { correlation_id } = prompt;
    const undo = await keyturn.conversations.undo({ correlation_id, user_id: 'ada' });
    if (undo.kind !== 'CONFIRM') throw new Error(JSON.stringify(undo));
    expect((await yes(keyturn, undo)).kind).toBe('OUTCOME');
    expect(written()).toContain('struck one');
    await keyturn.conversations.replay({ correlation_id });
  });
});

describe('an activation is refused', () => {
  const plan = (action: object) => ({
    plan: { plan_id: 'any', action_plan: [{ action_id: 'a', ...action }] },
  });
  it.each([
    ['an action', { action_type: '{text}', target: 'a', operation: {} }],
    ['a pipeline', { action_type: 'PIPELINE_RUN', target: '{text}', operation: {} }],
    ['a file of SQL', { action_type: 'SQL_EXECUTE', target: 'a', operation: { query_file: '{text}.sql' } }],
    [
      'a file of SQL under details',
      { action_type: 'SQL_EXECUTE', target: 'a', operation: { details: { query_file: '{text}.sql' } } },
    ],
  ])('where a user would choose %s', async (what, action) => {
    const id = `choose.${what.replace(/[^a-z]/gi, '').toLowerCase()}`;
    const request = simulationFile(id, { effect: plan(action), rollback_plan_ref: 'plan:rollback' });
    const { simulations } = place().keyturn;
    await expectRefusal('SIMULATION_INVALID', () => simulations.register(request));
    await expectRefusal('SIMULATION_INVALID', () => simulations.activate(request));
  });

  it.each([
    ['pipeline', 'TOOL_UNKNOWN', { action_type: 'PIPELINE_RUN', target: 'none', operation: {} }],
    [
      'query',
      'FILE_NOT_FOUND',
      { action_type: 'SQL_EXECUTE', target: 'a', operation: { query_file: 'none.sql' } },
    ],
  ])('where what a plan runs is not there: %s', async (id, code, action) => {
    const request = await registered(`gone.${id}`, {
      effect: plan(action),
      rollback_plan_ref: 'plan:rollback',
    });
    await expectRefusal(code as 'TOOL_UNKNOWN', () => place().keyturn.simulations.activate(request));
  });
});

describe('a content file of a simulation', () => {
  const effect = {
    plan: {
      plan_id: 'copy',
      action_plan: [
        {
          action_id: 'copy',
          action_type: 'FILE_CREATE',
          target: 'box/copy',
          operation: { type: 'create', content_file: 'model' },
        },
        {
          action_id: 'say',
          action_type: 'PIPELINE_RUN',
          target: 'greeting',
          operation: { type: 'run', pipeline: 'greeting' },
          depends_on: ['copy'],
        },
      ],
    },
  };
  const GREETING =
    'pipelines:\n  - { name: greeting, summary: Greets., steps: [{ tool: say, arguments: { word: hello } }] }\n';
  const copy = (id: string, content_file = 'model') =>
    registered(id, {
      fields: {},
      effect: JSON.parse(JSON.stringify(effect).replace('"model"', JSON.stringify(content_file))),
      rollback_plan_ref: 'plan:rollback',
    });

  it('is bound by its digest: it runs as it was activated, with a pipeline after it, or not at all', async () => {
    const { root, keyturn } = place();
    registry(tools() + GREETING);
    writeFileSync(join(root, 'model'), 'one\n');
    const request = await copy('page.copy');
    const { sections } = await keyturn.simulations.bound({ id: 'page.copy' });
    const shown = JSON.stringify(sections);
    expect(shown).toContain(sha256(Buffer.from('one\n')));
    expect(shown).toContain('content_file');
    await keyturn.simulations.activate(request);
    const ask = { user_id: 'ada', utterance: 'handle page copy matters' };
    const prompt = await askedFor(keyturn, ask.utterance);
    writeFileSync(join(root, 'model'), 'two\n');
    expect(await yes(keyturn, prompt)).toMatchObject({ kind: 'REFUSED', reason_code: 'ACTIVATION_DIFFERS' });
    expect(await keyturn.conversations.ask(ask)).toMatchObject({
      kind: 'REFUSED',
      user_visible_text: expect.stringContaining('files[0].sha256'),
    });
    expect(existsSync(join(root, 'box', 'copy'))).toBe(false);
    writeFileSync(join(root, 'model'), 'one\n');
    const again = await askedFor(keyturn, ask.utterance);
    expect(await yes(keyturn, again)).toMatchObject({ kind: 'OUTCOME', plan_state: 'COMPLETED' });
    expect(readFileSync(join(root, 'box', 'copy'), 'utf8')).toBe('one\n');
  });

  it.each([
    ['is missing', 'nothing', 'FILE_NOT_FOUND'],
    ['is a folder', 'box', 'FILE_NOT_REGULAR'],
    ['is chosen by a user', '{text}', 'FILE_NOT_FOUND'],
  ] as const)('that %s cannot be activated', async (what, path, code) => {
    registry(tools() + GREETING);
    const id = `page.${what.replaceAll(' ', '')}`;
    const request = await registered(id, {
      effect: JSON.parse(JSON.stringify(effect).replace('"model"', JSON.stringify(path))),
      rollback_plan_ref: 'plan:rollback',
    });
    await expectRefusal(code, () => place().keyturn.simulations.activate(request));
  });
});

describe('an effect', () => {
  it('of another kind than was activated is another one', async () => {
    const { effect } = await boundOf('note.add');
    expect(effectDiffers(effect!, { kind: 'plan' as const } as never)).toEqual(['kind']);
    const bound = { kind: 'plan' as const, plan: {}, config: null, pipelines: [], files: [] } as const;
    expect(effectDiffers(bound, { kind: 'tool' as const } as never)).toEqual(['kind']);
  });

  it('of a plan that runs or reads what was not activated is another one', () => {
    const bound = { kind: 'plan' as const, plan: {}, config: null, pipelines: [], files: [] } as const;
    const sql = { action_type: 'SQL_EXECUTE', operation: { query_file: 'a.sql' }, changes: [], steps: [] };
    const runs = { action_type: 'PIPELINE_RUN', target: 'nightly', operation: {}, changes: [], steps: ['x'] };
    const effect = { kind: 'plan' as const, actions: [sql, runs] } as never;
    expect(effectDiffers(bound, effect)).toEqual(['files.a.sql', 'pipelines.nightly']);
  });
});

describe('the delegation of an activation', () => {
  it('serves a conversation and nothing else, also for whoever holds the key of the core', async () => {
    const { keyturn, root, written } = place();
    const listed = await keyturn.simulations.get({ id: 'note.add' });
    const delegation = listed.registered!.own_delegation!;
    const draft = {
      issuer: 'ada',
      declared_goal: 'Another text than any user gave.',
      requested_actions: ['tool:note', 'simulation:note.add@1'],
      effect: { kind: 'tool' as const, tool: 'note', arguments: { text: 'past the conversation' } },
    };
    const { intent_id, hash } = await keyturn.intents.propose(draft);
    await asCore(root, async (context, signer) => {
      await submit(context, { intent_id, hash, signer, delegation });
      const { seen } = await grant(context, {
        intent_id,
        hash,
        signer,
        delegation,
        action: 'tool:note',
        ttl_s: 60,
      });
      await expectRefusal('AGENT_TRANSITION_ILLEGAL', () => run(context, { intent_id, hash, seen }));
    });
    expect(written()).not.toContain('past the conversation');
  });
});
