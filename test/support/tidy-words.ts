import { basename } from 'node:path/posix';
import ts from 'typescript';
import { importsOf, nodesOf, parse, type Source, titlesOf } from './source.ts';
import { type Check, inSrc, modifiersOf, usesOf } from './tidy.ts';

/** How names, comments and tests read. What may import what stands in tidy.ts. */

/** Ways to wait for a length of time. A test waits for a condition: under load, a length is too short, and on a quiet machine too long. */
const WAITS = ['setTimeout', 'Atomics.wait'];
const WAIT_PLACE = 'test/support/processes.ts';

export const noFixedWaits: Check = (files) =>
  files
    .filter(({ path }) => path.startsWith('test/') && path !== WAIT_PLACE)
    .flatMap((file) => [
      ...importsOf(file)
        .filter((specifier) => /^(node:)?timers(\/promises)?$/.test(specifier))
        .map((specifier) => `${file.path} imports ${specifier}`),
      ...usesOf(file, WAITS),
      ...nodesOf(parse(file))
        .filter(ts.isPropertyAccessExpression)
        .filter(({ name }) => name.text === 'waitForTimeout')
        .map(() => `${file.path} uses waitForTimeout`),
    ]);

/** One builder of projects, and the tests of the founding itself. */
const FOUNDED_IN = [
  'test/support/found.ts',
  'test/findings/s21-passphrases.test.ts',
  'test/identity/keyfile.exhaustive.test.ts',
  'test/journey/postgres.exhaustive.test.ts',
];

export const oneBuilder: Check = (files) =>
  files
    .filter(({ path }) => path.startsWith('test/') && !FOUNDED_IN.includes(path))
    .flatMap((file) =>
      nodesOf(parse(file))
        .filter(ts.isPropertyAccessExpression)
        .filter((node) => node.getText() === 'Keyturn.init')
        .map(() => `${file.path} founds a project: \`found\` in test/support/found.ts does`),
    );

/** Metaphors, and subjects that leave open who is meant: the table of plain words. */
const UNCLEAR =
  /\b(nobody|somebody|whoever|whomever|anybody|everybody|someone|anyone|everyone|doors?|desks?|sheets?|bells?|roads?|glass|sight|hands|ahead)\b/i;
/**
 * What is a term in its place: names between backticks, words that are quoted, the user `nobody` of the operating system, a write-ahead log, and a
 * clock that is ahead, of a host or of a server.
 */
