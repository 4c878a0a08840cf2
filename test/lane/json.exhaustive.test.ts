import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { laneJsonSchema } from '../../src/cli/lane-schema.ts';
import { scratch } from '../support/scratch.ts';
import { approval, commandLine, execution, folder, HASH, ID, OTHER_HASH } from './lane.ts';
import { stage } from './stage.ts';
import { atTerminal, ENTER } from './terminal.ts';

const { path, keyturn } = commandLine();

const published = JSON.parse(readFileSync(new URL('../../schemas/lane.json', import.meta.url), 'utf8'));
const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, validateFormats: false });
ajv.addSchema(published, 'lane.json');

/** The one JSON object that was printed, checked against the definition of its command and against the whole. */
function answerOf(command: string, { stdout, code }: { stdout: string; code: number | null }) {
  expect(stdout.split('\n')).toHaveLength(2);
  const answer = JSON.parse(stdout);
  for (const schema of ['lane.json', `lane.json#/$defs/${command}`]) {
    const validate = ajv.getSchema(schema)!;
    expect(validate(answer), `${stdout}${JSON.stringify(validate.errors)}`).toBe(true);
  }
  expect(code).toBe(answer.ok ? 0 : 1);
  return answer;
}

const at = (words: string[], typed: string) => atTerminal(path(), words, { type: () => typed });

describe('the published schema of the lane', () => {
  it('is the one that the program is written against; scripts/schemas.mjs writes it anew', () => {
    expect(published).toEqual(JSON.parse(JSON.stringify(laneJsonSchema())));
  });

  it('is not loaded by a check, and neither is the library it is made with', async () => {
    const words = ['lane', 'check', ID, HASH, '--queue', folder({ approved: [approval()] }), '--json'];
    const env = withoutZod();
    expect(answerOf('lane-check', await keyturn(words, { env }))).toMatchObject({ ok: true });
    const run = await keyturn(stage().words, { env });
    expect(run).toMatchObject({ code: 1, stderr: expect.stringContaining('zod is not to be loaded') });
  });

  it('knows the yes and the no of lane queue', async () => {
    const yes = await keyturn(['lane', 'queue', '--queue', scratch(), '--json', 'Back up']);
    expect(answerOf('lane-queue', yes)).toMatchObject({ ok: true });
    const no = await keyturn(['lane', 'queue', '--queue', scratch(), '--json', ' ']);
    expect(answerOf('lane-queue', no)).toMatchObject({ ok: false, code: 'INTENT_EMPTY' });
  });

  it('knows every answer of lane review', async () => {
    const words = (queue: string) => ['lane', 'review', '--queue', queue, '--json'];
    const queue = folder({ pending: [approval()] });
    expect(answerOf('lane-review', await at(words(queue), ENTER))).toMatchObject({
      ok: true,
      approved: null,
    });
    expect(answerOf('lane-review', await at(words(queue), `y${ENTER}`))).toMatchObject({ ok: false });
    expect(answerOf('lane-review', await at(words(queue), `${ID}${ENTER}`))).toMatchObject({
      ok: true,
      pending: [{ id: ID }],
      approved: { id: ID, hash: HASH },
    });
    expect(answerOf('lane-review', await keyturn(words(queue)))).toMatchObject({ ok: true, pending: [] });
    expect(answerOf('lane-review', await keyturn(words(scratch())))).toMatchObject({ ok: false });
  });

  it('knows the yes and the no of lane verify and lane check', async () => {
    const queue = folder({ approved: [approval()] });
    const ask = (command: string, hash: string, from = queue) =>
      keyturn(['lane', command, ID, hash, '--queue', from, '--json']);
    expect(answerOf('lane-verify', await ask('verify', HASH))).toEqual({ ok: true, id: ID, hash: HASH });
    expect(answerOf('lane-verify', await ask('verify', OTHER_HASH))).toMatchObject({ ok: false });
    expect(answerOf('lane-check', await ask('check', HASH))).toMatchObject({ ok: true, code: null });
    expect(answerOf('lane-check', await ask('check', OTHER_HASH))).toMatchObject({ code: 'HASH_MISMATCH' });
    const ran = folder({ approved: [approval()], executed: [execution()] });
    expect(answerOf('lane-check', await ask('check', HASH, ran))).toMatchObject({
      ok: false,
      executed_at: expect.any(String),
    });
    const unnamed = await keyturn(['lane', 'check', ID, '--json']);
    expect(answerOf('lane-check', unnamed)).toMatchObject({ code: 'USAGE' });
  });

  it('knows every answer of lane run', async () => {
    const set = stage();
    const words = [...set.words, '--json'];
    expect(answerOf('lane-run', await keyturn([...words, '--dry-run']))).toMatchObject({ dry_run: true });
    expect(answerOf('lane-run', await at(words, `n${ENTER}`))).toMatchObject({
      ok: false,
      code: 'CONFIRMATION_DECLINED',
    });
    expect(answerOf('lane-run', await at(words, `y${ENTER}`))).toMatchObject({ ok: true, exit_code: 0 });
    expect(answerOf('lane-run', await keyturn(words))).toMatchObject({ code: 'ALREADY_EXECUTED' });
    const failing = stage({ body: 'echo no >&2; exit 3' });
    expect(answerOf('lane-run', await at([...failing.words, '--json'], `y${ENTER}`))).toMatchObject({
      ok: false,
      outcome: 'failure',
      exit_code: 3,
      code: 'TOOL_EXIT_NONZERO',
    });
    const lost = stage({ body: 'rm -r "$QUEUE"' });
    const unrecorded = await at([...lost.words, '--json'], `y${ENTER}`);
    expect(answerOf('lane-run', unrecorded)).toMatchObject({ code: 'RECORDING_FAILED' });
  });

  it('knows the answer to words that no command of the lane understands', async () => {
    for (const words of [
      ['lane', 'run', '--nonsense', '--json'],
      ['lane', 'queue', '--json'],
    ])
      expect(answerOf('problem', await keyturn(words))).toMatchObject({ ok: false, code: 'USAGE' });
  });
});

/** An environment in which node refuses to load the schema library. */
function withoutZod(): Record<string, string> {
  const home = scratch();
  const hooks = `export async function resolve(name, context, next) {
    if (name === 'zod') throw new Error('zod is not to be loaded');
    return next(name, context);
  }`;
  writeFileSync(join(home, 'hooks.mjs'), hooks);
  const start = "import { register } from 'node:module'; register('./hooks.mjs', import.meta.url);";
  writeFileSync(join(home, 'start.mjs'), start);
  return { NODE_OPTIONS: `--import=${join(home, 'start.mjs')}` };
}
