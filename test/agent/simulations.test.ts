import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Event, parseEvent } from '../../src/event/event.ts';
import { requireActivation } from '../../src/gate/simulation.ts';
import type { Result } from '../../src/keyturn.ts';
import { entriesAbout, objectOf } from '../support/ledger.ts';
import { writeRegistry } from '../support/project.ts';
import { expectRefusal } from '../support/refusal.ts';
import { agentPlace, askedFor, SIMULATIONS, writeSimulation, yes } from './agent-place.ts';

/** A status is a human's signed act. What is activated was checked, is bounded in time, and stays what it was. */

let now = Date.parse('2026-03-02T12:00:00.000Z');
const place = agentPlace(() => new Date(now));
const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

type Changed = Event<'simulation.changed'>;

const [NOTE] = SIMULATIONS as Record<string, unknown>[];
const fresh = (id: string, over: object = {}) => ({
  ...NOTE,
  id,
  summary: { en: `Handle ${id.replaceAll('.', ' ')} matters` },
  phrases: { en: [`handle ${id.replaceAll('.', ' ')} matters`] },
  ...over,
});

function written(id: string, over: object = {}) {
  const { ada, root } = place();
  writeSimulation(root, fresh(id, over));
  return { id, reason: 'A test.', signer: ada };
}

async function registered(id: string, over: object = {}) {
  const change = written(id, over);
  await place().keyturn.simulations.register(change);
  return change;
}

const listed = (id: string) => place().keyturn.simulations.get({ id });

describe('the first activation', () => {
  it('makes and enrols the key of the agent core, which only its owner reads', async () => {
    const { keyturn, root } = place();
    const path = join(root, '.keyturn', 'keys', 'agent-core.seed');
    expect(existsSync(path)).toBe(true);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const core = (await keyturn.people.list()).principals.find(({ name }) => name === 'agent-core');
    expect(core).toMatchObject({ kind: 'agent', status: 'active', enrolled_by: 'ada' });
  });
});

