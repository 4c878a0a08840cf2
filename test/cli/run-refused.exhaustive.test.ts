import {
  appendFileSync,
  chmodSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

import type { ReasonCode } from '../../src/refusal.ts';

import { keyturn } from '../support/pty.ts';
import { readRegistry, runs, TOOL, writeRegistry } from '../support/registry.ts';
import { scratch } from '../support/scratch.ts';

import { changeTool } from './doubt.ts';
import { SOME_HASH, UNKNOWN_ID } from './project.ts';
import {
  executed,
  expectRefused,
  INVALID,
  NOT_APPROVED,
  NOT_ORDERED,
  notEligible,
  OTHER,
  precondition,
  refused,
} from './refused.ts';
import {
  alone,
  answering,
  DAY_S,
  inTurn,
  ledgerOf,
  type Play,
  play,
  rowsOf,
  saysYes,
  stages,
  storeOf,
} from './stage.ts';

const stage = stages();

describe('the preconditions of 001', () => {
  it('an intent that is not eligible prints [ERROR] Execution not eligible and starts nothing', async () => {
    const set = await stage();
    await refused(set, NOT_APPROVED, 'HASH_MISMATCH', ['run', set.id, SOME_HASH]);
    await refused(set, NOT_APPROVED, 'INTENT_NOT_FOUND', ['run', UNKNOWN_ID, set.hash]);
    await play(set);
    await refused(set, await executed(set), 'ALREADY_EXECUTED');
    const cases: [Play, string, ReasonCode][] = [
      [{ verdict: 'none' }, NOT_APPROVED, 'APPROVAL_MISSING'],
      [{ verdict: 'approved' }, NOT_ORDERED, 'ORDER_MISSING'],
      [{ age_s: 600 }, NOT_ORDERED, 'ORDER_LAPSED'],
      [{ verdict: 'rejected' }, NOT_APPROVED, 'INTENT_REJECTED'],
      [{ age_s: 2 * DAY_S }, NOT_APPROVED, 'INTENT_EXPIRED'],
      [{ age_s: DAY_S / 8 }, NOT_APPROVED, 'APPROVAL_EXPIRED'],
      [{ age_s: -DAY_S }, notEligible('[ERROR] Verification tool error'), 'CLOCK_BEHIND'],
    ];
    await inTurn(cases, async ([how, stdout, code]) => refused(await stage(how), stdout, code));
    const nowhere = await keyturn(['run', UNKNOWN_ID, SOME_HASH], { cwd: scratch() });
    expectRefused(nowhere, notEligible('[ERROR] Execution verification tool not found'), 'PROJECT_MISSING');
    const broken = await stage();
    writeFileSync(storeOf(broken), 'not a store');
    expectRefused(await alone(broken), notEligible('[ERROR] Verification tool error'), 'STORE_CORRUPT');
    expect(runs(broken)).toBe(0);
  });

  it('a malformed id or hash is an error and starts nothing', async () => {
    const set = await stage();
    const { id, hash } = set;
    const before = rowsOf(set);
    const ids = ['', id.slice(1), `${id}0`, id.toUpperCase(), `{${id}}`, id.replaceAll('-', '')];
    for (const answer of await inTurn(ids, (wrong) => alone(set, ['run', wrong, hash])))
      expectRefused(answer, notEligible('[ERROR] Invalid intent UUID'), 'ID_MALFORMED');
    const hashes = ['', hash.slice(1), `${hash}0`, hash.toUpperCase(), `${hash.slice(1)}g`];
    for (const answer of await inTurn(hashes, (wrong) => alone(set, ['run', id, wrong])))
      expectRefused(answer, notEligible('[ERROR] Invalid intent hash'), 'HASH_MALFORMED');
    expect(rowsOf(set)).toEqual(before);
    expect(runs(set)).toBe(0);
  });

  it('a registry that is missing or malformed prints [ERROR] Tool registry unavailable and starts nothing', async () => {
    const UNAVAILABLE = precondition('Tool registry unavailable');
    const { tools, ...rest } = readRegistry((await stage()).registry);
    const contents: [content: unknown, code: ReasonCode][] = [
      ['tools: [', 'YAML_MALFORMED'],
      ['version: 1\nversion: 1\ntools: []', 'YAML_MALFORMED'],
      ['', 'REGISTRY_MALFORMED'],
      [Buffer.from([0xff]), 'INPUT_NOT_UTF8'],
      [{ ...rest, tools, version: 2 }, 'REGISTRY_MALFORMED'],
      [{ ...rest, tools, surprise: 1 }, 'REGISTRY_MALFORMED'],
      [{ ...rest, tools: [{ ...tools[0], sandbox: undefined }] }, 'REGISTRY_MALFORMED'],
      [{ ...rest, tools: [tools[0], tools[0]] }, 'TOOL_DUPLICATE'],
    ];
    await inTurn(contents, async ([content, code]) => {
      const set = await stage();
      writeRegistry(set.registry, content);
      await refused(set, UNAVAILABLE, code);
    });
    const moved = await stage();
    renameSync(moved.registry, join(moved.folder, 'elsewhere.yaml'));
    await refused(moved, UNAVAILABLE, 'REGISTRY_MISSING');
    symlinkSync('elsewhere.yaml', moved.registry);
    await refused(moved, UNAVAILABLE, 'FILE_IS_SYMLINK');
  });

  it('a registry with any write bit prints [ERROR] Tool registry must be read-only and starts nothing', async () => {
    const set = await stage();
    for (const mode of [0o644, 0o464, 0o446]) {
      chmodSync(set.registry, mode);
      await refused(set, precondition('Tool registry must be read-only'), 'REGISTRY_WRITABLE');
    }
  });

  it('an intent whose tool left the registry is refused and starts nothing', async () => {
    const set = await stage();
    changeTool(set, { name: 'restore_backup' });
    await refused(set, precondition('Intent not in tool registry'), 'TOOL_UNKNOWN');
  });

  it('a binding of the intent id to another tool, to none or to several is refused', async () => {
    const spare = { ...TOOL, name: 'spare', executable: '/bin/true' };
    const set = await stage({ more_tools: [spare] });
    const registry = readRegistry(set.registry);
    const AMBIGUOUS = precondition('Multiple tools defined (ambiguous)');
    const bind = (...bindings: object[]) =>
      writeRegistry(set.registry, {
        ...registry,
        bindings: bindings.map((more) => ({ intent: set.id, ...more })),
      });
    bind({ tool: 'spare' });
    await refused(set, AMBIGUOUS, 'BINDING_MISMATCH');
    bind({ tool: TOOL.name, arguments: { other: 'arguments' } });
    await refused(set, AMBIGUOUS, 'BINDING_MISMATCH');
    bind({ tool: [TOOL.name, 'spare'] });
    await refused(set, AMBIGUOUS, 'BINDING_AMBIGUOUS');
    bind({ tool: TOOL.name }, { tool: TOOL.name });
    await refused(set, AMBIGUOUS, 'BINDING_AMBIGUOUS');
    bind({ tool: [] });
    await refused(set, precondition('No tool defined for this intent'), 'BINDING_EMPTY');
    bind({ tool: TOOL.name }, { intent: UNKNOWN_ID, tool: 'spare' });
    expect((await saysYes(set)).code).toBe(0);
  });

  it('a missing executable prints [ERROR] Tool not found and starts nothing', async () => {
    const set = await stage();
    chmodSync(set.script, 0o644);
    await refused(set, OTHER, 'EXECUTABLE_NOT_EXECUTABLE');
    rmSync(set.script);
    await refused(set, precondition('Tool not found'), 'EXECUTABLE_MISSING');
  });

  it('an executable or a registry entry that changed since the approval is refused', async () => {
    const set = await stage();
    const registry = readRegistry(set.registry);
    for (const change of [{ args: ['--all'] }, { timeout_s: 61 }, { env: {} }, { summary: 'Else.' }]) {
      changeTool(set, change);
      await refused(set, OTHER, 'EFFECT_CHANGED');
      writeRegistry(set.registry, registry);
    }
    appendFileSync(set.script, '\n');
    await refused(set, OTHER, 'EXECUTABLE_CHANGED');
  });

  it('the checks come in the order of 001 and the first failure is the only one told', async () => {
    const parameters = { level: { type: 'integer', max: 9 } };
    const set = await stage({ tool: { args: ['{level}'], parameters }, arguments: { level: 9 } });
    const { tools, ...rest } = readRegistry(set.registry);
    const script = readFileSync(set.script);
    const bindings = [{ intent: set.id, tool: [] }];
    const narrow = [{ ...tools[0], parameters: { level: { type: 'integer', max: 8 } } }];
    rmSync(set.script);
    writeRegistry(set.registry, { ...rest, tools: [], bindings: [] }, 0o644);
    await refused(set, NOT_APPROVED, 'HASH_MISMATCH', ['run', set.id, SOME_HASH]);
    await refused(set, precondition('Tool registry must be read-only'), 'REGISTRY_WRITABLE');
    chmodSync(set.registry, 0o444);
    await refused(set, precondition('Intent not in tool registry'), 'TOOL_UNKNOWN');
    writeRegistry(set.registry, { ...rest, tools: narrow, bindings });
    await refused(set, precondition('No tool defined for this intent'), 'BINDING_EMPTY');
    writeRegistry(set.registry, { ...rest, tools: narrow });
    await refused(set, INVALID, 'ARGUMENT_INVALID');
    writeRegistry(set.registry, { ...rest, tools });
    await refused(set, precondition('Tool not found'), 'EXECUTABLE_MISSING');
    writeFileSync(set.script, `${script}#`, { mode: 0o755 });
    await refused(set, OTHER, 'EXECUTABLE_CHANGED');
    writeFileSync(set.script, script);
    expect((await saysYes(set)).code).toBe(0);
  });

  it('every refusal before the start ends with No execution attempted.', async () => {
    const set = await stage();
    const usage = [['run'], ['run', set.id], [...set.words, '--surprise'], [...set.words, 'more']];
    for (const answer of await inTurn([...usage, set.words], (words) => alone(set, words))) {
      expect(answer.stdout).toMatch(/\[ERROR\] Cannot execute: [^\n]+\nNo execution attempted\.\n$/);
      expect(answer.code).toBe(1);
    }
    const declined = await answering(set, 'n\r');
    expect(declined.stdout).toMatch(/\n\n\[ERROR\] Cannot execute: [^\n]+\nNo execution attempted\.\n$/);
    expect(runs(set)).toBe(0);
  });

  it('a refused run appends exactly one refusal to the ledger and changes nothing else', async () => {
    const set = await stage();
    const [before, size] = [rowsOf(set), (await ledgerOf(set)).length];
    chmodSync(set.registry, 0o644);
    await refused(set, precondition('Tool registry must be read-only'), 'REGISTRY_WRITABLE');
    const [refusal, ...more] = (await ledgerOf(set)).slice(size);
    expect(refusal!.body).toEqual({
      hash: set.hash,
      capability_id: null,
      reason_code: 'REGISTRY_WRITABLE',
      decision: null,
    });
    expect(more).toEqual([]);
    const after = rowsOf(set);
    for (const table of ['tenant', 'projection', 'object']) expect(after[table]).toEqual(before[table]);
    for (const [table, rows] of Object.entries(before))
      expect(after[table]).toEqual(expect.arrayContaining(rows));
    chmodSync(set.registry, 0o444);
    expect((await saysYes(set)).code).toBe(0);
  });
});
