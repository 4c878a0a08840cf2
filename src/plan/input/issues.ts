import type { z } from 'zod';
import type { Path, Placed, Problems } from './problem.ts';

type Issue = z.core.$ZodIssue;

/** Everything a schema has found wrong, each with its place. An unknown key is one problem each, at the key. */
export function addIssues(problems: Problems, file: Placed, base: Path, issues: readonly Issue[]): void {
  for (const issue of issues) addIssue(problems, file, base, issue);
}

function addIssue(problems: Problems, file: Placed, base: Path, issue: Issue): void {
  const path = [...base, ...(issue.path as Path)];
  if (issue.code === 'unrecognized_keys') {
    for (const key of issue.keys)
      problems.atKey(file, [...path, key], 'SHAPE_INVALID', `${said([...path, key])} is not known.`);
    return;
  }
  const closest = issue.code === 'invalid_union' ? closestOf(issue.errors) : null;
  if (closest !== null) addIssues(problems, file, path, closest);
  else problems.at(file, path, 'SHAPE_INVALID', `${said(path)}: ${messageOf(issue)}.`);
}

/** Of the alternatives that a value failed to be, the one it came closest to: whose problems lie deepest. */
function closestOf(alternatives: readonly (readonly Issue[])[]): readonly Issue[] | null {
  const depth = (issues: readonly Issue[]) => Math.max(0, ...issues.map((issue) => issue.path.length));
  const best = [...alternatives].sort((a, b) => depth(b) - depth(a))[0];
  return best !== undefined && depth(best) > 0 ? best : null;
}

function messageOf(issue: Issue): string {
  if (issue.code === 'invalid_type' && issue.message.endsWith('received undefined')) return 'it is missing';
  if (issue.code === 'invalid_union') return 'it is none of the known values';
  return issue.message;
}

function said(path: Path): string {
  return path.length === 0 ? 'The document' : path.join('.');
}
