/**
 * `node scripts/lines.mjs BASE [HEAD]`: lines of code in src/ by folder, between two commits of the repository in the present folder.
 * Blank lines and comments do not count. A line that went in one place and came in another was moved, and counts as neither
 * added nor removed. With `--files` instead: each file that went or has fewer lines, and how many of them came in no other place.
 */

import { execFileSync } from 'node:child_process';
import { dirname } from 'node:path';
import ts from 'typescript';

const FILES = /^src\/.*\.tsx?$/;
/** A line that went is looked for in the same file first, then in the same folder, then anywhere. */
const NEAR = [({ path }) => path, ({ path }) => folderOf(path), () => ''];

const by_file = process.argv.includes('--files');
const [base, head = 'HEAD'] = process.argv.slice(2).filter((word) => word !== '--files');
if (base === undefined) {
  console.error('Usage: node scripts/lines.mjs BASE [HEAD] [--files]');
  process.exit(2);
}

const before = linesAt(base);
const after = linesAt(head);
const { added, removed } = NEAR.reduce(withoutMoved, { added: after, removed: before });
print(by_file ? fewer() : folders());

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
    return codeLines(text, path).map((line) => ({ path, text: line }));
  });
}

/** Only what is part of a token is kept: what the scanner finds between two of them is a line break or a blank. */
function codeLines(text, path) {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
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

function countOf(lines, isOf) {
  return lines.filter(({ path }) => isOf(path)).length;
}

function folders() {
  const names = [...new Set([...before, ...after].map(({ path }) => folderOf(path)))].sort();
  const row = (name, isOf) => {
    const [came, went] = [countOf(added, isOf), countOf(removed, isOf)];
    return [name, countOf(before, isOf), countOf(after, isOf), `+${came}`, `-${went}`, came - went];
  };
  return [
    ['folder', 'before', 'after', 'added', 'removed', 'net'],
    ...names.map((name) => row(name, (path) => folderOf(path) === name)),
    row('all', () => true),
  ];
}

/** A file that git knows by its new name is one file. What is new in a file that has fewer lines is taken off. */
function fewer() {
  const renamed = new Map(
    git(['diff', '-M', '--diff-filter=R', '--name-status', '-z', base, head, '--', 'src'])
      .toString()
      .split('\0')
      .flatMap((_, i, words) => (i % 3 === 0 && words[i + 2] ? [[words[i + 1], words[i + 2]]] : [])),
  );
  const rows = [...new Set(before.map(({ path }) => path))]
    .map((path) => {
      const now = renamed.get(path) ?? path;
      const [was, is] = [countOf(before, (one) => one === path), countOf(after, (one) => one === now)];
      const gone = countOf(removed, (one) => one === path) - countOf(added, (one) => one === now);
      return [now === path ? path : `${path} -> ${now}`, was, is, gone];
    })
    .filter(([, was, is, gone]) => is < was && gone > 0)
    .sort((a, b) => b[3] - a[3]);
  const sum = (column) => rows.reduce((total, row) => total + row[column], 0);
  return [['file', 'before', 'after', 'gone'], ...rows, ['all', sum(1), sum(2), sum(3)]];
}

function print(table) {
  const rows = table.map((cells) => cells.map(String));
  const widths = rows[0].map((_, i) => Math.max(...rows.map((cells) => cells[i].length)));
  for (const cells of rows)
    console.log(
      cells.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]) : cell.padStart(widths[i]))).join('  '),
    );
}
