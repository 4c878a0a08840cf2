import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { freshDist } from './support/dist.ts';
import { newcomer, nextOf, started, turnNext } from './support/example.ts';
import { installDist } from './support/installed.ts';
import { until } from './support/processes.ts';
import { runSeen } from './support/seen.ts';

const ROOT = resolve(import.meta.dirname, '..');
const [, program] = /```ts\n([\s\S]*?)```/.exec(readFileSync(join(ROOT, 'docs/library.md'), 'utf8'))!;
const TSX = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;

const [, readme] = /```js agent.mjs\n([\s\S]*?)```/.exec(readFileSync(join(ROOT, 'README.md'), 'utf8'))!;
/** Its patience ends at a signal, and its tool is `greet`. */
const impatient = readme!
  .replace(
    'const signal = AbortSignal.timeout(600_000);',
    "const gone = new AbortController(); process.once('SIGUSR2', () => gone.abort()); const { signal } = gone;",
  )
  .replace(
    "tool: 'backup', arguments: { file: 'data/numbers.txt' }",
    "tool: 'greet', arguments: { name: 'Grace' }",
  );

describe('the agent of README', () => {
  const dist = freshDist();

  it('says that its tool runs, where its patience ends meanwhile, and ends as it should', async () => {
    const p = await newcomer('sleep 60');
    installDist(p.root, dist);
    writeFileSync(join(p.root, 'agent.mjs'), impatient);
    const { child, ended } = started(p, ['agent.mjs']);
    const intent = await nextOf(p);
    await p.keyturn.intents.turn({ ...intent, signer: p.ada });
    const stop = new AbortController();
    const run = runSeen(p.keyturn, { ...intent, confirm: async () => true, abort: stop.signal });
    const { intent_id } = intent;
    await until(async () => (await p.keyturn.intents.get({ intent_id })).status_word === 'running');
    child.kill('SIGUSR2');
    const told = await ended;
    stop.abort();
    await run;
    expect(told).toEqual({ code: 0, said: expect.stringMatching(/^It runs by now, .*\nrunning null\n$/) });
  });
});

describe('docs/library.md', () => {
  const dist = freshDist();

  async function running() {
    const p = await newcomer();
    installDist(p.root, dist);
    writeFileSync(
      join(p.root, 'program.mts'),
      program!.replace('600_000', 'Number(process.env.PATIENCE_MS)'),
    );
    const start = (patience_ms: number) =>
      started(p, ['--import', TSX, 'program.mts'], { PATIENCE_MS: String(patience_ms) });
    return { p, start };
  }

  it('proposes, waits for the human, and reads what was printed', async () => {
    const { p, start } = await running();
    const { ended } = start(600_000);
    await turnNext(p);
    const { code, said } = await ended;
    expect(said).toMatch(/^proposed [0-9a-f-]{36}\nHello, Grace!\n/);
    expect(code).toBe(0);
  });

  it('tells of a no, with its reason', async () => {
    const { p, start } = await running();
    const { ended } = start(600_000);
    await p.keyturn.intents.reject({ ...(await nextOf(p)), reason: 'Not now.', signer: p.ada });
    expect((await ended).said).toContain('rejected Not now.\n');
  });

  it('takes it back when nobody answers in time', async () => {
    const { start } = await running();
    expect((await start(1).ended).said).toContain('withdrawn No answer in time.\n');
  });

  it('has the types that it says', () => {
    const name = join(ROOT, 'test/program-of-the-page.ts');
    const options = {
      ...ts.parseJsonConfigFileContent(
        ts.readConfigFile(join(ROOT, 'tsconfig.json'), ts.sys.readFile).config,
        ts.sys,
        ROOT,
      ).options,
      incremental: false,
      paths: { keyturn: ['./src/index.ts'] },
    };
    const host = ts.createCompilerHost(options);
    const { fileExists, readFile } = host;
    host.fileExists = (path) => path === name || fileExists(path);
    host.readFile = (path) => (path === name ? program : readFile(path));
    const { getSourceFile } = host;
    host.getSourceFile = (path, ...rest) =>
      path === name
        ? ts.createSourceFile(path, program!, ts.ScriptTarget.ES2023)
        : getSourceFile(path, ...rest);
    const faults = ts.getPreEmitDiagnostics(ts.createProgram([name], options, host));
    expect(faults.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))).toEqual([]);
  }, 600_000);

  it('the HTTP endpoint of the examples proposes, waits, and takes back', async () => {
    const p = await newcomer();
    installDist(p.root, dist);
    copyFileSync(join(ROOT, 'examples/http.mjs'), join(p.root, 'http.mjs'));
    const at = `http://127.0.0.1:${await started(p, ['http.mjs'], { PORT: '0' }).first}`;
    const asked = { goal: 'Keep the numbers', tool: 'backup', given: { file: 'data/numbers.txt' } };
    const send = async (method: string, path: string, body?: object, headers = {}) => {
      const text = body && JSON.stringify(body);
      const answer = await fetch(`${at}/${path}`, { method, headers, ...(text && { body: text }) });
      return { status: answer.status, body: (await answer.json()) as Record<string, string> };
    };
    const key = { 'idempotency-key': 'a-key-that-the-client-keeps' };
    const first = await send('POST', '', asked, key);
    expect(first).toMatchObject({ status: 200, body: { repeated: false } });
    const { intent_id } = first.body;
    expect((await send('POST', '', asked, key)).body.intent_id).toBe(intent_id);
    const result = send('GET', intent_id!);
    await turnNext(p);
    expect(await result).toMatchObject({ status: 200, body: { status_word: 'succeeded' } });
    expect(existsSync(join(p.root, 'backups/numbers.txt'))).toBe(true);
    const second = (await send('POST', '', asked)).body;
    const back = { goal: 'Not needed any more', receipt: second.receipt };
    expect((await send('DELETE', second.intent_id!, back)).status).toBe(200);
    expect((await send('GET', second.intent_id!)).body.status_word).toBe('withdrawn');
    expect((await send('GET', 'nothing')).body.code).toBe('ID_MALFORMED');
  });
});

it.each(['http.mjs', 'langgraph.mjs', 'mcp.mjs'])('examples/%s has at most 25 lines', (name) => {
  const lines = readFileSync(join(ROOT, 'examples', name), 'utf8')
    .trimEnd()
    .split('\n');
  expect(lines.length).toBeLessThanOrEqual(25);
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(120);
});
