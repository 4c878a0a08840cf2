import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sha256 } from '../../src/canonical/digest.ts';
import { limits } from '../../src/limits.ts';
import { scratch } from '../support/scratch.ts';
import {
  approval,
  commandLine,
  folder,
  HASH,
  ID,
  linesOf,
  OTHER_HASH,
  OTHER_ID,
  someone,
  start,
  TIME,
} from './lane.ts';
import { atTerminal, END_OF_INPUT, ENTER } from './terminal.ts';

const { path, keyturn } = commandLine();

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

const queue = (at: string, text: string, input?: string | Uint8Array) =>
  keyturn(['lane', 'queue', '--queue', at, text], input === undefined ? {} : { input });

const review = (at: string, typed: string) =>
  atTerminal(path(), ['lane', 'review', '--queue', at], { type: () => typed });

describe('queueing', () => {
  it('queueing appends one line with id, timestamp and hash, and never the text', async () => {
    const at = scratch();
    const text = 'Back up the photos of Zoë 🔑';
    const answer = await queue(at, text);
    const [line, ...more] = linesOf(at, 'pending');
    expect(more).toEqual([]);
    expect(Object.keys(line!)).toEqual(['id', 'timestamp', 'hash']);
    expect(line).toEqual({
      id: expect.stringMatching(UUID),
      timestamp: expect.stringMatching(INSTANT),
      hash: sha256(text),
    });
    expect(answer).toEqual({
      stdout: `[OK] Intent queued\nID: ${line!.id}\nHash: ${line!.hash}\n`,
      stderr: '',
      code: 0,
    });
    expect(readdirSync(at)).toEqual(['pending.jsonl']);
  });

  it('the text may come from standard input, and every byte of it counts', async () => {
    const at = scratch();
    expect((await queue(at, '-', 'photos\n')).code).toBe(0);
    expect(linesOf(at, 'pending')[0]!.hash).toBe(sha256('photos\n'));
  });

  it('an empty intent is an error and leaves pending.jsonl as it was', async () => {
    const at = folder({ pending: [approval()] });
    const before = readFileSync(join(at, 'pending.jsonl'));
    for (const [text, input] of [
      ['', ''],
      ['  \t', ''],
      ['-', ''],
      ['-', ' \n\n'],
    ] as const) {
      const answer = await queue(at, text, input);
      expect(answer).toMatchObject({ stdout: '[ERROR] The intent has no text.\n', code: 1 });
      expect(answer.stderr).toMatch(/^INTENT_EMPTY: /);
    }
    expect(readFileSync(join(at, 'pending.jsonl'))).toEqual(before);
  });

  it('text that is not UTF-8, too long, or has a NUL is refused and leaves no file', async () => {
    const at = scratch();
    const codes = await Promise.all([
      queue(at, '-', Buffer.from([0x70, 0xff])),
      queue(at, '-', 'x'.repeat(limits.intent_text_bytes + 1)),
      queue(at, '-', 'a\0b'),
      start('sh', [
        '-c',
        `exec "$0" "$1" lane queue --queue "$2" "$(printf 'p\\377')"`,
        process.execPath,
        path(),
        at,
      ]),
    ]);
    expect(codes.map(({ stderr }) => stderr.match(/[A-Z]+_[A-Z_0-9]+/)?.[0])).toEqual([
      'INPUT_NOT_UTF8',
      'INPUT_TOO_LARGE',
      'JSON_BAD_STRING',
      'INPUT_NOT_UTF8',
    ]);
    expect(codes.map(({ code }) => code)).toEqual([1, 1, 1, 1]);
    expect(readdirSync(at)).toEqual([]);
  });

  it('the folder must exist, and a damaged pending.jsonl takes no line', async () => {
    const nowhere = join(scratch(), 'nowhere');
    expect((await queue(nowhere, 'photos')).stderr).toMatch(/^QUEUE_MISSING: /);
    expect(existsSync(nowhere)).toBe(false);
    const half = scratch();
    writeFileSync(join(half, 'pending.jsonl'), JSON.stringify(approval()));
    expect((await queue(half, 'photos')).stderr).toMatch(/^QUEUE_MALFORMED: /);
    expect(readFileSync(join(half, 'pending.jsonl'), 'utf8')).toBe(JSON.stringify(approval()));
  });

  it('a file that cannot take the line refuses', async () => {
    const at = scratch();
    mkdirSync(join(at, 'pending.jsonl'));
    expect(await queue(at, 'photos')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^FILE_NOT_REGULAR: /),
    });
  });

  it('many processes append at once and every line is whole', async () => {
    const at = scratch();
    const texts = Array.from({ length: 16 }, (_, i) => `intent ${i}`);
    const answers = await Promise.all(texts.map((text) => queue(at, text)));
    expect(answers.map(({ code }) => code)).toEqual(texts.map(() => 0));
    const lines = linesOf(at, 'pending');
    expect(lines.map(({ hash }) => hash).sort()).toEqual(texts.map(sha256).sort());
    expect(new Set(lines.map(({ id }) => id)).size).toBe(16);
  });

  it('a queue file only grows: every earlier byte stays', async () => {
    const at = folder({
      pending: [`{"hash": "${HASH}", "id":"${ID}",  "timestamp":"${TIME}", "by": "hand"}`],
    });
    let before = readFileSync(join(at, 'pending.jsonl'), 'utf8');
    for (const text of ['one', 'two']) {
      await queue(at, text);
      const after = readFileSync(join(at, 'pending.jsonl'), 'utf8');
      expect(after.startsWith(before)).toBe(true);
      expect(after.length).toBeGreaterThan(before.length);
      before = after;
    }
    folder(
      { approved: [`{"hash": "${HASH}", "id":"${OTHER_ID}",  "timestamp":"${TIME}", "by": "hand"}`] },
      at,
    );
    const approved = readFileSync(join(at, 'approved.jsonl'), 'utf8');
    await review(at, `${ID}${ENTER}`);
    expect(readFileSync(join(at, 'approved.jsonl'), 'utf8').startsWith(approved)).toBe(true);
    expect(linesOf(at, 'approved').map(({ id }) => id)).toEqual([OTHER_ID, ID]);
    expect(readFileSync(join(at, 'pending.jsonl'), 'utf8')).toBe(before);
  });

  it('--json prints the queued line', async () => {
    const at = scratch();
    const { stdout } = await keyturn(['lane', 'queue', '--queue', at, '--json', 'photos']);
    expect(JSON.parse(stdout)).toEqual({ ok: true, ...linesOf(at, 'pending')[0] });
    const no = await keyturn(['lane', 'queue', '--queue', at, '--json', '']);
    expect(JSON.parse(no.stdout)).toMatchObject({ ok: false, code: 'INTENT_EMPTY' });
  });
});

