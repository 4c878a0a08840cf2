import { execFileSync } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { isDigest } from '../../src/canonical/digest.ts';
import { isUuid } from '../../src/canonical/uuid.ts';
import type { ReasonCode } from '../../src/refusal.ts';
import { keyturn } from '../support/pty.ts';
import { scratch } from '../support/scratch.ts';
import { answerOf, expectError, fileFolder, makeProject, type Project, UNKNOWN_ID } from './project.ts';

const folder = fileFolder();
let project: Project;
beforeAll(async () => {
  project = await makeProject(folder);
});

const envelope = (more: object = {}, args: object = { name: 'Ada' }) => ({
  issuer: 'bot',
  declared_goal: 'Say hello',
  effect: { kind: 'tool', tool: 'greet', arguments: args },
  ...more,
});

/** Through standard input, as an agent would. */
const pipe = (stdin: string | Uint8Array, ...more: string[]) =>
  keyturn(['propose', '--envelope', '-', ...more], { cwd: folder, stdin });

describe('propose', () => {
  it('prints the id and the hash, and nothing has run', async () => {
    const words = ['propose', '--tool', 'greet', '--arg', 'name=Ada Lovelace', '--by', 'bot', '--ttl', '2h'];
    const { code, stdout, stderr } = await project.run(...words);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const [first, id, hash, code80, expires] = stdout.split('\n');
    expect(first).toBe('[OK] bot proposes greet. Nothing runs until a human approves it');
    expect(isUuid(id!.replace(/^ID: +/, ''))).toBe(true);
    expect(isDigest(hash!.replace(/^Hash: +/, ''))).toBe(true);
    expect(code80).toMatch(/^Code: +[0-9A-Z]{4}(-[0-9A-Z]{4}){3}$/);
    const left_ms = Date.parse(expires!.replace(/^Expires: +/, '')) - Date.now();
    expect(left_ms).toBeLessThanOrEqual(2 * 3_600_000);
    expect(left_ms).toBeGreaterThan(3_600_000);
  });

  it('with an idempotency key twice is one intent, which its receipt withdraws, once', async () => {
    const words = ['propose', '--tool', 'greet', '--arg', 'name=Ada', '--by', 'bot', '--json'];
    const keyed = [...words, '--idempotency-key', 'order-4711-of-tuesday'];
    const proposed = async () =>
      (answerOf(await project.run(...keyed)) as unknown as { result: { [member: string]: string } }).result;
    const [first, again] = [await proposed(), await proposed()];
    expect(again).toEqual({ ...first, repeated: true });
    const withdraw = (...proof: string[]) =>
      project.run('withdraw', first.intent_id!, '--reason', 'too late', ...proof);
    expectError('RECEIPT_INVALID', await withdraw('--receipt', 'r'.repeat(43)));
    expectError('USAGE', await withdraw('--receipt', first.receipt!, '--as', 'alice'));
    expect(await withdraw('--receipt', first.receipt!)).toMatchObject({
      code: 0,
      stdout: `[OK] bot withdrew ${first.intent_id}. That is final\n`,
    });
    expectError('INTENT_WITHDRAWN', await withdraw('--receipt', first.receipt!));
    const { stdout } = await project.run('check', first.intent_id!, first.hash!);
    expect(stdout).toBe('[ERROR] Approval verification failed\n');
  });

  it('gives each argument the type of its parameter', async () => {
    const words = [
      'propose',
      '--tool',
      'reach',
      '--arg',
      'count=7',
      '--arg',
      'loud=true',
      '--by',
      'bot',
      '--json',
    ];
    const { result } = answerOf(await project.run(...words)) as unknown as { result: { intent_id: string } };
    const seen = await project.inside((keyturn) => keyturn.intents.review({ intent_id: result.intent_id }));
    expect(seen.envelope.effect).toMatchObject({ arguments: { count: 7, loud: true } });
    expect(seen.effect).toMatchObject({ argv: ['/usr/bin/printf', '%s %s', '7', 'true'] });
  });

  it('takes a whole envelope from a file or from standard input', async () => {
    const file = join(folder, 'intent.json');
    writeFileSync(file, JSON.stringify(envelope({ intent_id: UNKNOWN_ID.replace('0', '1') })));
    const answer = answerOf(await project.run('propose', '--envelope', file, '--json'));
    expect(answer).toMatchObject({ ok: true, result: { intent_id: '10000000-0000-4000-8000-000000000000' } });
    expect((await pipe(JSON.stringify(envelope()))).code).toBe(0);
    expectError('INTENT_EXISTS', await project.run('propose', '--envelope', file));
  });

  it('without --by it is refused when several could be meant', async () => {
    const unsaid = await project.run('propose', '--tool', 'fail');
    expectError('PROPOSER_AMBIGUOUS', unsaid);
    expect(unsaid.stderr).toMatch(/It is not clear who proposes this: .*\balice\b.* or .*\./);
    expectError('PRINCIPAL_UNKNOWN', await project.run('propose', '--tool', 'fail', '--by', 'nobody'));
  });
});

