import { chmodSync, chownSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Starter } from '../../src/effect/starter.ts';
import { secretsOf } from '../../src/project/executor-file.ts';
import { layoutOf } from '../../src/project/layout.ts';
import type { ReasonCode } from '../../src/refusal.ts';
import { writeSecrets } from '../support/project.ts';
import { expectRefusal } from '../support/refusal.ts';
import { scratch } from '../support/scratch.ts';

const VALUE = 'token-value-4711';

/** A folder with the file of an executor, and what reads its secrets. */
function executor(secrets: object, mode?: number) {
  const root = scratch();
  mkdirSync(join(root, '.keyturn'));
  const path = writeSecrets(root, secrets, mode);
  const starter = new Starter();
  onTestFinished(() => starter.close());
  return { root, path, read: secretsOf(layoutOf(root), starter) };
}

const sh = (script: string, more = {}) => ({ command: ['/bin/sh', '-c', script], ...more });

function fileWith(content: string | Uint8Array): string {
  const path = join(scratch(), 'secret');
  writeFileSync(path, content);
  return path;
}

/** Refuses with this code and names the secret. Nothing of the refusal tells the value. */
async function refusesWith(code: ReasonCode, source: object, value = VALUE): Promise<void> {
  const refusal = await expectRefusal(code, () => executor({ TOKEN: source }).read(['TOKEN']));
  expect(refusal.message).toContain('The secret TOKEN');
  expect(refusal.facts).toMatchObject({ secret: 'TOKEN' });
  expect(JSON.stringify([refusal.message, refusal.facts, refusal.stack])).not.toContain(value);
}

describe('a secret of the executor', () => {
  it('comes from a variable, a file or a command, without the end of its last line', async () => {
    process.env.KEYTURN_TEST_SECRET = `${VALUE}\n`;
    onTestFinished(() => void delete process.env.KEYTURN_TEST_SECRET);
    const { read } = executor({
      variable: { environment: 'KEYTURN_TEST_SECRET' },
      file: { file: fileWith(`${VALUE}\n`) },
      windows: { file: fileWith(`${VALUE}\r\n`) },
      lines: { file: fileWith('line one\nline two\n\n') },
      command: sh(`echo ${VALUE}; echo unseen >&2`),
      unused: { file: '/nonexistent' },
    });
    expect(await read(['variable', 'file', 'windows', 'lines', 'command', 'file'])).toEqual(
      new Map([
        ['variable', `${VALUE}\n`],
        ['file', VALUE],
        ['windows', VALUE],
        ['lines', 'line one\nline two\n'],
        ['command', VALUE],
      ]),
    );
  });

  it('is read again each time', async () => {
    const file = fileWith(VALUE);
    const { read } = executor({ TOKEN: { file } });
    await read(['TOKEN']);
    writeFileSync(file, 'another-value');
    expect((await read(['TOKEN'])).get('TOKEN')).toBe('another-value');
  });

  it('may be a file behind a link, as clusters mount them', async () => {
    const link = join(scratch(), 'link');
    symlinkSync(fileWith(VALUE), link);
    expect((await executor({ TOKEN: { file: link } }).read(['TOKEN'])).get('TOKEN')).toBe(VALUE);
  });

  it('of a command has the environment of the executor, and no standard input', async () => {
    process.env.KEYTURN_TEST_VAULT = VALUE;
    onTestFinished(() => void delete process.env.KEYTURN_TEST_VAULT);
    const { read } = executor({ TOKEN: sh('cat; printf %s "$KEYTURN_TEST_VAULT"') });
    expect((await read(['TOKEN'])).get('TOKEN')).toBe(VALUE);
  });
});

describe('a secret is missing, and refused,', () => {
  it('when no file names it, and when the file names others', async () => {
    const bare = secretsOf(layoutOf(scratch()), new Starter());
    await expectRefusal('SECRET_MISSING', () => bare(['TOKEN']));
    await expectRefusal('SECRET_MISSING', () => executor({ OTHER: { environment: 'X' } }).read(['TOKEN']));
    expect(await bare([])).toEqual(new Map());
  });

  it('when its variable is not set, or only inherited', async () => {
    await refusesWith('SECRET_MISSING', { environment: 'KEYTURN_TEST_NOT_SET' });
    await refusesWith('SECRET_MISSING', { environment: 'toString' });
  });

  it('when its source is empty', async () => {
    await refusesWith('SECRET_MISSING', { file: fileWith('') });
    await refusesWith('SECRET_MISSING', { file: fileWith('\n') });
    await refusesWith('SECRET_MISSING', sh('true'));
  });

  it('when there is no file', () => refusesWith('SECRET_MISSING', { file: '/nonexistent/secret' }));
});