describe('reviewing', () => {
  const LIST = `Pending intents: 1\n  ${ID}  ${TIME}  ${HASH}\n`;

  it('review lists what is pending and not yet approved', async () => {
    const [first, second] = [someone(), someone()];
    const at = folder({
      pending: [approval(OTHER_ID), approval(first), approval(second), approval(first)],
      approved: [approval(OTHER_ID)],
    });
    const seen = await review(at, ENTER);
    const list = `Pending intents: 2\n  ${first}  ${TIME}  ${HASH}\n  ${second}  ${TIME}  ${HASH}\n`;
    expect(seen.stdout).toBe(`${list}[OK] Nothing approved\n`);
    expect(seen.screen.startsWith(list)).toBe(true);
    const done = folder({ pending: [approval()], approved: [approval()] });
    const nothing = await keyturn(['lane', 'review', '--queue', done]);
    expect(nothing).toEqual({ stdout: '[OK] Nothing to review\n', stderr: '', code: 0 });
    expect((await keyturn(['lane', 'review', '--queue', scratch()])).stderr).toMatch(/^QUEUE_MISSING: /);
  });

  it('pressing Enter approves nothing, exits 0 and creates no file', async () => {
    const at = folder({ pending: [approval()] });
    const seen = await review(at, ENTER);
    expect(seen).toMatchObject({ stdout: `${LIST}[OK] Nothing approved\n`, stderr: '', code: 0 });
    expect(readdirSync(at)).toEqual(['pending.jsonl']);
  });

  it('a wrong id approves nothing and exits 1', async () => {
    const at = folder({ pending: [approval()] });
    for (const typed of [OTHER_ID, ID.toUpperCase(), ID.slice(0, -1), `${ID} `, ` ${ID}`, 'y', 'yes', '*']) {
      const seen = await review(at, `${typed}${ENTER}`);
      expect(seen).toMatchObject({ stdout: `${LIST}[ERROR] What was typed is not the exact id.\n`, code: 1 });
      expect(seen.stderr).toMatch(/^CONFIRMATION_WRONG: /);
      expect(seen.screen.split('Type the exact UUID')).toHaveLength(4);
    }
    expect(await review(at, END_OF_INPUT)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^CONFIRMATION_D/),
    });
    expect(readdirSync(at)).toEqual(['pending.jsonl']);
  });

  it('typing the exact id approves that intent alone and prints its id and hash', async () => {
    const at = folder({ pending: [approval(OTHER_ID, OTHER_HASH), approval()] });
    const seen = await review(at, `${ID}${ENTER}`);
    expect(seen).toMatchObject({ stderr: '', code: 0 });
    expect(seen.stdout.endsWith(`[OK] Intent approved\nID: ${ID}\nHash: ${HASH}\n`)).toBe(true);
    expect(linesOf(at, 'approved')).toEqual([
      { id: ID, timestamp: expect.stringMatching(INSTANT), hash: HASH },
    ]);
    expect(Object.keys(linesOf(at, 'approved')[0]!)).toEqual(['id', 'timestamp', 'hash']);
    const check = await keyturn(['lane', 'check', ID, HASH, '--queue', at]);
    expect(check).toMatchObject({ stdout: '[OK] Intent eligible for execution\n', code: 0 });
  });

  it('an id that is approved already, or pending with two hashes, is an error', async () => {
    const twice = folder({ pending: [approval(), approval(ID, OTHER_HASH)] });
    const ambiguous = await review(twice, `${ID}${ENTER}`);
    expect(ambiguous).toMatchObject({ code: 1, stderr: expect.stringMatching(/^QUEUE_AMBIGUOUS: /) });
    expect(readdirSync(twice)).toEqual(['pending.jsonl']);
    const at = folder({ pending: [approval(OTHER_ID), approval()], approved: [approval()] });
    const again = await review(at, `${ID}${ENTER}`);
    expect(again).toMatchObject({ code: 1, stderr: expect.stringMatching(/^ALREADY_APPROVED: /) });
    expect(linesOf(at, 'approved')).toHaveLength(1);
  });

  it('what another person approves while the prompt waits is not approved twice', async () => {
    const at = folder({ pending: [approval()] });
    const seen = await atTerminal(path(), ['lane', 'review', '--queue', at], {
      type: () => {
        folder({ approved: [approval()] }, at);
        return `${ID}${ENTER}`;
      },
    });
    expect(seen).toMatchObject({ code: 1, stderr: expect.stringMatching(/^ALREADY_APPROVED: /) });
    expect(linesOf(at, 'approved')).toEqual([approval()]);
  });

  it('review without a terminal approves nothing', async () => {
    const at = folder({ pending: [approval()] });
    const answer = await keyturn(['lane', 'review', '--queue', at], { input: `${ID}\n${ID}\n` });
    expect(answer).toMatchObject({ stdout: expect.stringMatching(/^\[ERROR\] /), code: 1 });
    expect(answer.stderr).toMatch(/^NO_TERMINAL: /);
    expect(readdirSync(at)).toEqual(['pending.jsonl']);
  });

  it('a damaged file stops the review', async () => {
    for (const files of [{ pending: [approval(), 'x'] }, { pending: [approval()], approved: ['x'] }]) {
      const answer = await keyturn(['lane', 'review', '--queue', folder(files)]);
      expect(answer).toMatchObject({ code: 1, stderr: expect.stringMatching(/^QUEUE_MALFORMED: /) });
    }
  });
});

