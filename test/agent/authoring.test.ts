import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { scaffoldOf } from '../../src/agent/scaffold.ts';
import { parseSimulation } from '../../src/finder/simulation.ts';
import { loadRegistry } from '../../src/tool/registry.ts';
import { expectRefusal } from '../support/refusal.ts';
import { writeRegistry } from '../support/registry.ts';
import { scratch } from '../support/scratch.ts';
import { agentPlace, SIMULATIONS, writeSimulation } from './agent-place.ts';

/** What an author sees before a human signs: words tried, all faults at once, and what would change for users. */

const place = agentPlace(() => new Date('2026-03-02T12:00:00.000Z'));
const [NOTE] = SIMULATIONS as Record<string, unknown>[];
const write = (over: object) => writeSimulation(place().root, { ...NOTE, ...over });
const lantern = (over: object = {}) => ({
  id: 'lantern.light',
  summary: { en: 'Light the lantern' },
  phrases: { en: ['light the lantern', 'kindle a lantern'] },
  words: undefined,
  fields: {},
  impactful: false,
  rollback_plan_ref: undefined,
  effect: { tool: 'say', arguments: { word: 'light' } },
  ...over,
});

describe('words that are tried', () => {
  it('show the packet, the kind of saying, the candidates and what is not accounted for; nothing is recorded', async () => {
    const { keyturn } = place();
    write(lantern());
    const before = (await keyturn.ledger.head()).size;
    const tried = await keyturn.simulations.try({ utterance: 'light the lantern' });
    expect(tried.packet).toMatchObject({ kind: 'SIMULATION_MATCH', simulation_id: 'lantern.light' });
    expect(tried.candidates[0]).toMatchObject({ simulation: 'lantern.light', status: 'Draft' });
    expect(tried).toMatchObject({ is_accounted: true, strangers: [], language: 'en' });
    expect(tried.clauses).toEqual([{ text: 'light the lantern', kinds: [] }]);
    const told = await keyturn.simulations.try({ utterance: 'never light the lantern with petrol' });
    expect(told.packet.kind).not.toBe('SIMULATION_MATCH');
    expect(told.clauses[0]!.kinds).toContain('denial');
    expect(told.strangers).toContain('petrol');
    expect((await keyturn.ledger.head()).size).toBe(before);
    expect((await keyturn.conversations.list()).conversations).toEqual([]);
  });
});

describe('a check', () => {
  it('lists every fault at once, and registering refuses with all of them and uses up no version', async () => {
    const { keyturn, ada } = place();
    const { en } = (NOTE as { phrases: { en: string[] } }).phrases;
    write(
      lantern({
        id: 'lantern.broken',
        summary: { en: 'Break the lantern' },
        phrases: { en: ['break the lantern', en[0]] },
        rollback_plan_ref: 'no.such',
        effect: { tool: 'say', arguments: { loud: true } },
      }),
    );
    const { faults } = await keyturn.simulations.check({ id: 'lantern.broken' });
    expect(faults.map(({ code }) => code).sort()).toEqual([
      'ARGUMENT_MISSING',
      'ARGUMENT_UNKNOWN',
      'SIMULATION_INVALID',
      'SIMULATION_NOT_REGISTERED',
    ]);
    expect(faults.find(({ code }) => code === 'SIMULATION_INVALID')!.message).toContain('note.add');
    const change = { id: 'lantern.broken', reason: 'A test.', signer: ada };
    const refusal = await expectRefusal('SIMULATION_INVALID', () => keyturn.simulations.register(change));
    for (const { message } of faults) expect(refusal.message).toContain(message);
    expect((await keyturn.simulations.get({ id: 'lantern.broken' })).registered).toBe(null);
    write(lantern({ id: 'lantern.broken', summary: { en: 'Mend it at last' }, phrases: {} }));
    await keyturn.simulations.register(change);
    expect((await keyturn.simulations.get({ id: 'lantern.broken' })).registered_version).toBe(1);
  });

  it('tells of every key that is wrong in a file, each with its line', () => {
    const text = 'id: a\nversion: 0\nfamily: x\nsummary: { de: nur }\nrisk: LITTLE\n';
    try {
      parseSimulation('a.yaml', text);
      expect.unreachable();
    } catch (error) {
      const { message } = error as Error;
      for (const line of ['line 2: version', 'line 4: summary', 'line 5: risk'])
        expect(message).toContain(line);
    }
  });

  it('reports the phrases and the past goals that would lead elsewhere', async () => {
    const { keyturn } = place();
    await keyturn.conversations.ask({ user_id: 'mia', utterance: 'polish the brass bell' });
    write(
      lantern({
        id: 'bell.polish',
        summary: { en: 'Polish the brass bell' },
        phrases: { en: ['polish the brass bell'] },
      }),
    );
    const { changes, faults } = await keyturn.simulations.check({ id: 'bell.polish' });
    expect(faults).toEqual([]);
    expect(changes).toContainEqual({
      ...{ text: 'polish the brass bell', language: null, source: 'goal' },
      ...{ before: null, after: 'bell.polish' },
    });
    const { changes: none } = await keyturn.simulations.check({ id: 'note.add' });
    expect(none).toEqual([]);
  });
});

