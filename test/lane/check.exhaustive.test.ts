import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  closeSync,
  constants,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkEligibility } from '../../src/lane/check.ts';
import { queueFolder } from '../../src/lane/folder.ts';
import { processesWith } from '../support/processes.ts';
import { scratch } from '../support/scratch.ts';
import {
  approval,
  commandLine,
  execution,
  folder,
  HASH,
  ID,
  OTHER_HASH,
  OTHER_ID,
  someone,
  start,
  TIME,
} from './lane.ts';
import { MALFORMED_EXECUTED, MALFORMED_INTENT } from './malformed.ts';

const { path, keyturn } = commandLine();

const OK = '[OK] Intent eligible for execution\n';
const NOT_APPROVED = '[ERROR] Approval verification failed\n';
const RECORD_BAD = '[ERROR] Execution record cannot be trusted\n';

const check = (queue: string, id = ID, hash = HASH, ...more: string[]) =>
  keyturn(['lane', 'check', id, hash, '--queue', queue, ...more]);

/** Exact stdout, exit 1, and the reason code on stderr. */
async function denied(queue: string, stdout: string, code: string, ...more: string[]): Promise<void> {
  const answer = await check(queue, ID, HASH, ...more);
  expect(answer).toMatchObject({ stdout, code: 1 });
  expect(answer.stderr).toMatch(new RegExp(`^${code}: .+\\n$`));
}