describe('an activation', () => {
  it('delegates exactly this version, for a bounded time; HIGH and irreversible ones approve nothing', async () => {
    const { keyturn } = place();
    const delegations = (await keyturn.agents.delegations()).delegations;
    const of = async (id: string) =>
      delegations.find((one) => one.delegation_id === delegationOf(id, delegations)?.delegation_id);
    expect(await of('note.add')).toMatchObject({
      delegate: 'agent-core',
      actions: ['tool:note', 'simulation:note.add@1'],
      approves: true,
      expires_at: new Date(now + 30 * DAY_MS).toISOString(),
    });
    expect(await of('archive.wipe')).toMatchObject({ approves: false });
    expect((await listed('diary.week')).registered).toMatchObject({ own_delegation: null });
  });

  it('renewed or taken back, ends what an earlier one delegated', async () => {
    const { keyturn } = place();
    const change = await registered('shelf.clean');
    await keyturn.simulations.activate(change);
    const first = (await listed('shelf.clean')).registered!.own_delegation;
    await keyturn.simulations.activate(change);
    const second = (await listed('shelf.clean')).registered!.own_delegation;
    await keyturn.simulations.deprecate(change);
    expect(await listed('shelf.clean')).toMatchObject({
      status: 'Deprecated',
      registered: { own_delegation: null },
    });
    const status = (id: string | null) => (delegations: { delegation_id: string; status: string }[]) =>
      delegations.find(({ delegation_id }) => delegation_id === id)?.status;
    const all = (await keyturn.agents.delegations()).delegations;
    expect([status(first)(all), status(second)(all)]).toEqual(['revoked', 'revoked']);
    expect(first).not.toBe(second);
  });

  it('keeps the proof of what was checked', async () => {
    const { keyturn } = place();
    const { proof, definition } = (await listed('note.add')).registered!;
    const checked = JSON.parse(Buffer.from(await objectOf(keyturn, proof)).toString());
    expect(checked).toMatchObject({
      simulation: 'note.add',
      definition,
      checked: { effect: 'the tool note', action: 'tool:note', rollback: 'note.remove@1' },
    });
  });

  it.each([
    ['a tool that is not registered', { effect: { tool: 'nothing' } }, 'TOOL_UNKNOWN'],
    [
      'an argument that the tool has not',
      { effect: { tool: 'say', arguments: { word: 'a', loud: 1 } } },
      'ARGUMENT_UNKNOWN',
    ],
    ['an argument that the tool misses', { effect: { tool: 'say' } }, 'ARGUMENT_MISSING'],
    ['a rollback that is not registered', { rollback_plan_ref: 'no.such' }, 'SIMULATION_NOT_REGISTERED'],
    ['a rollback that has steps', { rollback_plan_ref: 'diary.week' }, 'SIMULATION_INVALID'],
    [
      'a rollback that needs another field',
      { fields: {}, effect: { tool: 'say', arguments: { word: 'a' } } },
      'SIMULATION_INVALID',
    ],
    [
      'a step that is not active',
      { effect: undefined, steps: [{ simulation: 'lamp.dim' }] },
      'SIMULATION_NOT_REGISTERED',
    ],
  ] as const)('is refused with %s', async (what, over, code) => {
    const { keyturn } = place();
    const change = written(`bad.${what.replace(/[^a-z]/g, '')}`.slice(0, 60), over);
    await expectRefusal(code, () => keyturn.simulations.activate(change));
    // That a step is active is asked at the activation alone: all of them may be registered at once.
    if (!('steps' in over)) await expectRefusal(code, () => keyturn.simulations.register(change));
    expect(await listed(change.id)).toMatchObject({ status: 'Draft', registered: null });
  });

  it.each([0, -1, Number.NaN, 1e15, Number.POSITIVE_INFINITY, 90 * 86_400 + 1])(
    'for %d seconds is refused, with a delegation or without',
    async (ttl_s) => {
      const { keyturn, ada } = place();
      for (const id of ['note.add', 'diary.week'])
        await expectRefusal(Number.isFinite(ttl_s) ? 'TIME_MALFORMED' : 'JSON_BAD_NUMBER', () =>
          keyturn.simulations.activate({ id, reason: 'A test.', signer: ada, ttl_s }),
        );
    },
  );

  it('that outlives every delegation is refused by the ledger, whoever wrote it', async () => {
    const { keyturn } = place();
    const last = (await entriesAbout(keyturn, 'simulation:diary.week')).at(-1)!;
    const { kind, subject, body } = parseEvent(last) as Changed;
    const at = new Date(now).toISOString();
    const until = (days: number) => ({
      kind,
      subject,
      body: { ...body, expires_at: new Date(now + days * DAY_MS).toISOString() },
    });
    const authorities = { principal: () => null, delegation: () => null };
    expect(() => requireActivation(authorities, until(90), at)).not.toThrow();
    await expectRefusal('TIME_MALFORMED', () => requireActivation(authorities, until(91), at));
  });

  it.each([
    ['writes', { write: ['box'] }],
    ['has the network', { network: true }],
    ['has no sandbox', 'none'],
  ])('is refused for what calls itself harmless while its tool %s', async (what, sandbox) => {
    const { keyturn, root } = place();
    const tools = readFileSync(join(root, 'tools.yaml'), 'utf8');
    const reaching = {
      name: 'reach',
      summary: 'Reaches out.',
      executable: '/usr/bin/true',
      sandbox,
      undo: 'none',
    };
    writeRegistry(root, `${tools}  - ${JSON.stringify(reaching)}\n`);
    const harmless = { impactful: false, side_effecting: false, rollback_plan_ref: undefined, fields: {} };
    const id = `harmless.${what.replaceAll(' ', '')}`;
    const change = written(id, { ...harmless, effect: { tool: 'reach' } });
    const refusal = await expectRefusal('SIMULATION_INVALID', () => keyturn.simulations.activate(change));
    expect(refusal.facts.simulation).toBe(id);
    await expectRefusal('SIMULATION_INVALID', () => keyturn.simulations.register(change));
    const honest = { ...harmless, side_effecting: true, version: 2, effect: { tool: 'reach' } };
    await keyturn.simulations.activate(await registered(id, honest));
    expect(await listed(id)).toMatchObject({ status: 'Active', version: 2 });
    writeRegistry(root, tools);
  });

  it('is refused for a plan that calls itself harmless', async () => {
    const effect = { plan: { plan_id: 'quiet', action_plan: [] } };
    const harmless = { impactful: false, side_effecting: false, rollback_plan_ref: undefined, fields: {} };
    const change = written('plan.quiet', { ...harmless, effect });
    await expectRefusal('SIMULATION_INVALID', () => place().keyturn.simulations.activate(change));
  });

  it('is refused for what was changed since it was registered; a new version is registered by it', async () => {
    const { keyturn, root, ada } = place();
    const change = await registered('box.open');
    writeSimulation(root, fresh('box.open', { risk: 'LOW' }));
    await expectRefusal('SIMULATION_CHANGE_ILLEGAL', () => keyturn.simulations.activate(change));
    await expectRefusal('SIMULATION_CHANGE_ILLEGAL', () => keyturn.simulations.register(change));
    writeSimulation(root, fresh('box.open', { risk: 'LOW', version: 2 }));
    await keyturn.simulations.activate(change);
    expect(await listed('box.open')).toMatchObject({ status: 'Active', version: 2 });
    const unknown = { id: 'lamp.dim', reason: 'A test.', signer: ada };
    await expectRefusal('SIMULATION_NOT_REGISTERED', () =>
      keyturn.simulations.register({ ...unknown, id: 'no.file' }),
    );
    await expectRefusal('SIMULATION_NOT_REGISTERED', () =>
      keyturn.simulations.activate({ ...unknown, id: 'no.file' }),
    );
    await expectRefusal('SIMULATION_NOT_REGISTERED', () => keyturn.simulations.disable(unknown));
  });

  it('is a human act', async () => {
    const { keyturn, ada } = place();
    await keyturn.people.enrol({ name: 'robot', principal: 'agent', public_key: null, signer: ada });
    const change = { id: 'note.add', reason: 'A test.', signer: { ...ada, name: 'robot' } };
    for (const act of ['register', 'activate', 'deprecate', 'disable'] as const)
      await expectRefusal('NOT_HUMAN', () => keyturn.simulations[act](change));
  });
});

