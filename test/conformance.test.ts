import { describe, expect, it } from 'vitest';
import { type Source, source, sourcesIn, titlesOf } from './support/source.ts';

/** Every requirement of a specification has a row in docs/conformance/, and every row names tests that exist. */

interface Row {
  readonly id: string;
  readonly section: string;
  readonly requirement: string;
  readonly tests: readonly { readonly file: string; readonly title: readonly string[] }[];
}

/** The sections of the page's own list, as `- \`3\` Preconditions`. */
function sectionsOf(page: Source): string[] {
  return [...page.text.matchAll(/^- `([^`]+)` /gm)].map((match) => match[1]!);
}

function rowsOf(page: Source): Row[] {
  const lines = page.text.split('\n').filter((line) => line.startsWith('|'));
  return lines.slice(2).map((line) => {
    const [id = '', section = '', requirement = '', tests = ''] = line
      .replace(/^\|\s*|\s*\|$/g, '')
      .split(/\s+\|(?:\s+|$)/);
    return { id, section: section.split(',')[0]!, requirement, tests: testsOf(tests) };
  });
}

/** `file.test.ts`, `other.test.ts` › group › sentence, several of them separated by <br>. */
function testsOf(cell: string): Row['tests'] {
  const references = cell.split('<br>').filter((reference) => reference.trim() !== '');
  return references.flatMap((reference) => {
    const [files = '', ...title] = reference.split(' › ').map((part) => part.trim());
    return files.split(',').map((file) => ({ file: file.trim().replaceAll('`', ''), title }));
  });
}

/** What is wrong with a page, one line each. `files` are the test files that exist. */
function problemsOf(page: Source, files: readonly Source[]): string[] {
  const rows = rowsOf(page);
  const sections = sectionsOf(page);
  return [
    ...(sections.length === 0 || rows.length === 0 ? [`${page.path}: no section or no row`] : []),
    ...sections
      .filter((section) => !rows.some((row) => row.section === section))
      .map((section) => `section ${section} has no row`),
    ...rows
      .filter((row) => !sections.includes(row.section))
      .map((row) => `${row.id}: section "${row.section}" is not in the list`),
    ...rows
      .filter((row, index) => rows.findIndex((other) => other.id === row.id) !== index)
      .map((row) => `${row.id} is there twice`),
    ...rows.filter((row) => row.id === '' || row.requirement === '').map((row) => `${row.id}: an empty cell`),
    ...rows.filter((row) => row.tests.length === 0).map((row) => `${row.id} names no test`),
    ...absentTests(rows, files),
  ];
}

/** Each test that is named and does not exist, with the rows that name it. */
function absentTests(rows: readonly Row[], files: readonly Source[]): string[] {
  const titles = new Map(files.map((file) => [file.path, titlesOf(file)]));
  const absent = new Map<string, string[]>();
  for (const row of rows) {
    for (const { file, title } of row.tests) {
      if (title.length > 0 && titles.get(file)?.some((known) => endsWith(known, title))) continue;
      const name = `${file} has no test "${title.join(' › ')}"`;
      absent.set(name, [...(absent.get(name) ?? []), row.id]);
    }
  }
  return [...absent].map(([name, ids]) => `${name} (${ids.join(', ')})`).sort();
}

/** The page may leave the outer groups of a test away, never the sentence itself. */
function endsWith(known: readonly string[], title: readonly string[]): boolean {
  return (
    title.length <= known.length && title.every((part, i) => known[known.length - title.length + i] === part)
  );
}

const tests = sourcesIn(['test'], '.test.ts');
const pages = sourcesIn(['docs/conformance'], '.md');

describe('conformance', () => {
  it('there is a page for each specification that is built', () => {
    expect(pages.map((page) => page.path)).toEqual(
      expect.arrayContaining(
        ['000', '001', '002', '003', '004'].map((number) => `docs/conformance/${number}.md`),
      ),
    );
  });

  it.each(pages.map((page) => page.path))('every row of %s names tests that exist', (path) => {
    expect(problemsOf(source(path), tests)).toEqual([]);
  });
});

describe('a page that is wrong is caught', () => {
  const HEAD =
    '## Sections\n\n- `1` Purpose\n- `2` Inputs\n\n| id | section | requirement | shown by |\n|---|---|---|---|\n';
  const FIRST = '| 9-1.1 | 1, not | It runs once | `test/a.test.ts` › a run is one |\n';
  const SECOND =
    '| 9-2.1 | 2 | It reads an id | `test/a.test.ts`, `test/b.test.ts` › ids › an id is read |\n';
  const planted = [
    {
      path: 'test/a.test.ts',
      text: "it('a run is one', () => {}); describe('ids', () => { it(`an id is read`, f); });",
    },
    {
      path: 'test/b.test.ts',
      text: "describe('outer', () => { describe('ids', () => { test('an id is read', f); }); });",
    },
  ];
  const problems = (text: string) => problemsOf({ path: 'docs/conformance/009.md', text }, planted);

  it('a page that is right has no problem', () => {
    expect(problems(HEAD + FIRST + SECOND)).toEqual([]);
  });

  it('a row without a test is a problem', () => {
    expect(problems(`${HEAD + FIRST}| 9-2.1 | 2 | It reads an id | |\n`)).toEqual(['9-2.1 names no test']);
  });

  it('a row with a file and no sentence is a problem', () => {
    const row = '| 9-2.1 | 2 | It reads an id | `test/a.test.ts` |\n';
    expect(problems(HEAD + FIRST + row)).toEqual(['test/a.test.ts has no test "" (9-2.1)']);
  });

  it('a sentence that the file does not have is a problem', () => {
    expect(problems(HEAD + FIRST.replace('a run is one', 'a run is two') + SECOND)).toEqual([
      'test/a.test.ts has no test "a run is two" (9-1.1)',
    ]);
  });

  it('a sentence that is only in a comment is a problem', () => {
    const row = '| 9-2.1 | 2 | It reads an id | `test/c.test.ts` › an id is read |\n';
    const page = { path: 'docs/conformance/009.md', text: HEAD + FIRST + row };
    const file = { path: 'test/c.test.ts', text: "// it('an id is read', () => {});" };
    expect(problemsOf(page, [...planted, file])).toEqual([
      'test/c.test.ts has no test "an id is read" (9-2.1)',
    ]);
  });

  it('a group is not a test', () => {
    expect(problems(HEAD + FIRST + SECOND.replace(' › an id is read', ''))).toHaveLength(2);
  });

  it('a file that does not exist is a problem', () => {
    expect(problems(HEAD + FIRST.replace('a.test', 'z.test') + SECOND)).toHaveLength(1);
  });

  it('an id that is there twice is a problem', () => {
    expect(problems(HEAD + FIRST + FIRST + SECOND)).toEqual(['9-1.1 is there twice']);
  });

  it('a section without a row is a problem', () => {
    expect(problems(HEAD + FIRST)).toEqual(['section 2 has no row']);
  });

  it('a row of a section that is not listed is a problem', () => {
    const row = FIRST.replace('9-1.1 | 1, not', '9-3.1 | 3');
    expect(problems(HEAD + FIRST + SECOND + row)).toEqual(['9-3.1: section "3" is not in the list']);
  });

  it('a page without a table is a problem', () => {
    expect(problems('# Nothing\n')).toEqual(['docs/conformance/009.md: no section or no row']);
  });
});