function script(text: string): string {
  const file = join(scratch(), 'verifier');
  writeFileSync(file, `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  return file;
}

describe('the controller of 000', () => {
  it('an approved intent that never ran prints [OK] Intent eligible for execution and exits 0', async () => {
    const queue = folder({ approved: [approval(OTHER_ID), approval()], executed: [execution(OTHER_ID)] });
    expect(await check(queue)).toEqual({ stdout: OK, stderr: '', code: 0 });
  });

  it('an id that nobody approved prints [ERROR] Approval verification failed and exits 1', async () => {
    await denied(folder({ approved: [approval(OTHER_ID)] }), NOT_APPROVED, 'APPROVAL_MISSING');
    await denied(folder({ approved: [] }), NOT_APPROVED, 'APPROVAL_MISSING');
  });

  it('a hash that is not the approved one prints [ERROR] Approval verification failed and exits 1', async () => {
    await denied(folder({ approved: [approval(ID, OTHER_HASH)] }), NOT_APPROVED, 'HASH_MISMATCH');
  });

  it('a missing approved.jsonl prints [ERROR] Approval verification failed and exits 1', async () => {
    await denied(folder({ pending: [approval()] }), NOT_APPROVED, 'QUEUE_MISSING');
    await denied(join(scratch(), 'nowhere'), NOT_APPROVED, 'QUEUE_MISSING');
  });

  it('an id that is approved with two different hashes denies', async () => {
    for (const approved of [
      [approval(), approval(ID, OTHER_HASH)],
      [approval(ID, OTHER_HASH), approval()],
    ])
      await denied(folder({ approved }), NOT_APPROVED, 'QUEUE_AMBIGUOUS');
    const agreed = folder({ approved: [approval(), approval(ID, HASH, '2026-01-16T12:00:00Z')] });
    expect(await check(agreed)).toMatchObject({ stdout: OK, code: 0 });
  });

  it('an executed intent prints [ERROR] Intent already executed at its time and exits 1', async () => {
    const queue = folder({ approved: [approval()], executed: [execution(OTHER_ID), execution()] });
    await denied(queue, '[ERROR] Intent already executed at 2026-01-15T12:00:00Z\n', 'ALREADY_EXECUTED');
  });

  it('a missing executed.jsonl means that nothing has run', async () => {
    expect(await check(folder({ approved: [approval()] }))).toMatchObject({ stdout: OK, code: 0 });
  });

  it('a record in the form of 000 and a record in the form of 001 both count as executed', async () => {
    const forms = [
      approval(),
      execution(),
      { ...approval(), note: 'further keys are ignored', deep: { id: OTHER_ID } },
      { extra: [1, { id: OTHER_ID }], ...execution() },
      { ...approval(), ...execution() },
      { ...approval(), tool: 'a_tool', outcome: 'success' },
      `{ "outcome" : "success", "exit_code":0,"tool":"t",\t"timestamp":"${TIME}","id":"${ID}" }`,
      `{"id":"\\u0062${ID.slice(1)}","timestamp":"${TIME}","hash":"${HASH}"}`,
      `${JSON.stringify(execution())}\r`,
    ];
    for (const form of forms) {
      const queue = folder({
        approved: [approval()],
        executed: [execution(OTHER_ID), form, execution(someone())],
      });
      await denied(queue, `[ERROR] Intent already executed at ${TIME}\n`, 'ALREADY_EXECUTED');
    }
  });

  it('an id that stands elsewhere in a line of another intent does not count as executed', async () => {
    const executed = [
      { ...execution(OTHER_ID), tool: ID },
      { ...execution(OTHER_ID), note: ID },
    ];
    expect(await check(folder({ approved: [approval()], executed }))).toMatchObject({ stdout: OK, code: 0 });
  });

  it('a record of a failure and a record of a start count as executed', async () => {
    const line = `[ERROR] Intent already executed at ${TIME}\n`;
    const failed = folder({ approved: [approval()], executed: [execution(ID, 'failure', 127)] });
    await denied(failed, line, 'ALREADY_EXECUTED');
    const started = folder({ approved: [approval()], executed: [execution(ID, 'started', null)] });
    await denied(started, line, 'RUN_IN_DOUBT');
    const ended = folder({
      approved: [approval()],
      executed: [execution(ID, 'started', null, '2026-01-15T11:59:00Z'), execution()],
    });
    await denied(ended, line, 'ALREADY_EXECUTED');
  });

  it('a record of a century ago counts like one of today', async () => {
    const executed = [execution(ID, 'success', 0, '1926-01-15T12:00:00+01:00')];
    const queue = folder({ approved: [approval()], executed });
    await denied(queue, '[ERROR] Intent already executed at 1926-01-15T12:00:00+01:00\n', 'ALREADY_EXECUTED');
  });

  it('an intent approved ten years ago and one approved now get the same answer', async () => {
    for (const timestamp of ['2016-01-15T12:00:00', new Date().toISOString(), '2126-01-15 12:00:00.123456'])
      expect(await check(folder({ approved: [approval(ID, HASH, timestamp)] }))).toMatchObject({
        stdout: OK,
        code: 0,
      });
  });

  it('a folder in the style of another tool works: spaces, Windows line ends, further keys', async () => {
    const spaced = `{"id": "${ID}", "timestamp": "2026-01-15T12:00:00.123456", "hash": "${HASH}"}\r`;
    const queue = folder({ approved: [{ ...approval(OTHER_ID), reviewer: 'Zoë 🔑' }, spaced] });
    expect(await check(queue)).toMatchObject({ stdout: OK, code: 0 });
    const link = join(scratch(), 'link');
    symlinkSync(queue, link);
    expect(await check(link)).toMatchObject({ stdout: OK, code: 0 });
  });
});

describe('the inputs of lane check', () => {
  const corrupt = () => folder({ approved: ['corrupt'], executed: ['corrupt'] });

  it('a malformed id is an error before anything is looked up', async () => {
    for (const id of [
      '',
      'x',
      ID.slice(1),
      `${ID}0`,
      `{${ID}}`,
      ID.replaceAll('-', ''),
      ` ${ID}`,
      `${ID}\n`,
    ]) {
      const answer = await check(corrupt(), id);
      expect(answer).toMatchObject({ stdout: '[ERROR] Invalid intent UUID\n', code: 1 });
      expect(answer.stderr).toMatch(/^ID_MALFORMED: /);
    }
  });

  it('an upper-case or mixed-case id is refused, never normalised', async () => {
    const queue = folder({ approved: [approval()], executed: [execution()] });
    for (const id of [ID.toUpperCase(), `B${ID.slice(1)}`])
      expect(await check(queue, id)).toMatchObject({ stdout: '[ERROR] Invalid intent UUID\n', code: 1 });
  });

  it('a malformed hash is an error before anything is looked up', async () => {
    for (const hash of ['', 'x', HASH.slice(1), `${HASH}0`, HASH.toUpperCase(), `${HASH.slice(1)}g`]) {
      const answer = await check(corrupt(), ID, hash);
      expect(answer).toMatchObject({ stdout: '[ERROR] Invalid intent hash\n', code: 1 });
      expect(answer.stderr).toMatch(/^HASH_MALFORMED: /);
    }
  });

  it('a missing id or hash is an error, never a default', async () => {
    const queue = folder({ approved: [approval()] });
    for (const words of [[], [ID], [HASH]]) {
      const answer = await keyturn(['lane', 'check', '--queue', queue, ...words]);
      expect(answer).toMatchObject({ code: 1, stdout: expect.stringMatching(/^\[ERROR\] .+\n$/) });
      expect(answer.stderr).toMatch(/^USAGE: /);
    }
    for (const words of [[], ['--queue'], ['--queue=']])
      expect((await keyturn(['lane', 'check', ID, HASH, ...words])).stderr).toMatch(/^USAGE: /);
  });

  it('check takes one id and one hash and refuses anything more', async () => {
    const queue = folder({ approved: [approval()] });
    for (const more of [[ID], [OTHER_ID, OTHER_HASH], ['--queue', queue], ['--json=1']]) {
      const answer = await check(queue, ID, HASH, ...more);
      expect(answer).toMatchObject({ code: 1, stdout: expect.stringMatching(/^\[ERROR\] .+\n$/) });
      expect(answer.stderr).toMatch(/^USAGE: /);
    }
  });

  it('check knows no flag that skips, forces, retries, waits or schedules', async () => {
    const queue = folder({ approved: [approval()], executed: [execution()] });
    for (const flag of [
      '--force',
      '-f',
      '--yes',
      '-y',
      '--skip',
      '--retry',
      '--wait',
      '--at',
      '--ignore-errors',
      '--',
    ]) {
      const answer = await check(queue, ID, HASH, flag);
      expect(answer.code).toBe(1);
      expect(answer.stderr).toMatch(/^USAGE: /);
    }
  });

  it('--json prints the same answer as one JSON object', async () => {
    const queue = folder({ approved: [approval()], executed: [execution(OTHER_ID)] });
    const yes = await check(queue, ID, HASH, '--json');
    expect(yes).toMatchObject({ stderr: '', code: 0 });
    expect(JSON.parse(yes.stdout)).toMatchObject({ ok: true, line: OK.trim(), code: null });
    const no = await check(queue, OTHER_ID, HASH, '--json');
    expect(no).toMatchObject({ stderr: '', code: 1 });
    expect(JSON.parse(no.stdout)).toMatchObject({
      ok: false,
      line: NOT_APPROVED.trim(),
      code: 'APPROVAL_MISSING',
    });
  });
});

describe('files that cannot be trusted', () => {
  it('a malformed line anywhere in approved.jsonl denies', async () => {
    for (const [what, line] of MALFORMED_INTENT) {
      for (const approved of [
        [line, approval()],
        [approval(), line, approval(OTHER_ID)],
      ]) {
        const verdict = await checkEligibility(queueFolder(folder({ approved })), { id: ID, hash: HASH });
        expect(verdict, what).toMatchObject({
          ok: false,
          line: NOT_APPROVED.trim(),
          code: 'QUEUE_MALFORMED',
        });
      }
    }
    await denied(folder({ approved: [approval(), '{}', approval()] }), NOT_APPROVED, 'QUEUE_MALFORMED');
  });

  it('a malformed line anywhere in executed.jsonl denies, whichever id it is about', async () => {
    for (const [what, line] of MALFORMED_EXECUTED) {
      const executed = [execution(OTHER_ID), line, execution(someone())];
      const queue = queueFolder(folder({ approved: [approval()], executed }));
      const verdict = await checkEligibility(queue, { id: ID, hash: HASH });
      expect(verdict, what).toMatchObject({ ok: false, line: RECORD_BAD.trim(), code: 'QUEUE_MALFORMED' });
    }
    await denied(
      folder({ approved: [approval()], executed: ['{}', execution(OTHER_ID)] }),
      RECORD_BAD,
      'QUEUE_MALFORMED',
    );
  });

  it('bytes that are not UTF-8 deny', async () => {
    const queue = folder({ approved: [approval()] });
    const bad = Buffer.from(`${JSON.stringify({ ...execution(OTHER_ID), note: 'x' })}\n`);
    bad[bad.indexOf('"x"') + 1] = 0xff;
    writeFileSync(join(queue, 'executed.jsonl'), bad);
    await denied(queue, RECORD_BAD, 'QUEUE_MALFORMED');
  });

  it('a last line without its newline denies', async () => {
    const queue = folder({ approved: [approval()], executed: [execution(OTHER_ID)] });
    writeFileSync(join(queue, 'executed.jsonl'), JSON.stringify(execution(OTHER_ID)));
    await denied(queue, RECORD_BAD, 'QUEUE_MALFORMED');
    writeFileSync(join(queue, 'approved.jsonl'), JSON.stringify(approval()));
    await denied(queue, NOT_APPROVED, 'QUEUE_MALFORMED');
  });

  it('partial JSON on the last line of executed.jsonl denies', async () => {
    const queue = folder({ approved: [approval()], executed: [execution(OTHER_ID)] });
    appendFileSync(join(queue, 'executed.jsonl'), JSON.stringify(execution(someone())).slice(0, 40));
    await denied(queue, RECORD_BAD, 'QUEUE_MALFORMED');
  });

  it('a queue file that cannot be read denies', async () => {
    const queue = folder({ approved: [approval()] });
    mkdirSync(join(queue, 'executed.jsonl'));
    await denied(queue, RECORD_BAD, 'FILE_NOT_REGULAR');
    rmSync(join(queue, 'executed.jsonl'), { recursive: true });
    spawnSync('mkfifo', [join(queue, 'executed.jsonl')]);
    await denied(queue, RECORD_BAD, 'FILE_NOT_REGULAR');
    rmSync(join(queue, 'executed.jsonl'));
    symlinkSync('/dev/null', join(queue, 'executed.jsonl'));
    await denied(queue, RECORD_BAD, 'FILE_IS_SYMLINK');
    const file = join(scratch(), 'file');
    writeFileSync(file, '');
    await denied(file, NOT_APPROVED, 'FILE_UNREADABLE');
  });

  it('a damaged file stays damaged until a human repairs it, and is then accepted', async () => {
    const queue = folder({ approved: [approval()], executed: [execution(OTHER_ID), '{"id":'] });
    const before = readFileSync(join(queue, 'executed.jsonl'));
    await denied(queue, RECORD_BAD, 'QUEUE_MALFORMED');
    await denied(queue, RECORD_BAD, 'QUEUE_MALFORMED');
    expect(readFileSync(join(queue, 'executed.jsonl'))).toEqual(before);
    folder({ executed: [execution(OTHER_ID)] }, queue);
    expect(await check(queue)).toMatchObject({ stdout: OK, code: 0 });
  });

  it('while the approval fails, a damaged executed.jsonl is not even looked at', async () => {
    const queue = folder({ approved: [], executed: ['damaged'] });
    await denied(queue, NOT_APPROVED, 'APPROVAL_MISSING');
  });

  it('a message about a damaged line sends no control character to the terminal', async () => {
    const queue = folder({ approved: [approval()], executed: ['\u001b[2Jgone \u202e'] });
    const { stderr } = await check(queue);
    expect(stderr).toMatch(/^QUEUE_MALFORMED: [\x20-\x7e]+\n$/);
  });

  it('long files are validated to their last line, also across the borders of what is read at once', async () => {
    const many = Array.from({ length: 6000 }, (_, i) =>
      i % 3 === 0 ? approval(someone()) : execution(someone()),
    );
    const queue = folder({
      approved: [...many.filter((line) => 'hash' in line), approval()],
      executed: many,
    });
    expect(await check(queue)).toMatchObject({ stdout: OK, code: 0 });
    folder({ executed: [...many, execution()] }, queue);
    await denied(queue, `[ERROR] Intent already executed at ${TIME}\n`, 'ALREADY_EXECUTED');
    folder({ executed: [...many, execution(OTHER_ID, 'unheard of')] }, queue);
    await denied(queue, RECORD_BAD, 'QUEUE_MALFORMED');
  });
});

describe('what check never does', () => {
  it('every answer of check is exactly one [OK] or [ERROR] line on stdout', async () => {
    const queues = [
      folder({ approved: [approval()] }),
      folder({ approved: [] }),
      folder({ approved: [approval()], executed: [execution()] }),
      folder({ approved: [approval()], executed: [''] }),
      folder({}),
    ];
    for (const queue of queues) {
      const { stdout, stderr, code } = await check(queue);
      expect(stdout).toMatch(code === 0 ? /^\[OK\] [^\n]+\n$/ : /^\[ERROR\] [^\n]+\n$/);
      expect(stderr).toMatch(code === 0 ? /^$/ : /^[A-Z_]+: [^\n]+\n$/);
    }
  });

  it('an answer that cannot be written, and a failure that nobody foresaw, are never a yes', async () => {
    const queue = folder({ approved: [approval()] });
    const script = 'exec "$0" "$@" > /dev/full';
    const words = [process.execPath, path(), 'lane', 'check', ID, HASH, '--queue', queue];
    const full = await start('sh', ['-c', script, ...words]);
    expect(full).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^\[ERROR\] [^\n]+\nINTERNAL: [^\n]+\n$/),
    });
    const broken = async () => {
      throw new TypeError('nobody foresaw this');
    };
    const verdict = await checkEligibility(queueFolder(queue), { id: ID, hash: HASH }, broken);
    expect(verdict).toMatchObject({
      ok: false,
      line: '[ERROR] Verification tool error',
      code: 'VERIFIER_ERROR',
    });
  });

  it('check asks nobody anything and answers without a terminal', async () => {
    const answer = await check(folder({ approved: [approval()] }));
    expect(answer).toEqual({ stdout: OK, stderr: '', code: 0 });
  });

  it('check leaves every file of the queue folder byte for byte and time for time as it was', async () => {
    const queues = [
      folder({ pending: [approval()], approved: [approval()], executed: [execution(OTHER_ID)] }),
      folder({ approved: [approval()], executed: [execution()] }),
      folder({ approved: [approval()] }),
      folder({ approved: ['damaged'] }),
    ];
    for (const queue of queues) {
      const before = picture(queue);
      await check(queue);
      expect(picture(queue)).toEqual(before);
    }
  });

  it('pending.jsonl and the registry are never opened', async () => {
    const queue = folder({ pending: ['damaged'], approved: [approval()] });
    writeFileSync(join(queue, 'tools.yaml'), 'damaged: [');
    expect(await check(queue)).toMatchObject({ stdout: OK, code: 0 });
    if (spawnSync('strace', ['-V']).error) return;
    const trace = join(scratch(), 'trace');
    const words = [
      path(),
      'lane',
      'check',
      ID,
      HASH,
      '--queue',
      queue,
      '--registry',
      join(queue, 'tools.yaml'),
    ];
    const traced = await start('strace', [
      '-f',
      '-o',
      trace,
      '-e',
      'trace=open,openat,openat2',
      process.execPath,
      ...words,
    ]);
    expect(traced).toMatchObject({ stdout: OK, code: 0 });
    const opened = readFileSync(trace, 'utf8').match(new RegExp(`${queue}[^"]*`, 'g'));
    expect(opened).toEqual([join(queue, 'approved.jsonl'), join(queue, 'executed.jsonl')]);
  });

  it('a missing, malformed or writable registry changes no answer of check', async () => {
    const queue = folder({ approved: [approval()] });
    const registry = join(queue, 'tools.yaml');
    expect(await check(queue, ID, HASH, '--registry', registry)).toMatchObject({ stdout: OK, code: 0 });
    writeFileSync(registry, 'tools: [', { mode: 0o666 });
    expect(await check(queue, ID, HASH, '--registry', registry)).toMatchObject({ stdout: OK, code: 0 });
  });

  it('check ends with its answer and leaves no process behind', async () => {
    const queue = folder({ approved: [approval()] });
    const mark = someone();
    const words = ['lane', 'check', ID, HASH, '--queue', queue];
    await keyturn(words, { env: { KEYTURN_TEST_MARK: mark } });
    const lingering = script('sleep 300 >/dev/null 2>&1 &\nexit 0');
    await keyturn([...words, '--verifier', lingering], { env: { KEYTURN_TEST_MARK: mark } });
    expect(processesWith(mark)).toEqual([]);
  });

  it('two checks in a row give the same answer, and a run between them changes it', async () => {
    const queue = folder({ approved: [approval()] });
    expect(await check(queue)).toEqual(await check(queue));
    appendFileSync(join(queue, 'executed.jsonl'), `${JSON.stringify(execution())}\n`);
    await denied(queue, `[ERROR] Intent already executed at ${TIME}\n`, 'ALREADY_EXECUTED');
  });
});