describe('the source of a secret fails, and is refused,', () => {
  it('when the file is a folder, or a pipe', async () => {
    await refusesWith('SECRET_UNREADABLE', { file: scratch() });
    await refusesWith('SECRET_UNREADABLE', { file: '/dev/null' });
  });

  it.skipIf(process.getuid?.() === 0)('when the file may not be read', async () => {
    const file = fileWith(VALUE);
    chmodSync(file, 0);
    await refusesWith('SECRET_UNREADABLE', { file });
  });

  it('when the command fails, whatever it printed', async () => {
    await refusesWith('SECRET_UNREADABLE', sh(`echo ${VALUE}; echo ${VALUE} >&2; exit 3`));
    await refusesWith('SECRET_UNREADABLE', sh(`echo ${VALUE}; kill -9 $$`));
    await refusesWith('SECRET_UNREADABLE', { command: ['/nonexistent/program'] });
  });

  it('when the command takes too long', () =>
    refusesWith('SECRET_UNREADABLE', sh(`echo ${VALUE}; sleep 60`, { timeout_s: 1 })));
});

describe('a value cannot be used, and is refused,', () => {
  it.each([
    ['under 8 bytes', '1234567'],
    ['with a NUL', 'token\0value-4711'],
    ['that is not UTF-8', Uint8Array.of(0xff, 0xfe, 0x41, 0x41, 0x41, 0x41, 0x41, 0x41, 0x41)],
    ['of more than 8 KiB', 'x'.repeat(8 * 1024 + 1)],
    ['of far more', 'x'.repeat(100_000)],
  ])('%s', async (_, content) => {
    const file = fileWith(content);
    await refusesWith('SECRET_UNUSABLE', { file }, String(content));
    await refusesWith('SECRET_UNUSABLE', { command: ['/bin/cat', file] }, String(content));
  });

  it('is taken with 8 bytes, and with 8 KiB', async () => {
    for (const value of ['12345678', 'x'.repeat(8 * 1024)])
      expect((await executor({ A: { file: fileWith(`${value}\n`) } }).read(['A'])).get('A')).toBe(value);
  });
});

describe('the file of the executor is refused', () => {
  const refused = (read: (names: string[]) => Promise<unknown>) =>
    expectRefusal('EXECUTOR_FILE_INVALID', () => read(['TOKEN']));

  it.each([0o640, 0o604, 0o620, 0o602, 0o644])('with the mode %o', async (mode) => {
    await refused(executor({ TOKEN: sh('echo') }, mode).read);
  });

  it('when it is a link', async () => {
    const { root, path, read } = executor({});
    writeFileSync(join(root, 'elsewhere'), readFileSync(path), { mode: 0o600 });
    const linked = layoutOf(root, join(root, 'own'));
    mkdirSync(linked.own);
    symlinkSync(join(root, 'elsewhere'), linked.executor_file);
    await refused(secretsOf(linked, new Starter()));
    await expectRefusal('SECRET_MISSING', () => read(['TOKEN']));
  });

  it.runIf(process.getuid?.() === 0)('when it belongs to another user', async () => {
    const { path, read } = executor({ TOKEN: { environment: 'HOME' } });
    chownSync(path, 65534, 65534);
    await refused(read);
  });

  it.each([
    ['no YAML', '{'],
    ['another version', 'version: 2'],
    ['an unknown key', 'version: 1\nsecret: {}'],
    ['a value in it', 'version: 1\nsecrets: { TOKEN: token-value-4711 }'],
    ['two sources', 'version: 1\nsecrets: { TOKEN: { environment: A, file: /a } }'],
    ['a file by a relative path', 'version: 1\nsecrets: { TOKEN: { file: a } }'],
    ['a program by its name alone', 'version: 1\nsecrets: { TOKEN: { command: [op, read] } }'],
    ['a command of nothing', 'version: 1\nsecrets: { TOKEN: { command: [] } }'],
    ['more time than a minute', 'version: 1\nsecrets: { TOKEN: { command: [/bin/a], timeout_s: 61 } }'],
    ['a name of two words', 'version: 1\nsecrets: { "A B": { environment: A } }'],
  ])('with %s', async (_, text) => {
    const { path, read } = executor({});
    writeFileSync(path, text);
    const refusal = await refused(read);
    expect(refusal.message).not.toContain(VALUE);
  });
});
