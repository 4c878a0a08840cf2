import { chmodSync, chownSync, existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, vi } from 'vitest';
import type { Action, ActionEffect, ExecutionOrder, Plan } from '../../../src/plan/model.ts';
import { loadManifest } from '../../../src/plan/rollback/manifest.ts';
import { rollBack } from '../../../src/plan/rollback/roll-back.ts';
import { hasTools, setAcl, setAttribute } from '../../support/attributes.ts';
import { scratch } from '../../support/scratch.ts';
import {
  action,
  create,
  derive,
  everything,
  execute,
  journalOf,
  lay,
  modify,
  plan,
  REPORTS,
  remove,
  rename,
} from './story.ts';

/** Few names, so that the actions of a plan meet each other. */
const PATHS = ['a', 'b', 'c', 'd/a', 'd/b', 'd/e/a', 'f/a', 'f/g/b'];
const MODES = [0o600, 0o644, 0o755, 0o640, 0o4750];
/** What a file carries besides; most files carry nothing. */
const WORN = ['nothing', 'nothing', 'nothing', 'list', 'attribute', 'owner'] as const;

interface Wish {
  readonly kind: 'create' | 'modify' | 'delete' | 'rename' | 'insert';
  readonly pick: number;
  readonly other: number;
}

export interface Scenario {
  readonly files: readonly {
    readonly path: string;
    readonly content: string;
    readonly mode: number;
    readonly worn: (typeof WORN)[number];
  }[];
  readonly wishes: readonly Wish[];
  readonly execution_order: ExecutionOrder;
}

export const scenarios: fc.Arbitrary<Scenario> = fc.record({
  files: fc.uniqueArray(
    fc.record({
      path: fc.constantFrom(...PATHS),
      content: fc
        .string({ maxLength: 40, unit: 'grapheme' })
        .map((text) => `${text.replaceAll('\0', '')}=\n`),
      mode: fc.constantFrom(...MODES),
      worn: fc.constantFrom(...WORN),
    }),
    { selector: ({ path }) => path, maxLength: PATHS.length },
  ),
  wishes: fc.array(
    fc.record({
      kind: fc.constantFrom('create', 'modify', 'delete', 'rename', 'insert'),
      pick: fc.nat(63),
      other: fc.nat(63),
    }),
    { minLength: 1, maxLength: 8 },
  ),
  execution_order: fc.constantFrom('sequential', 'parallel', 'dependency_based'),
});

/** Turns wishes into actions that are possible when their turn comes. */
function possible({ files, wishes }: Scenario): Action[] {
  const there = new Set(files.map(({ path }) => path));
  const actions: Action[] = [];
  for (const [i, { kind, pick, other }] of wishes.entries()) {
    const existing = [...there].sort();
    const free = PATHS.filter((path) => !there.has(path));
    const from = existing[pick % existing.length];
    const to = free[other % free.length];
    const id = `w${i}`;
    if (kind === 'create' && to) {
      actions.push(create(id, to, `made by ${id} =\n`));
      there.add(to);
    } else if (kind === 'modify' && from) actions.push(modify(id, from, '=', `=${id}`));
    else if (kind === 'insert' && from)
      actions.push(
        action(id, 'FILE_MODIFY', from, { type: 'line_insert', line_number: 1, content: `${id} =` }),
      );
    else if (kind === 'delete' && from) {
      actions.push(remove(id, from));
      there.delete(from);
    } else if (kind === 'rename' && from && to) {
      actions.push(rename(id, from, to));
      there.delete(from);
      there.add(to);
    }
  }
  return actions;
}

const clean = (root: string) => {
  for (const name of readdirSync(root)) rmSync(join(root, name), { recursive: true });
};

function laid(root: string, { files }: Scenario): Record<string, string> {
  clean(root);
  for (const { path, content, mode, worn } of files) {
    lay(root, { [path]: content });
    const file = join(root, path);
    if (worn === 'owner' && process.getuid?.() === 0) chownSync(file, 1234, 5678);
    chmodSync(file, mode);
    if (!hasTools) continue;
    if (worn === 'list') setAcl(file, 'u:1234:rw', 'g:5678:r');
    if (worn === 'attribute') setAttribute(file, 'user.k', path);
  }
  return everything(root);
}

/** The plan succeeds and is rolled back; then it is run again with a failure in each action: always as before. */
export async function alwaysAsBefore(root: string, scenario: Scenario): Promise<void> {
  const actions = possible(scenario);
  if (actions.length === 0) return;
  const made: Plan = plan(actions, { execution_order: scenario.execution_order });
  const before = laid(root, scenario);
  const effect = await derive(root, made);
  expect(everything(root)).toEqual(before);
  expect((await execute(root, effect)).status).toBe('SUCCESS');
  expect(
    (await rollBack(loadManifest(root, REPORTS), { root, journal: journalOf(root), effect })).status,
  ).toBe('rolled_back');
  expect(everything(root)).toEqual(before);
  for (const broken of actions) {
    laid(root, scenario);
    const outcome = await execute(root, failingAt(effect, broken.action_id));
    expect(outcome.status).toBe('ROLLED_BACK');
    expect(outcome.errors.map(({ details }) => details.action_id)).toContain(broken.action_id);
    expect(everything(root)).toEqual(before);
  }
}

/** The approved effect, but one action would not give the approved result: it fails when its turn comes. */
function failingAt(effect: Awaited<ReturnType<typeof derive>>, action_id: string) {
  const actions = effect.actions.map((one) =>
    one.action_id === action_id ? ({ ...one, action_type: 'PIPELINE_RUN' } as ActionEffect) : one,
  );
  return { ...effect, actions };
}

/** In memory where the machine offers it: what fsync promises is for the crash tests, and thousands of them take hours. */
export async function checkRandomPlans(numRuns: number): Promise<void> {
  if (existsSync('/dev/shm')) vi.stubEnv('TMPDIR', '/dev/shm');
  const root = scratch();
  vi.unstubAllEnvs();
  await fc.assert(
    fc.asyncProperty(scenarios, (scenario) => alwaysAsBefore(root, scenario)),
    { numRuns },
  );
}
