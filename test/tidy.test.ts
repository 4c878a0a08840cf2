import { describe, expect, it } from 'vitest';
import { type Source, source, sourcesIn } from './support/source.ts';
import {
  type Check,
  decidersReachNoEffect,
  gateIsPure,
  INNER,
  importOrder,
  innerOrder,
  LAYERS,
  noCycles,
  noDefaultExports,
  noMutableModuleState,
  noNetwork,
  onlyEffectStartsProcesses,
  onlyStoreKnowsSql,
  zodByNamespace,
} from './support/tidy.ts';
import { formsOnce } from './support/tidy-forms.ts';
import { limitsInOnePlace, staleNoLimits } from './support/tidy-limits.ts';
import {
  longerThan,
  noFixedWaits,
  noSourcesInPackage,
  nothingLeftOver,
  noVagueNames,
  oneBuilder,
  oneMeaning,
  ownedWords,
  plainComments,
  plainMessages,
  plainPages,
  staleOwnedWords,
  staleSharedNames,
  titlesReadAsSentences,
} from './support/tidy-words.ts';

/** Style is a test. A rule that no file can break proves nothing, so each one is also shown an example that breaks it. */

const LONG = 300;
const TOO_LONG = 500;

const files = sourcesIn(['src', 'test', 'bench']);
const commented = [
  ...files,
  ...sourcesIn(['test', 'bench', 'scripts', 'demo', 'examples'], '.mjs', '.cjs', '.py', '.pl', '.sh'),
];
/** Not what is generated from checked sources (api.md), what quotes titles of tests, or what was recorded. */
const pages = [
  ...['README.md', 'ARCHITECTURE.md', 'SECURITY.md', 'CONTRIBUTING.md', 'CHANGELOG.md'].map(source),
  ...sourcesIn(['bench', 'examples', 'test'], '.md'),
  ...sourcesIn(['docs'], '.md', '.cedar', '.yaml').filter(
    ({ path }) => !/^docs\/(conformance\/|measured\/|api\.md|findings\.md)/.test(path),
  ),
];