describe('a scaffold', () => {
  it('of a tool can be registered as it is, and activating it registers it', async () => {
    const { keyturn, ada, root } = place();
    const { id, text } = await keyturn.simulations.scaffold({ tool: 'say', id: 'word.say' });
    expect(id).toBe('word.say');
    writeSimulation(root, parseSimulation('word.say.yaml', text));
    expect((await keyturn.simulations.check({ id })).faults).toEqual([]);
    const changed = await keyturn.simulations.activate({ id, reason: 'A test.', signer: ada });
    expect(changed).toMatchObject({ simulation: id, status: 'Active', version: 1 });
    expect(await keyturn.ledger.verify({ deep: true })).toMatchObject({ deep: true });
    await expectRefusal('TOOL_UNKNOWN', () => keyturn.simulations.scaffold({ tool: 'no-such' }));
    for (const id of ['../../x', '', 'Say', 'say: 1\nrisk: LOW', '.hidden', 'x'.repeat(65)])
      await expectRefusal('SIMULATION_INVALID', () => keyturn.simulations.scaffold({ tool: 'say', id }));
    const { text: numbered } = await keyturn.simulations.scaffold({ tool: 'say', id: '007' });
    expect(parseSimulation('007.yaml', numbered)).toMatchObject({ id: '007', access_action: '007' });
  });

  it('says that it cannot be undone where the tool changes something and has no undo', () => {
    const path = join(scratch(), 'tools.yaml');
    const tool = (name: string, sandbox: unknown, undo: string) => ({
      ...{ name, summary: 'A tool.', executable: '/usr/bin/true', sandbox, undo },
    });
    writeRegistry(path, {
      version: 1,
      tools: [
        tool('backup', { write: ['/srv'] }, 'none'),
        tool('bare', 'none', 'none'),
        tool('note', { write: ['/srv'] }, 'compensating'),
        tool('look', {}, 'none'),
      ],
    });
    const registry = loadRegistry(path);
    const made = ['backup', 'bare', 'note', 'look'].map((name) => {
      const { side_effecting, irreversible } = parseSimulation(name, scaffoldOf(registry, name).text);
      return { side_effecting, irreversible };
    });
    expect(made).toEqual([
      { side_effecting: true, irreversible: true },
      { side_effecting: true, irreversible: true },
      { side_effecting: true, irreversible: false },
      { side_effecting: false, irreversible: false },
    ]);
    expect(scaffoldOf(registry, 'backup').text).toContain(
      'side_effecting: true  # the tool may write files\n',
    );
  });
});