describe('a proposal that is refused leaves no trace', () => {
  const bot = ['--by', 'bot'];
  const refused: [ReasonCode, string[]][] = [
    ['TOOL_UNKNOWN', ['--tool', 'nothing', ...bot]],
    ['ARGUMENT_MISSING', ['--tool', 'greet', ...bot]],
    ['ARGUMENT_UNKNOWN', ['--tool', 'greet', '--arg', 'name=A', '--arg', 'force=1', ...bot]],
    ['ARGUMENT_INVALID', ['--tool', 'reach', '--arg', 'count=10', ...bot]],
    ['ARGUMENT_INVALID', ['--tool', 'reach', '--arg', 'count=two', ...bot]],
    ['ARGUMENT_LOOKS_LIKE_OPTION', ['--tool', 'greet', '--arg', 'name=--version', ...bot]],
    ['TIME_MALFORMED', ['--tool', 'fail', '--ttl', 'soon', ...bot]],
    ['TIME_MALFORMED', ['--tool', 'fail', '--ttl', '60d', ...bot]],
    ['USAGE', ['--tool', 'greet', '--arg', 'name', ...bot]],
    ['USAGE', ['--tool', 'greet', '--arg', 'name=A', '--arg', 'name=B', ...bot]],
    ['USAGE', ['--tool', 'greet', '--envelope', '-']],
    ['USAGE', ['--envelope', '-', '--goal', 'x']],
    ['USAGE', []],
    ['USAGE', ['--tool', 'greet', '--plan', 'plan.json']],
    ['FILE_NOT_FOUND', ['--envelope', 'missing.json']],
    ['FILE_NOT_REGULAR', ['--envelope', '.']],
  ];
  it.each(refused)('%s: %j', async (code, words) => {
    const before = await project.size();
    expectError(code, await project.run('propose', ...words));
    expect(await project.size()).toBe(before);
  });

  const text = (value: unknown) => JSON.stringify(value);
  const envelopes: [string, ReasonCode, string | Uint8Array][] = [
    ['an unknown key', 'SHAPE_INVALID', text(envelope({ force: true }))],
    ['a wrong type', 'SHAPE_INVALID', text(envelope({ declared_goal: 7 }))],
    ['an upper-case id', 'SHAPE_INVALID', text(envelope({ intent_id: UNKNOWN_ID.replace('8', 'A') }))],
    ['a short id', 'SHAPE_INVALID', text(envelope({ intent_id: UNKNOWN_ID.slice(1) }))],
    ['a plan', 'SHAPE_INVALID', text(envelope({ effect: { kind: 'plan' } }))],
    ['a hash that is not its own', 'ENVELOPE_HASH_WRONG', text(envelope({ integrity_hash: 'f'.repeat(64) }))],
    ['an effect that is not its own', 'EFFECT_CHANGED', text(otherEffect())],
    ['an expiry that is past', 'INTENT_EXPIRED', text(envelope({ expiry: '2020-01-01T00:00:00.000Z' }))],
    ['a duplicate key', 'JSON_DUPLICATE_KEY', text(envelope()).replace('{', '{"issuer":"alice",')],
    ['a lone surrogate', 'JSON_BAD_STRING', text(envelope()).replace('Ada', '\\ud800')],
    ['an escaped NUL', 'JSON_BAD_STRING', text(envelope()).replace('Ada', '\\u0000')],
    ['a raw NUL', 'JSON_MALFORMED', text(envelope()).replace('Ada', 'A\0a')],
    ['a number that is too large', 'JSON_BAD_NUMBER', text(envelope()).replace('"Ada"', '1e999')],
    ['a 10 MB string', 'INPUT_TOO_LARGE', text(envelope({ declared_goal: 'x'.repeat(10_000_000) }))],
    ['a goal that nobody would read', 'SHAPE_INVALID', text(envelope({ declared_goal: 'x'.repeat(5000) }))],
    ['a 200 KB string', 'INPUT_TOO_LARGE', text(envelope({ declared_goal: 'x'.repeat(200_000) }))],
    [
      '10,000 levels',
      'JSON_TOO_DEEP',
      text(envelope()).replace('"Ada"', `${'['.repeat(10_000)}${']'.repeat(10_000)}`),
    ],
    [
      'invalid UTF-8',
      'INPUT_NOT_UTF8',
      Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xff, 0xfe]), Buffer.from('"}')]),
    ],
    ['nothing', 'JSON_MALFORMED', ''],
    ['half an object', 'JSON_MALFORMED', '{"issuer":'],
    ['a list', 'SHAPE_INVALID', '[]'],
    [
      'an argument that is called __proto__',
      'JSON_NOT_PLAIN',
      text(envelope()).replace('"arguments":{', '"arguments":{"__proto__":{"name":"Eve"},'),
    ],
    ['an argument with an escape sequence', 'ARGUMENT_INVALID', text(envelope({}, { name: '\u001b[2J' }))],
    [
      'an argument that turns the reading direction',
      'ARGUMENT_INVALID',
      text(envelope({}, { name: 'a\u202eb' })),
    ],
  ];
  it.each(envelopes)('an envelope with %s is %s', async (_what, code, input) => {
    const before = await project.size();
    expectError(code, await pipe(input));
    expect(await project.size()).toBe(before);
  });

  it('an envelope that is a FIFO, a folder or a device is refused at once', async () => {
    const pipe = join(scratch(), 'pipe');
    execFileSync('mkfifo', [pipe]);
    for (const path of [pipe, folder, '/dev/null'])
      expectError('FILE_NOT_REGULAR', await project.run('propose', '--envelope', path));
  });

  it('words that are not UTF-8 are refused, because what was typed is not what would be signed', async () => {
    const goal = '\ufffd'; // what node makes of bytes that are no text
    expectError('INPUT_NOT_UTF8', await project.run('propose', '--tool', 'fail', '--goal', goal, ...bot));
  });

  it('a registry that can be written is not proposed from', async () => {
    chmodSync(join(folder, 'tools.yaml'), 0o644);
    try {
      expectError('REGISTRY_WRITABLE', await project.run('propose', '--tool', 'fail', ...bot));
    } finally {
      chmodSync(join(folder, 'tools.yaml'), 0o444);
    }
  });
});

function otherEffect() {
  const { effect, ...rest } = envelope();
  return { ...rest, effect: { ...effect, digest: 'e'.repeat(64) } };
}