/** What npm installs, but for the two pages about the sources. */
const packed = [
  ...['README.md', 'SECURITY.md', 'CHANGELOG.md', 'examples/README.md'].map(source),
  ...sourcesIn(['docs', 'deploy'], '.md').filter(({ path }) => !/^docs\/(conformance|measured)\//.test(path)),
];

describe('the tree', () => {
  it('holds files to check', () => {
    expect(files.filter((file) => file.path.startsWith('src/')).length).toBeGreaterThan(10);
    for (const rows of [LAYERS, ...Object.values(INNER)])
      expect(rows.flat().length).toBe(new Set(rows.flat()).size);
  });

  it('each folder imports only from the rows above it', () => {
    expect(importOrder(files)).toEqual([]);
  });

  it('inside a folder, too, each row imports only from the rows above it', () => {
    expect(innerOrder(files)).toEqual([]);
  });

  it('no file imports itself, however many steps away', () => {
    expect(noCycles(files)).toEqual([]);
  });

  it('nothing that decides can import effect/', () => {
    expect(decidersReachNoEffect(files)).toEqual([]);
  });

  it('only effect/ starts a process', () => {
    expect(onlyEffectStartsProcesses(files)).toEqual([]);
  });

  it('only store/ knows SQL', () => {
    expect(onlyStoreKnowsSql(files)).toEqual([]);
  });

  it('gate/ and fold/ read no file, no clock and no randomness, and start nothing', () => {
    expect(gateIsPure(files)).toEqual([]);
  });

  it('no folder of this list opens a network connection', () => {
    expect(noNetwork(files)).toEqual([]);
  });

  it('exports have names, and no file has a default export', () => {
    expect(noDefaultExports(files)).toEqual([]);
  });

  it('a test waits for a condition, and for a length of time only with a reason', () => {
    expect(noFixedWaits(files)).toEqual([]);
  });

  it('one function makes the projects of tests', () => {
    expect(oneBuilder(files)).toEqual([]);
  });

  it('comments name who is meant, without a metaphor', () => {
    expect(commented.length).toBeGreaterThan(files.length);
    expect(plainComments(commented)).toEqual([]);
  });

  it('messages, help and screens do, too', () => {
    expect(plainMessages([...files, ...sourcesIn(['demo'], '.mjs')])).toEqual([]);
  });

  it('and so do README and the pages of docs', () => {
    expect(pages.length).toBeGreaterThan(20);
    expect(plainPages(pages)).toEqual([]);
  });

  it('a page of the package sends its reader to no file that is only in a checkout', () => {
    expect(packed.length).toBeGreaterThan(15);
    expect(noSourcesInPackage(packed)).toEqual([]);
  });

  it('zod is imported by its namespace', () => {
    expect(zodByNamespace(files)).toEqual([]);
  });

  it('no module holds state that changes', () => {
    expect(noMutableModuleState(files)).toEqual([]);
  });

  it('names come from the domain', () => {
    expect(noVagueNames(files)).toEqual([]);
  });

  it('a name that is exported means one thing', () => {
    expect(oneMeaning(files)).toEqual([]);
    expect(staleSharedNames(files)).toEqual([]);
  });

  it('standing, plan, snapshot, verdict and place each mean one thing', () => {
    expect(ownedWords(files)).toEqual([]);
    expect(staleOwnedWords(files)).toEqual([]);
  });

  it('a limit stands in limits.ts', () => {
    expect(limitsInOnePlace(files)).toEqual([]);
    expect(staleNoLimits(files)).toEqual([]);
  });

  it('the form of a text is written once', () => {
    expect(formsOnce(files)).toEqual([]);
  });

  it('nothing is left for later and no test is switched off', () => {
    expect(nothingLeftOver(files)).toEqual([]);
  });

  it('test titles are sentences, each one once in its file', () => {
    expect(titlesReadAsSentences(files)).toEqual([]);
  });

  it('no file is too long to read, and the long ones are named', () => {
    for (const line of longerThan(LONG)(files)) console.warn(`long: ${line}`);
    // A transcript test is as long as the specification that it follows, a table as what it lists; code is not.
    const isTable = (path: string) => path === 'src/limits.ts';
    const others = files.filter(({ path }) => !isTable(path));
    expect(longerThan(TOO_LONG)(others.filter(({ path }) => path.startsWith('src/')))).toEqual([]);
    expect(longerThan(2 * TOO_LONG)(others)).toEqual([]);
  });
});

const at = (path: string, text: string): Source => ({ path, text });

/** Each row: what the check must find, the check, and the planted files in which it must find it. */
const PLANTED: readonly (readonly [what: string, check: Check, ...planted: Source[]])[] = [
  ['an import from a row below', importOrder, at('src/gate/a.ts', "import { a } from '../store/a.ts';")],
  [
    'a type import from a row below',
    importOrder,
    at('src/gate/a.ts', "import type { A } from '../store/a.ts';"),
  ],
  [
    'an inline type import from below',
    importOrder,
    at('src/gate/a.ts', "type A = import('../store/a.ts').A;"),
  ],
  ['a dynamic import from a row below', importOrder, at('src/ledger/a.ts', "await import('../tool/a.ts');")],
  ['a re-export from a row below', importOrder, at('src/event/a.ts', "export * from '../gate/a.ts';")],
  ['a neighbour in the same row', importOrder, at('src/limits.ts', "import { refuse } from './refusal.ts';")],
  ['a folder that is not in the list', importOrder, at('src/misc/a.ts', 'export const a = 1;')],
  ['an import of such a folder', importOrder, at('src/gate/a.ts', "import { a } from '../misc/a.ts';")],
  ['a lane that opens the store', importOrder, at('src/lane/a.ts', "import { a } from '../store/store.ts';")],
  [
    'a command that walks past the face',
    importOrder,
    at('src/cli/a.ts', "import { a } from '../project/a.ts';"),
  ],
  [
    'a ledger that knows its payload',
    importOrder,
    at('src/ledger/a.ts', "import { a } from '../event/event.ts';"),
  ],
  [
    'an import from a row below inside a folder',
    innerOrder,
    at('src/plan/state/a.ts', "import type { H } from '../handler/handler.ts';"),
  ],
  ['a folder inside that is not in the list', innerOrder, at('src/plan/misc/a.ts', 'export const a = 1;')],
  [
    'a cycle of two',
    noCycles,
    at('src/gate/a.ts', "import { b } from './b.ts';"),
    at('src/gate/b.ts', "export { a } from './a.ts';"),
  ],
  [
    'a cycle of three through types',
    noCycles,
    at('src/gate/a.ts', "import type { B } from './b.ts';"),
    at('src/gate/b.ts', "import { c } from './c.ts';"),
    at('src/gate/c.ts', "import { a } from './a.ts';"),
  ],
  [
    'a decision that reaches an effect in two steps',
    decidersReachNoEffect,
    at('src/gate/a.ts', "import { a } from '../canonical/a.ts';"),
    at('src/canonical/a.ts', "import { run } from '../effect/run.ts';"),
    at('src/effect/run.ts', 'export const run = 1;'),
  ],
  [
    'a process outside effect/',
    onlyEffectStartsProcesses,
    at('src/tool/a.ts', "import { spawn } from 'node:child_process';"),
  ],
  [
    'a process without the prefix',
    onlyEffectStartsProcesses,
    at('src/tool/a.ts', "require('child_process');"),
  ],
  ['a driver outside store/', onlyStoreKnowsSql, at('src/cli/a.ts', "import('@photostructure/sqlite');")],
  ['a gate that reads a file', gateIsPure, at('src/gate/a.ts', "import { readFileSync } from 'node:fs';")],
  ['a gate that asks the time', gateIsPure, at('src/gate/a.ts', 'export const a = () => Date.now();')],
  ['a gate that makes a date of now', gateIsPure, at('src/gate/a.ts', 'export const a = () => new Date();')],
  ['a gate that makes a date without new', gateIsPure, at('src/gate/a.ts', 'export const a = () => Date();')],
  ['a gate that throws dice', gateIsPure, at('src/gate/a.ts', 'export const a = () => Math.random();')],
  ['a gate that reads the environment', gateIsPure, at('src/gate/a.ts', 'export const a = process.env.A;')],
  ['a gate that waits', gateIsPure, at('src/gate/a.ts', 'setTimeout(() => {}, 1);')],
  ['a module of the network', noNetwork, at('src/tool/a.ts', "import { connect } from 'node:net';")],
  ['a request by the global', noNetwork, at('src/store/a.ts', "await fetch('http://127.0.0.1');")],
  ['a wait of a test', noFixedWaits, at('test/a.test.ts', 'await new Promise((go) => setTimeout(go, 9));')],
  [
    'a wait by another name',
    noFixedWaits,
    at('test/a.ts', "import { setTimeout as s } from 'timers/promises';"),
  ],
  ['a wait of a page', noFixedWaits, at('test/a.test.ts', 'await page.waitForTimeout(9);')],
  ['a wait that blocks', noFixedWaits, at('test/a.test.ts', 'Atomics.wait(cell, 0, 0, 9);')],
  ['a second builder', oneBuilder, at('test/a.ts', 'const made = await Keyturn.init({ at });')],
  ['a comment about nobody', plainComments, at('src/gate/a.ts', '/** Nobody approves it. */')],
  // With a tab, so that this line has no such comment itself.
  ['a metaphor at the end of a line', plainComments, at('src/gate/a.ts', 'a();\t// at the door')],
  ['a comment of a test', plainComments, at('test/a.test.ts', '// Nobody approves it.')],
  ['a comment of a program in Python', plainComments, at('examples/a.py', 'a()  # at the door')],
  [
    'a metaphor in a longer comment',
    plainComments,
    at('src/gate/a.ts', '/**\n * It is\n * rung by a bell.\n */'),
  ],
  ['a message about nobody', plainMessages, at('src/gate/a.ts', "refuse('A', 'Nobody approved it.');")],
  ['a metaphor in a template', plainMessages, at('src/gate/a.ts', 'const a = `at the door`;')],
  ['a metaphor on a screen', plainMessages, at('src/console/a.tsx', 'const a = <p>Whoever decides</p>;')],
  ['a metaphor in a demonstration', plainMessages, at('demo/a.mjs', "say('Anyone can prove it.');")],
  [
    'a page that sends to the sources',
    noSourcesInPackage,
    at('docs/a.md', '# A\n\nB\n\nThe list is `src/a.ts`.'),
  ],
  ['a metaphor in a page', plainPages, at('docs/a.md', 'It is\nmade ahead.')],
  ['all of zod', zodByNamespace, at('src/gate/a.ts', "import { z } from 'zod';")],
  ['a default export', noDefaultExports, at('src/gate/a.ts', 'export default 1;')],
  ['a default function', noDefaultExports, at('src/gate/a.ts', 'export default function a() {}')],
  [
    'a default by another name',
    noDefaultExports,
    at('src/gate/a.ts', 'const a = 1; export { a as default };'),
  ],
  ['a variable of the module', noMutableModuleState, at('src/gate/a.ts', 'let config = 1;')],
  ['an old variable of the module', noMutableModuleState, at('src/gate/a.ts', 'export var config = 1;')],
  ['a vague file name', noVagueNames, at('src/gate/string-utils.ts', '')],
  ['a vague folder name', noVagueNames, at('src/common/a.ts', '')],
  ['a vague class name', noVagueNames, at('src/gate/a.ts', 'export class StoreManager {}')],
  ['a vague constant name', noVagueNames, at('src/gate/a.ts', 'export const pathHelper = 1;')],
  [
    'a name with two meanings',
    oneMeaning,
    at('src/gate/a.ts', 'export interface Outcome {}'),
    at('src/lane/b.ts', 'export type Outcome = 1;'),
  ],
  [
    'a name of a command file that is no command',
    oneMeaning,
    at('src/cli/commands/a.ts', "load: async () => (await import('../command/a.ts')).run"),
    at('src/cli/command/a.ts', 'export interface Outcome {}'),
    at('src/gate/b.ts', 'export type Outcome = 1;'),
  ],
  [
    'a name with a third meaning beside two twins',
    oneMeaning,
    at('src/store/sqlite/a.ts', 'export const read = 1;'),
    at('src/store/postgres/a.ts', 'export const read = 1;'),
    at('src/store/b.ts', 'export function read() {}'),
  ],
  ['a word of the gate elsewhere', ownedWords, at('src/journey/a.ts', 'export interface RunStanding {}')],
  [
    'a plan of the agent core that does not say so',
    ownedWords,
    at('src/agent/a.ts', 'export const PLANS = 1;'),
  ],
  ['a plan of something else', ownedWords, at('src/store/a.ts', 'export type PlannedRow = 1;')],
  ['a time beside its code', limitsInOnePlace, at('src/gate/a.ts', 'const WAIT_MS = 2 * 60_000;')],
  [
    'a small time beside its code',
    limitsInOnePlace,
    at('src/gate/a.ts', 'export const wait_ms: number = 5n;'),
  ],
  ['a size in capitals and not', limitsInOnePlace, at('src/gate/a.ts', 'const maxBytes = 1 << 20;')],
  ['tries beside their code', limitsInOnePlace, at('src/gate/a.ts', 'const MOST_TRIES = (3);')],
  ['a list of pauses', limitsInOnePlace, at('src/gate/a.ts', 'const DELAYS_MS = [1, 5] as const;')],
  ['a bound in a schema', limitsInOnePlace, at('src/gate/a.ts', 'const a = z.string().min(1).max(1_024);')],
  ['a bound that is computed', limitsInOnePlace, at('src/gate/a.ts', 'const a = z.string().max(8 * 1024);')],
  [
    'a bound of a field in a page',
    limitsInOnePlace,
    at('src/console/a.tsx', 'const a = <input maxLength={60} />;'),
  ],
  ['a table of limits', limitsInOnePlace, at('src/gate/a.ts', 'const gateLimits = { rows: 9 } as const;')],
  [
    'a form that is written twice',
    formsOnce,
    at('src/gate/a.ts', 'const digest = z.string().regex(/^[0-9a-f]{64}$/);'),
    at('src/fold/b.ts', 'const OTHER = /^[0-9a-f]{64}$/;'),
  ],
  ['a note for later', nothingLeftOver, at('src/gate/a.ts', `// ${'TO'}DO: check the hash`)],
  ['a silenced type error', nothingLeftOver, at('src/gate/a.ts', `// @ts-${'ign'}ore`)],
  ['a test that stands alone', nothingLeftOver, at('test/a.test.ts', "it.only('runs', () => {});")],
  ['a group that is switched off', nothingLeftOver, at('test/a.test.ts', "describe.skip('runs', () => {});")],
  [
    'a table that is switched off',
    nothingLeftOver,
    at('test/a.test.ts', "it.skip.each([1])('runs', () => {});"),
  ],
  ['a file that is too long', longerThan(TOO_LONG), at('src/gate/a.ts', 'a;\n'.repeat(TOO_LONG + 1))],
  [
    'the same title twice',
    titlesReadAsSentences,
    at('test/a.test.ts', "it('a run is one', () => {}); it('a run is one', () => {});"),
  ],
  ['a title that is no sentence', titlesReadAsSentences, at('test/a.test.ts', "it('works', () => {});")],
];

describe('each rule can be broken', () => {
  it.each(PLANTED.map(([what, check, ...planted]) => ({ what, check, planted })))('$what is found', (row) => {
    const { check, planted } = row;
    expect(check(planted).length).toBeGreaterThan(0);
  });
});

describe('each rule lets through what it should', () => {
  it('imports from above and from the own folder are fine', () => {
    const fine = at(
      'src/gate/a.ts',
      "import { refuse } from '../refusal.ts'; import { b } from './b.ts'; import type { E } from '../event/event.ts';",
    );
    expect(importOrder([fine])).toEqual([]);
    expect(importOrder([at('src/cli/a.ts', "import { Keyturn } from '../keyturn.ts';")])).toEqual([]);
  });

  it('a date of a given time and a field called process are pure', () => {
    const fine = at(
      'src/gate/a.ts',
      'export const a = (at: string) => ({ process: new Date(at).getTime() });',
    );
    expect(gateIsPure([fine])).toEqual([]);
  });

  it('what follows from a limit, a unit and a constant of a page are no limits', () => {
    const fine = 'const MOST = limits.rows; const DAY_MS = 86_400_000; const NEWLINE = 10;';
    const bounds = 'z.int().min(2).max(limits.wait_s * 1000); z.base64().length(44); Math.max(3, 4);';
    expect(limitsInOnePlace([at('src/gate/a.ts', bounds)])).toEqual([]);
    const page = at('src/console/a.ts', 'const WAIT_MS = 9;');
    expect(limitsInOnePlace([at('src/gate/a.ts', fine), page])).toEqual([]);
  });

  it('both stores may export the same name, and a command that of its verb', () => {
    const names = ['src/store/sqlite/a.ts', 'src/store/postgres/b.ts', 'src/cli/command/c.ts'];
    const table = at('src/cli/commands/c.ts', "load: async () => (await import('../command/c.ts')).read");
    const files = names.map((path) => at(path, 'export function read() {}'));
    expect(oneMeaning([table, ...files])).toEqual([]);
  });

  it('a name in the code, a text, and what stands between backticks is no word of a comment', () => {
    const text = [
      "const door = 'nobody'; // runs as `nobody`, past a break-glass",
      "const url = 'http://door';",
    ].join('\n');
    expect(plainComments([at('src/gate/a.ts', text)])).toEqual([]);
    const title = at('test/a.test.ts', "it('is told to nobody', () => {});");
    expect(plainComments([title, at('examples/a.py', 'door = "nobody"')])).toEqual([]);
  });

  it('a name of one word, what users say, and a clock that is ahead are plain', () => {
    const names = at(
      'src/gate/a.ts',
      "const a = ['nobody', 'break_glass', 'The clock is ahead of the server.'];",
    );
    const said = at('src/finder/lexicon/a.ts', "const a = ['tell everybody'];");
    expect(plainMessages([names, said])).toEqual([]);
    expect(plainPages([at('docs/a.md', 'Runs as `nobody`; two humans use break-glass.')])).toEqual([]);
  });

  it('the same title in two groups is two titles', () => {
    const fine = at(
      'test/a.test.ts',
      "describe('a', () => { it('is it one run', () => {}); }); describe('b', () => { it('is it one run', () => {}); });",
    );
    expect(titlesReadAsSentences([fine])).toEqual([]);
  });

  it('two files that use a third make no cycle', () => {
    const a = at('src/gate/a.ts', "import './b.ts'; import './c.ts';");
    const b = at('src/gate/b.ts', "import './c.ts';");
    expect(noCycles([a, b, at('src/gate/c.ts', '')])).toEqual([]);
  });
});