describe('verifying', () => {
  const verify = (at: string, id = ID, hash = HASH) => keyturn(['lane', 'verify', id, hash, '--queue', at]);

  it('verify gives each of its six denials an error of its own and exits 1', async () => {
    const at = folder({ approved: [approval()] });
    expect(await verify(at)).toEqual({ stdout: '[OK] Intent approved\n', stderr: '', code: 0 });
    const answers = [
      await verify(at, ID.toUpperCase()),
      await verify(at, ID, HASH.slice(1)),
      await verify(scratch()),
      await verify(at, OTHER_ID),
      await verify(at, ID, OTHER_HASH),
      await verify(folder({ approved: [approval(), '{"id":'] })),
      await verify(folder({ approved: [approval(), approval(ID, OTHER_HASH)] })),
    ];
    expect(answers.map(({ stderr }) => stderr.split(':')[0])).toEqual([
      'ID_MALFORMED',
      'HASH_MALFORMED',
      'QUEUE_MISSING',
      'APPROVAL_MISSING',
      'HASH_MISMATCH',
      'QUEUE_MALFORMED',
      'QUEUE_AMBIGUOUS',
    ]);
    for (const { stdout, code } of answers) {
      expect(stdout).toMatch(/^\[ERROR\] [^\n]+\n$/);
      expect(code).toBe(1);
    }
    expect(new Set(answers.map(({ stdout }) => stdout)).size).toBe(answers.length);
  });
});
