import { type AnyOperation, type Checked, isRaw, rawActions } from './actions.ts';
import { foldPath } from './glob.ts';
import { cycleText, findCycles, type Node } from './graph.ts';
import type { Path } from './problem.ts';
import { type NamedPath, pathsOf } from './rules.ts';

interface CheckedTogether extends Checked {
  readonly operations: readonly (AnyOperation | null)[];
}

interface Found extends Node {
  readonly at: Path;
}

/** What only shows when all actions are looked at: ids, dependencies, paths that are one file, too many files. */
export function checkTogether(checked: CheckedTogether): void {
  const nodes = nodesOf(checked);
  checkIds(checked, nodes);
  checkDependencies(checked, nodes);
  checkTwins(checked);
}

function nodesOf({ value, base }: Checked): Found[] {
  return rawActions(value).flatMap((action, i): Found[] => {
    if (!isRaw(action) || typeof action.action_id !== 'string') return [];
    const list = Array.isArray(action.depends_on) ? action.depends_on : [];
    const depends_on = list.map((id) => (typeof id === 'string' ? id : ''));
    return [{ at: [...base, 'action_plan', i], action_id: action.action_id, depends_on }];
  });
}

function checkIds({ file, problems }: Checked, nodes: readonly Found[]): void {
  const seen = new Set<string>();
  for (const { action_id, at } of nodes) {
    if (seen.has(action_id))
      problems.at(file, [...at, 'action_id'], 'PLAN_ACTION_DUPLICATE', `There are two actions ${action_id}.`);
    seen.add(action_id);
  }
}

function checkDependencies(checked: Checked, nodes: readonly Found[]): void {
  const { file, problems } = checked;
  const known = new Map(nodes.map((node) => [node.action_id, node]));
  for (const node of nodes) checkEdges(checked, node, known);
  const others = nodes.map((node) => ({
    ...node,
    depends_on: node.depends_on.filter((id) => id !== node.action_id),
  }));
  for (const cycle of findCycles(others)) {
    const at = [...known.get(cycle[0]!)!.at, 'depends_on'];
    problems.at(
      file,
      at,
      'PLAN_DEPENDENCIES_CYCLIC',
      `The actions wait for each other: ${cycleText(cycle)}.`,
    );
  }
}

function checkEdges({ file, problems }: Checked, node: Found, known: ReadonlyMap<string, Found>): void {
  for (const [i, id] of node.depends_on.entries()) {
    const at = [...node.at, 'depends_on', i];
    if (id === node.action_id)
      problems.at(file, at, 'PLAN_DEPENDENCIES_CYCLIC', `The action ${id} waits for itself.`);
    else if (id !== '' && !known.has(id))
      problems.at(file, at, 'PLAN_DEPENDENCIES_CYCLIC', `There is no action ${id} to wait for.`);
    else if (node.depends_on.indexOf(id) < i)
      problems.at(file, at, 'SHAPE_INVALID', `${id} is listed twice.`);
  }
}

/**
 * `a.txt` and `A.txt` are one file on some disks, and the second action would write over the first. A rename may change the
 * spelling of one path: its two names are allowed to be twins of each other.
 */
function checkTwins(checked: CheckedTogether): void {
  const { file, problems, rules, base } = checked;
  const seen = new Map<string, Set<string>>();
  const written = new Set<string>();
  for (const { at, paths } of namedPaths(checked)) {
    for (const { path, writes } of paths) {
      if (writes) written.add(path);
      const twins = seen.get(foldPath(path)) ?? new Set();
      const other = [...twins].find((twin) => twin !== path && !paths.some((own) => own.path === twin));
      if (other !== undefined && !twins.has(path))
        problems.at(file, at, 'PLAN_PATH_TWIN', `${path} and ${other} are one file on some systems.`);
      seen.set(foldPath(path), twins.add(path));
    }
  }
  if (written.size > rules.max_files) {
    const message = `The plan changes ${written.size} files; ${rules.max_files} are allowed.`;
    problems.at(file, [...base, 'action_plan'], 'PLAN_LIMIT_EXCEEDED', message);
  }
}

function namedPaths({ value, base, operations }: CheckedTogether): { at: Path; paths: NamedPath[] }[] {
  return rawActions(value).flatMap((action, i) => {
    const operation = operations[i] ?? null;
    if (!isRaw(action) || typeof action.target !== 'string' || operation === null) return [];
    const action_type = action.action_type as Parameters<typeof pathsOf>[0]['action_type'];
    return [
      { at: [...base, 'action_plan', i], paths: pathsOf({ action_type, target: action.target, operation }) },
    ];
  });
}