describe('an external verifier', () => {
  const queue = () => folder({ approved: ['read by nobody'] });

  it('a verifier that exits 0 is believed, and history is read next', async () => {
    const yes = script('exit 0');
    expect(await check(queue(), ID, HASH, '--verifier', yes)).toMatchObject({ stdout: OK, code: 0 });
    const ran = folder({ executed: [execution()] });
    await denied(ran, `[ERROR] Intent already executed at ${TIME}\n`, 'ALREADY_EXECUTED', '--verifier', yes);
  });

  it('a verifier that exits 1 prints [ERROR] Approval verification failed and exits 1', async () => {
    await denied(queue(), NOT_APPROVED, 'VERIFIER_DENIED', '--verifier', script('exit 1'));
  });

  it('a verifier that exits 2 or dies of a signal prints [ERROR] Verification tool error and exits 1', async () => {
    for (const text of ['exit 2', 'exit 255', 'kill -9 $$'])
      await denied(
        queue(),
        '[ERROR] Verification tool error\n',
        'VERIFIER_ERROR',
        '--verifier',
        script(text),
      );
  });

  it('a verifier that does not exist prints [ERROR] Execution verification tool not found and exits 1', async () => {
    for (const name of [join(scratch(), 'nowhere'), 'no-such-verifier-anywhere'])
      await denied(
        folder({ approved: [approval()] }),
        '[ERROR] Execution verification tool not found\n',
        'VERIFIER_NOT_FOUND',
        '--verifier',
        name,
      );
  });

  it('a verifier that cannot be started prints [ERROR] Cannot invoke execution verifier and exits 1', async () => {
    const plain = script('exit 0');
    chmodSync(plain, 0o644);
    for (const name of [plain, scratch()])
      await denied(
        folder({ approved: [approval()] }),
        '[ERROR] Cannot invoke execution verifier\n',
        'VERIFIER_NOT_CALLABLE',
        '--verifier',
        name,
      );
  });

  it('only the exit code of a verifier counts, whatever it prints', async () => {
    const liar = script('echo "[OK] Intent eligible for execution"; echo approved >&2; exit 1');
    await denied(queue(), NOT_APPROVED, 'VERIFIER_DENIED', '--verifier', liar);
    const pessimist = script('echo "[ERROR] never"; exit 0');
    expect(await check(queue(), ID, HASH, '--verifier', pessimist)).toEqual({
      stdout: OK,
      stderr: '',
      code: 0,
    });
  });

  it('a verifier is called once, with the id and the hash and nothing else', async () => {
    for (const end of ['exit 0', 'exit 1', 'exit 3']) {
      // A verifier writes to no file, but a pipe that was there before can be written.
      const pipe = join(scratch(), 'calls');
      spawnSync('mkfifo', [pipe]);
      const calls = openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK);
      await check(queue(), ID, HASH, '--verifier', script(`echo "$#: $@" >> '${pipe}'\n${end}`));
      const told = Buffer.alloc(1000);
      expect(told.toString('utf8', 0, readSync(calls, told))).toBe(`2: ${ID} ${HASH}\n`);
      closeSync(calls);
    }
  });

  it('a verifier may be a program with first arguments, or a path with spaces', async () => {
    const file = script('exit 1');
    await denied(queue(), NOT_APPROVED, 'VERIFIER_DENIED', '--verifier', `sh ${file}`);
    const spaced = join(scratch(), 'a verifier');
    renameSync(file, spaced);
    await denied(queue(), NOT_APPROVED, 'VERIFIER_DENIED', '--verifier', spaced);
  });
});

function picture(queue: string): unknown[] {
  return ['.', ...readdirSync(queue)].map((name) => {
    const { mtimeNs, ctimeNs, size, mode, ino } = statSync(join(queue, name), { bigint: true });
    return [
      name,
      mtimeNs,
      ctimeNs,
      size,
      mode,
      ino,
      name === '.' ? '' : readFileSync(join(queue, name), 'utf8'),
    ];
  });
}