function delegationOf(id: string, delegations: Result<'agents.delegations'>['delegations']) {
  return delegations.find(
    ({ actions, status }) => status === 'active' && actions.includes(`simulation:${id}@1`),
  );
}

describe('a plan as effect', () => {
  it('makes its changes on a yes, and a human takes them back', async () => {
    const { keyturn, root, ada } = place();
    const change = await registered('readme.write', {
      effect: {
        plan: {
          plan_id: 'readme',
          action_plan: [
            {
              action_id: 'a1',
              action_type: 'FILE_CREATE',
              target: 'docs/{text}.md',
              operation: { type: 'create', content: 'About {text}.\n' },
            },
          ],
        },
      },
      rollback_plan_ref: 'plan:rollback',
    });
    await keyturn.simulations.activate(change);
    const prompt = await askedFor(keyturn, 'handle readme write matters "guide"');
    const done = await yes(keyturn, prompt);
    if (done.kind !== 'OUTCOME') throw new Error(JSON.stringify(done));
    expect(readFileSync(join(root, 'docs/guide.md'), 'utf8')).toBe('About guide.\n');
    const { correlation_id } = prompt;
    const { execution_id } = done.outcome.simulation_outcome!;
    const refusal = await expectRefusal('ROLLBACK_NOT_DUE', () =>
      keyturn.conversations.undo({ correlation_id, user_id: 'ada' }),
    );
    expect(refusal.facts.execution_id).toBe(execution_id);
    await keyturn.plans.rollback({ execution_id, reason: 'A test.', signer: ada });
    expect(existsSync(join(root, 'docs/guide.md'))).toBe(false);
    await expectRefusal('ROLLBACK_NOT_DUE', () =>
      keyturn.conversations.undo({ correlation_id, user_id: 'ada' }),
    );
  });
});

describe('the end of an activation', () => {
  it('comes by itself: what was active is not found, and does not run', async () => {
    const { keyturn, ada } = place();
    // A prompt that is still open when the activation ends.
    now += 30 * DAY_MS - 5 * MINUTE_MS;
    const prompt = await askedFor(keyturn, 'append a notebook line "late"');
    now += 10 * MINUTE_MS;
    expect(await listed('note.add')).toMatchObject({ status: 'Deprecated' });
    const answer = await keyturn.conversations.ask({
      user_id: 'ada',
      utterance: 'append a notebook line "later"',
    });
    expect(answer.kind).toBe('MISSING_SIMULATION');
    expect(await yes(keyturn, prompt)).toMatchObject({
      kind: 'REFUSED',
      reason_code: 'SIMULATION_NOT_ACTIVE',
    });
    await keyturn.simulations.activate({ id: 'note.add', reason: 'Again.', signer: ada, ttl_s: 3600 });
    expect((await listed('note.add')).registered).toMatchObject({
      expires_at: new Date(now + 3_600_000).toISOString(),
    });
    // What would undo it could not run.
    const utterance = 'append a notebook line "again"';
    expect(await keyturn.conversations.ask({ user_id: 'ada', utterance })).toMatchObject({
      kind: 'REFUSED',
      reason_code: 'ACTIVATION_DIFFERS',
      user_visible_text: expect.stringContaining('The activation of "note.remove" has expired.'),
    });
    await keyturn.simulations.activate({ id: 'note.remove', reason: 'Again.', signer: ada, ttl_s: 3600 });
    expect((await askedFor(keyturn, utterance)).kind).toBe('CONFIRM');
  });

  it('a revoked key of the agent core stops every dispatch', async () => {
    const { keyturn, ada, written } = place();
    const prompt = await askedFor(keyturn, 'append a notebook line "stolen"');
    await keyturn.people.revoke({ name: 'agent-core', reason: 'Stolen.', signer: ada });
    expect(await yes(keyturn, prompt)).toMatchObject({ kind: 'REFUSED', reason_code: 'KEY_REVOKED' });
    expect(written()).not.toContain('+ stolen');
    await expectRefusal('KEY_FILE_INVALID', () =>
      keyturn.simulations.activate({ id: 'note.add', reason: 'Again.', signer: ada }),
    );
  });
});
