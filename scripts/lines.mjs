/**
 * `node scripts/lines.mjs BASE [HEAD]`: lines of code in src/ by folder, between two commits of the repository in the present folder.
 * Blank lines and comments do not count. A line that went in one place and came in another was moved, and counts as neither
 * added nor removed.
 */

import { execFileSync } from 'node:child_process';
import { dirname } from 'node:path';
import ts from 'typescript';

const FILES = /^src\/.*\.ts$/;
/** A line that went is looked for in the same file first, then in the same folder, then anywhere. */
const NEAR = [({ path }) => path, ({ path }) => folderOf(path), () => ''];

const [base, head = 'HEAD'] = process.argv.slice(2);
if (base === undefined) {
  console.error('Usage: node scripts/lines.mjs BASE [HEAD]');
  process.exit(2);
}

const before = linesAt(base);
const after = linesAt(head);
const { added, removed } = NEAR.reduce(withoutMoved, { added: after, removed: before });
print();

function git(words, input) {
  return execFileSync('git', words, { input, maxBuffer: 1 << 30 });
}

/** Every line of code of a commit, with its file. */
function linesAt(commit) {
  const paths = git(['ls-tree', '-r', '-z', '--name-only', commit])
    .toString()
    .split('\0')
    .filter((path) => FILES.test(path));
  let rest = git(['cat-file', '--batch'], paths.map((path) => `${commit}:${path}\n`).join(''));
  return paths.flatMap((path) => {
    // A line that ends with the size, then the file and a line break.
    const start = rest.indexOf('\n') + 1;
    const end = start + Number(rest.subarray(0, start).toString().trim().split(' ').at(-1));
    const text = rest.subarray(start, end).toString();
    rest = rest.subarray(end + 1);
    return codeLines(text).map((line) => ({ path, text: line }));
  });
}

/** Only what is part of a token is kept: what the scanner finds between two of them is a line break or a blank. */
function codeLines(text) {
  const file = ts.createSourceFile('one.ts', text, ts.ScriptTarget.Latest, true);
  const kept = [];
  let end = 0;
  const keep = (node) => {
    if (ts.isJSDoc(node)) return;
    const parts = node.getChildren(file);
    if (parts.length > 0) return parts.forEach(keep);
    kept.push(text.slice(end, node.getStart(file)).replace(/[^\n]+/g, ' '), node.getText(file));
    end = node.getEnd();
  };
  keep(file);
  return kept
    .join('')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

/** What is left when each line that went is taken off against one that came at the same place. */
function withoutMoved(lines, placeOf) {
  const keyOf = (line) => `${placeOf(line)}\0${line.text}`;
  const went = new Map();
  for (const line of lines.removed) went.set(keyOf(line), [...(went.get(keyOf(line)) ?? []), line]);
  const added = lines.added.filter((line) => went.get(keyOf(line))?.pop() === undefined);
  return { added, removed: [...went.values()].flat() };
}

function folderOf(path) {
  return dirname(path).split('/').slice(0, 2).join('/');
}

function print() {
  const folders = [...new Set([...before, ...after].map(({ path }) => folderOf(path)))].sort();
  const row = (name, isOf) => {
    const count = (lines) => lines.filter(({ path }) => isOf(path)).length;
    const [came, went] = [count(added), count(removed)];
    return [name, count(before), count(after), `+${came}`, `-${went}`, came - went];
  };
  const rows = [
    ['folder', 'before', 'after', 'added', 'removed', 'net'],
    ...folders.map((folder) => row(folder, (path) => folderOf(path) === folder)),
    row('all', () => true),
  ].map((cells) => cells.map(String));
  const widths = rows[0].map((_, i) => Math.max(...rows.map((cells) => cells[i].length)));
  for (const cells of rows)
    console.log(
      cells.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]) : cell.padStart(widths[i]))).join('  '),
    );
}