const TERMS =
  /`[^`]*`|"[^"]*"|break-glass|write-ahead|or nobody where that is root|\bclock\b[^.]*\bahead\b|\b(?:set|step|seem(?:ed)?) ahead\b|\b(?:runs|anything) ahead (?=of|or)/gi;

const unclearIn = (line: string) => UNCLEAR.exec(line.replace(TERMS, ''))?.[0];
const COMMENT = /^\s*(?:\/\/|\{?\/?\*)|\s\/\/ /;
/** In Python, Perl and the shell. */
const HASH_COMMENT = /(?:^|\s)#/;

/** Comments alone: the conformance pages quote the titles of tests. */
export const plainComments: Check = (files) =>
  files.flatMap(({ path, text }) => {
    const [comment, opening] = /\.(py|pl|sh)$/.test(path)
      ? [HASH_COMMENT, HASH_COMMENT]
      : [COMMENT, /\/[/*]|\*/];
    return text
      .split('\n')
      .map((line, index) => ({ line, at: `${path}:${index + 1}` }))
      .filter(({ line }) => comment.test(line))
      .map(({ line, at }) => ({ at, word: unclearIn(line.slice(line.search(opening))) }))
      .filter(({ word }) => word !== undefined)
      .map(({ at, word }) => `${at} says "${word}"`);
  });

/** What users of the finder say, in their own words. */
const SAID = /^src\/finder\/(?!simulation\.ts)/;

/** Messages, help and screens, and what the demonstrations say: texts of more than one word. A single word is a name. */
export const plainMessages: Check = (files) =>
  files
    .filter(({ path }) => /^(src|demo)\//.test(path) && !SAID.test(path))
    .flatMap((file) =>
      nodesOf(parse(file))
        .filter(
          (node) => ts.isStringLiteralLike(node) || ts.isTemplateLiteralToken(node) || ts.isJsxText(node),
        )
        .flatMap((node) => (node as ts.LiteralLikeNode).text.split('\n'))
        .filter((line) => /\S\s+\S/.test(line))
        .map((line) => ({ line, word: unclearIn(line) }))
        .filter(({ word }) => word !== undefined)
        .map(({ line, word }) => `${file.path} says "${word}": ${line.trim()}`),
    );

/** Pages, with the blocks in them. What a page has between backticks is a name. */
export const plainPages: Check = (pages) =>
  pages.flatMap(({ path, text }) =>
    text
      .split('\n')
      .map((line, index) => ({ word: unclearIn(line), at: `${path}:${index + 1}` }))
      .filter(({ word }) => word !== undefined)
      .map(({ word, at }) => `${at} says "${word}"`),
  );

const SOURCE_PATH = /`(?:src|test|scripts|bench|demo)\/\w[^`]*`/;
const IN_A_CHECKOUT = /\bcheckout\b/i;

/** The package has no sources: a page in it that names one says that it is in a checkout, in that line or in its first paragraph. */
export const noSourcesInPackage: Check = (pages) =>
  pages
    .filter(({ text }) => !IN_A_CHECKOUT.test(text.split('\n\n', 2).join()))
    .flatMap(({ path, text }) =>
      text
        .split('\n')
        .map((line, index) => ({ line, at: `${path}:${index + 1}` }))
        .filter(({ line }) => SOURCE_PATH.test(line) && !IN_A_CHECKOUT.test(line))
        .map(({ line, at }) => `${at} names ${SOURCE_PATH.exec(line)![0]}`),
    );

const VAGUE = /^(utils?|helpers?|managers?|commons?)$/i;

export const noVagueNames: Check = (files) =>
  files.flatMap((file) => [
    ...file.path
      .split(/[/._-]/)
      .filter((word) => VAGUE.test(word))
      .map((word) => `${file.path}: "${word}" says nothing`),
    ...exportedNamesOf(file)
      .filter((name) => name.split(/_|(?<=[a-z])(?=[A-Z])/).some((word) => VAGUE.test(word)))
      .map((name) => `${file.path}: "${name}" says nothing`),
  ]);

function exportedNamesOf(file: Source): string[] {
  return parse(file)
    .statements.filter((statement) => modifiersOf(statement).includes(ts.SyntaxKind.ExportKeyword))
    .flatMap((statement) => {
      if (ts.isVariableStatement(statement))
        return statement.declarationList.declarations.map((declaration) => declaration.name.getText());
      return 'name' in statement && statement.name ? [(statement.name as ts.Identifier).text] : [];
    });
}

/** Each word means one thing. Only these files, or those beneath these folders, export a name with it. */
const OWNED_WORDS: Readonly<Record<string, readonly string[]>> = {
  place: [
    'src/canonical/yaml.ts',
    'src/cli/human.ts',
    'src/durable/beneath-write.ts',
    'src/finder/number.ts',
    'src/gate/ledger-time.ts',
    'src/journey/reach.ts',
    'src/log.ts',
    'src/plan/edit/',
    'src/project/head-keeper.ts',
    'src/project/open.ts',
    'src/store/open.ts',
    'src/store/sqlite/in-place.ts',
  ],
  plan: [
    'src/plan/',
    'src/cli/command/plan.ts',
    'src/cli/plan-lines.ts',
    'src/display/plan.ts',
    'src/display/template.ts',
    'src/face/effect.ts',
    'src/face/plans.ts',
    'src/finder/simulation.ts',
    'src/journey/bound-plan.ts',
    'src/journey/plan-report.ts',
    'src/journey/plan-turn.ts',
    'src/journey/plan.ts',
    'src/limits.ts',
  ],
  snapshot: ['src/agent/snapshot.ts'],
  standing: ['src/gate/standing.ts', 'src/journey/standing.ts'],
  verdict: ['src/gate/standing.ts'],
};

/** What the agent core executes is no plan of changes, and its names say so. */
const AGENT_PLAN = /agent_?(execution)?plan(s|ned)?/i;

export const ownedWords: Check = (files) =>
  inSrc(files).flatMap((file) =>
    exportedNamesOf(file).flatMap((name) =>
      wordsIn(name.replace(AGENT_PLAN, ''))
        .filter((word) => OWNED_WORDS[word]?.every((owner) => !file.path.startsWith(owner)))
        .map((word) => `${file.path}: "${name}" is not what "${word}" means`),
    ),
  );

/** Of `PlannedRow` and `PLANS`, too, the word is `plan`. */
function wordsIn(name: string): string[] {
  return name.split(/_|(?<=[a-z])(?=[A-Z])/).map((part) =>
    part
      .toLowerCase()
      .replace(/^planned$/, 'plan')
      .replace(/s$/, ''),
  );
}

/** A row that no exported name needs any more. */
export const staleOwnedWords: Check = (files) =>
  Object.entries(OWNED_WORDS).flatMap(([word, owners]) =>
    owners
      .filter(
        (owner) =>
          !files.some(
            (file) =>
              file.path.startsWith(owner) &&
              exportedNamesOf(file).some((name) => wordsIn(name).includes(word)),
          ),
      )
      .map((owner) => `${owner} exports no name with "${word}"`),
  );

export const longerThan =
  (lines: number): Check =>
  (files) =>
    files
      .map((file) => ({ path: file.path, lines: file.text.trimEnd().split('\n').length }))
      .filter((file) => file.lines > lines)
      .map((file) => `${file.path} has ${file.lines} lines`);

/** Spelled in two parts, so that this file may hold them. */
const LEFTOVERS = new RegExp(
  `\\b(${['TO' + 'DO', 'FIX' + 'ME', 'X' + 'XX'].join('|')})\\b|@ts-(${'ign' + 'ore'}|${'nocheck'})`,
);

export const nothingLeftOver: Check = (files) =>
  files.flatMap((file) => [
    ...file.text
      .split('\n')
      .flatMap((line, index) => (LEFTOVERS.test(line) ? [`${file.path}:${index + 1} ${line.trim()}`] : [])),
    ...nodesOf(parse(file))
      .filter(ts.isPropertyAccessExpression)
      .filter((node) => /^(describe|it|test)(\.[a-z]+)*\.(only|skip|todo)$/.test(node.getText()))
      .map((node) => `${file.path} has ${node.getText()}`),
  ]);

export const titlesReadAsSentences: Check = (files) =>
  files
    .filter((file) => basename(file.path).endsWith('.test.ts'))
    .flatMap((file) => {
      const titles = titlesOf(file).map((title) => title.join(' › '));
      const twice = titles.filter((title, index) => titles.indexOf(title) !== index);
      const terse = titlesOf(file).filter((title) => isTerse(title.at(-1)!));
      return [
        ...twice.map((title) => `${file.path}: "${title}" is there twice`),
        ...terse.map((title) => `${file.path}: "${title.at(-1)}" is not a sentence`),
      ];
    });

/** A title with a placeholder gets its words from a table. */
function isTerse(title: string): boolean {
  return !/[%$]/.test(title) && title.trim().split(/\s+/).length < 3;
}

/**
 * Names that more than one file exports on purpose, each with the reason. A command is called like the verb that it calls, and
 * the two stores, and the browser's stand-in for the platform, export the same names: those need no row.
 */
const SHARED_NAMES: Readonly<Record<string, string>> = {
  AgentStep: 'a step as its contract writes it, and the same step as the ledger tells it',
  Field: 'a field of a simulation, and of a screen',
  Result: 'what a verb returns, which is what its command answers',
  Simulation: 'a simulation as its file defines it, and the same as the ledger tells it',
  digest: 'the schema of a fact, and the same with its name for the published schemas',
  folded: 'one spelling of a text, and a line broken at a width',
  freeze: 'the schema of a freeze, and the verb',
  id: 'the operand of a command, and the schema of the value',
  main: 'the command line from sources, and the same from a build',
  name: 'the schema of a fact, and the same for the published schemas',
  screens: 'what each part of the console that is loaded later can draw',
  time: 'the schema of a fact, and the same for the published schemas',
};

/** A row that no two files need any more. */
export const staleSharedNames: Check = (files) =>
  Object.keys(SHARED_NAMES)
    .filter((name) => {
      const exported = new RegExp(
        `^export (?:async )?(?:const|function\\*?|class|interface|type) ${name}\\b`,
        'm',
      );
      return inSrc(files).filter(({ text }) => exported.test(text)).length < 2;
    })
    .map((name) => `${name} is exported once`);

/** Files of one of these pairs stand for each other, so they export the same names. */
const TWINS: readonly (readonly [RegExp, RegExp])[] = [
  [/^src\/store\/sqlite\//, /^src\/store\/postgres\//],
  [/^src\/audit\/browser\/primitive\.ts$/, /^src\/canonical\/primitive\.ts$/],
  [/^src\/console\/refusal\.ts$/, /^src\/refusal\.ts$/],
];

const EXPORTED = /^export (?:async )?(?:const|function\*?|class|interface|type) ([A-Za-z_$][\w$]*)/gm;

/** How the table of commands names the function of a command. */
const COMMAND = /import\('\.\.\/command\/([\w-]+\.ts)'\)\)\.(\w+)/g;

/**
 * One word, one thing: a name that two files export has two meanings, or one of them is too many. A command is called like its verb; whatever
 * else its file exports is a name like any other.
 */
export const oneMeaning: Check = (files) => {
  const holders = new Map<string, Set<string>>();
  const commands = new Set(
    files
      .filter(({ path }) => path.startsWith('src/cli/commands/'))
      .flatMap(({ text }) =>
        [...text.matchAll(COMMAND)].map(([, file, name]) => `src/cli/command/${file} ${name}`),
      ),
  );
  for (const { path, text } of inSrc(files))
    for (const [, name] of text.matchAll(EXPORTED))
      if (!commands.has(`${path} ${name}`)) holders.set(name!, (holders.get(name!) ?? new Set()).add(path));
  const areTwins = ([one, other, third]: readonly string[]) =>
    third === undefined && TWINS.some((pair) => pair.every((side) => side.test(one!) || side.test(other!)));
  return [...holders]
    .map(([name, paths]) => [name, [...paths].sort()] as const)
    .filter(([name, paths]) => paths.length > 1 && !areTwins(paths) && !Object.hasOwn(SHARED_NAMES, name))
    .map(([name, paths]) => `${name} is exported by ${paths.join(' and ')}`);
};
