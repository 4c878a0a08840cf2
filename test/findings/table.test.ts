import { describe, expect, it } from 'vitest';
import { type Source, source, sourcesIn, titlesOf } from '../support/source.ts';

/** docs/findings.md has one row for each finding, and the tests that it names exist. */

interface Row {
  readonly id: string;
  readonly tests: readonly { readonly file: string; readonly title: string | null }[];
  readonly status: string;
}

function rowsOf(page: Source): Row[] {
  const lines = page.text.split('\n').filter((line) => /^\| [SPTUA]\d+ \|/.test(line));
  return lines.map((line) => {
    const [id = '', , , tests = '', status = ''] = line
      .split('|')
      .slice(1)
      .map((cell) => cell.trim());
    return { id, tests: tests.split('<br>').map(testOf), status };
  });
}

function testOf(cell: string): Row['tests'][number] {
  const [file = '', title = null] = cell.split(' › ').map((part) => part.trim());
  return { file: file.replaceAll('`', ''), title };
}

const rows = rowsOf(source('docs/findings.md'));
const tests = sourcesIn(['test']).filter(({ path }) => path.endsWith('.test.ts'));
const files = tests.filter(({ path }) => path.startsWith('test/findings/'));
const ofRow = ({ id }: Row) => {
  const prefix = `test/findings/${id[0]!.toLowerCase()}${id.slice(1).padStart(2, '0')}-`;
  return files.filter(({ path }) => path.startsWith(prefix));
};

describe('docs/findings.md', () => {
  it('has one row for each finding', () => {
    const all = (letter: string, count: number) => Array.from({ length: count }, (_, i) => letter + (i + 1));
    const found = rows.map(({ id }) => id).filter((id) => !/^[PT]/.test(id));
    expect(found.toSorted()).toEqual([...all('S', 24), ...all('U', 10), ...all('A', 8)].sort());
  });

  it.each(['P', 'T'])('has the findings %s once each, in order', (letter) => {
    const ids = rows.flatMap(({ id }) => (id.startsWith(letter) ? [Number(id.slice(1))] : []));
    expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b));
  });

  it('names test files and tests that exist', () => {
    const named = rows.flatMap(({ tests }) => tests).filter(({ file }) => !file.includes('*'));
    const absent = named.filter(({ file, title }) => {
      const found = tests.find(({ path }) => path === file);
      return !found || (title !== null && !titlesOf(found).some((names) => names.at(-1) === title));
    });
    expect(absent).toEqual([]);
  });

  it('has a row for every test file of a finding', () => {
    const known = rows.flatMap(ofRow).map(({ path }) => path);
    const own = 'test/findings/table.test.ts';
    expect(files.map(({ path }) => path).filter((path) => path !== own && !known.includes(path))).toEqual([]);
  });

  it('says of which findings tests are expected to fail', () => {
    const open = rows.filter((row) => ofRow(row).some(({ text }) => text.includes('it.fails(')));
    const said = rows.filter((row) => row.status.includes('expected to fail') && ofRow(row).length > 0);
    expect(open.map(({ id }) => id)).toEqual(said.map(({ id }) => id));
  });
});
