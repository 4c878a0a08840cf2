import { execFileSync } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ChildCommand, runChild } from '../../src/effect/child.ts';
import { Starter } from '../../src/effect/starter.ts';
import { isRunning, until } from '../support/processes.ts';
import { scratch } from '../support/scratch.ts';
import { sh as shell } from './sh.ts';

const text = ({ bytes }: { bytes: Uint8Array }) => Buffer.from(bytes).toString();

const starter = new Starter(0);
afterAll(() => starter.close());

describe.each([
  ['runChild', runChild],
  ['the helper of a starter', (one: ChildCommand) => starter.run(one)],
])('%s', (_, run) => {
  const sh = (script: string, more: Partial<ChildCommand> = {}) => run(shell(script, more));

  if (run !== runChild) beforeAll(() => untilHelped(starter));

  it('gives the exit code and both streams', async () => {
    const outcome = await sh('echo out; echo err >&2; exit 3');
    expect(outcome).toMatchObject({ started: true, exit_code: 3, signal: null, timed_out: false });
    expect([text(outcome.stdout), text(outcome.stderr)]).toEqual(['out\n', 'err\n']);
    expect(outcome.finished_at >= outcome.started_at).toBe(true);
  });

  it('names the signal that ended the child', async () => {
    expect(await sh('kill -TERM $$')).toMatchObject({ exit_code: null, signal: 'SIGTERM' });
  });

  it('hands over argv byte for byte, with no shell in between', async () => {
    const argv = ['/usr/bin/printf', '%s|', '$(id)', '; rm -rf /', "a'b", '*', '', 'ü\n'];
    const outcome = await sh('', { argv });
    expect(text(outcome.stdout)).toBe("$(id)|; rm -rf /|a'b|*||ü\n|");
  });

  it('gives the child an empty standard input and no other environment', async () => {
    process.env.KEYTURN_TEST_SECRET = 'secret';
    const outcome = await sh('cat; /usr/bin/env', { env: { PATH: '/bin', ONLY: 'this' } });
    delete process.env.KEYTURN_TEST_SECRET;
    expect(text(outcome.stdout)).toContain('ONLY=this');
    expect(text(outcome.stdout)).not.toContain('SECRET');
  });

  it('says when the program could not be started', async () => {
    const none = await sh('', { argv: [join(scratch(), 'none')] });
    expect(none).toMatchObject({ started: false, exit_code: null, error: 'ENOENT' });
    const folder = await sh('', { cwd: '/nowhere' });
    expect(folder).toMatchObject({ started: false });
    const nul = await sh('', { argv: ['/bin/echo', 'a\0b'] });
    expect(nul.started).toBe(false);
  });

  it('keeps the first bytes of a flood of 100 MB, counts the rest, and grows no memory', async () => {
    const before = process.memoryUsage.rss();
    const outcome = await sh('head -c 104857600 /dev/zero; echo done >&2');
    expect(outcome.stdout).toMatchObject({ total: 104_857_600, truncated: true });
    expect(outcome.stdout.bytes.length).toBe(1000);
    expect(text(outcome.stderr)).toBe('done\n');
    expect(process.memoryUsage.rss() - before).toBeLessThan(60 * 1024 * 1024);
  });

  it('keeps exactly as much as it may', async () => {
    const outcome = await sh('printf 12345', { stdout_bytes: 5, stderr_bytes: 0 });
    expect(outcome.stdout).toMatchObject({ total: 5, truncated: false });
    const cut = await sh('printf 123456', { stdout_bytes: 5 });
    expect([text(cut.stdout), cut.stdout.truncated]).toEqual(['12345', true]);
    const none = await sh('printf 1', { stdout_bytes: 0 });
    expect(none.stdout).toMatchObject({ total: 1, truncated: true });
  });

  it('kills the whole group of a child that ignores SIGTERM and is late', async () => {
    const pidfile = join(scratch(), 'pid');
    const outcome = await sh(`trap '' TERM; sleep 1000 & echo $! > ${pidfile}; wait`, { timeout_ms: 300 });
    expect(outcome).toMatchObject({ started: true, timed_out: true, signal: 'SIGKILL', exit_code: null });
    await until(() => !isRunning(Number(readFileSync(pidfile, 'utf8'))));
  });

  it('kills the child when it is no longer wanted', async () => {
    const controller = new AbortController();
    const begun = join(scratch(), 'begun');
    const running = sh(`touch ${begun}; sleep 1000`, { abort: controller.signal });
    await until(() => existsSync(begun));
    controller.abort();
    expect(await running).toMatchObject({
      started: true,
      aborted: true,
      timed_out: false,
      signal: 'SIGKILL',
    });
  });

  it('starts nothing that was aborted before', async () => {
    const marker = join(scratch(), 'ran');
    const outcome = await sh(`touch ${marker}`, { abort: AbortSignal.abort() });
    expect(outcome).toMatchObject({ started: false, aborted: true });
    expect(() => readFileSync(marker)).toThrow();
  });

  it('ends a background process that keeps the output open', async () => {
    const pidfile = join(scratch(), 'pid');
    const outcome = await sh(`echo last; sleep 1000 & echo $! > ${pidfile}`, { timeout_ms: 20_000 });
    expect(outcome).toMatchObject({ exit_code: 0, timed_out: false });
    expect(text(outcome.stdout)).toBe('last\n');
    await until(() => !isRunning(Number(readFileSync(pidfile, 'utf8'))));
  });

  it('does not wait for one that moved to its own session either', async () => {
    const pidfile = join(scratch(), 'pid');
    const outcome = await sh(`setsid sh -c 'echo $$ > ${pidfile}; exec sleep 1000' & sleep 0.3; echo last`);
    const pid = Number(readFileSync(pidfile, 'utf8'));
    process.kill(pid, 'SIGKILL'); // without a sandbox it escapes, as the comment in child.ts says
    expect(outcome).toMatchObject({ exit_code: 0, timed_out: false });
    expect(text(outcome.stdout)).toBe('last\n');
  });

  it('passes on the descriptors it is given and no others', async () => {
    const folder = scratch();
    writeFileSync(join(folder, 'given'), 'given');
    const fd = openSync(join(folder, 'given'), 'r');
    const outcome = await sh('cat /proc/self/fd/3; ls -l /proc/self/fd', { fds: [fd] });
    closeSync(fd);
    expect(text(outcome.stdout).startsWith('given')).toBe(true);
    const open = [...text(outcome.stdout).matchAll(/ -> (\/.*)$/gm)].map(([, path]) => path!);
    const others = open.filter((path) => path !== '/dev/null' && !path.startsWith('/proc/'));
    expect(others).toEqual([join(folder, 'given')]);
  });
});

describe('what our own parent left open', () => {
  it('is covered for every child', () => {
    const folder = scratch();
    mkdirSync(join(folder, 'left'));
    const source = join(import.meta.dirname, '../../src/effect/child.ts');
    const script = join(folder, 'script.mts');
    writeFileSync(
      script,
      `import { runChild } from ${JSON.stringify(source)};
       const outcome = await runChild({ argv: ['/bin/ls', '-l', '/proc/self/fd'], env: {}, cwd: '/',
         timeout_ms: 10_000, stdout_bytes: 10_000, stderr_bytes: 0 });
       process.stdout.write(outcome.stdout.bytes);`,
    );
    const tsx = join(import.meta.dirname, '../../node_modules/tsx/dist/loader.mjs');
    const seen = execFileSync(
      '/bin/bash',
      ['-c', `exec ${process.execPath} --import ${tsx} ${script} 47<${folder}/left`],
      { encoding: 'utf8' },
    );
    expect(seen).not.toContain('left');
    expect(seen).toMatch(/47 -> \/dev\/null/);
  });
});

describe('a machine without /proc', () => {
  it('starts no child at all: nobody knows what it would inherit', () => {
    const folder = scratch();
    const source = (name: string) => JSON.stringify(join(import.meta.dirname, '../../src', name));
    const script = join(folder, 'script.mts');
    writeFileSync(
      script,
      `import { runChild } from ${source('effect/child.ts')};
       import { inspectMachine } from ${source('effect/machine.ts')};
       const { started } = await runChild({ argv: ['/bin/touch', ${JSON.stringify(join(folder, 'ran'))}], env: {},
         cwd: '/', timeout_ms: 10_000, stdout_bytes: 0, stderr_bytes: 0 });
       console.log(started, inspectMachine().proc);`,
    );
    const tsx = join(import.meta.dirname, '../../node_modules/tsx/dist/loader.mjs');
    const node = [process.execPath, '--import', tsx, script];
    const blind = ['--dev-bind', '/', '/', '--tmpfs', '/proc', '--', ...node];
    expect(execFileSync('bwrap', blind, { encoding: 'utf8' })).toBe('false false\n');
    expect(existsSync(join(folder, 'ran'))).toBe(false);
    expect(execFileSync(node[0]!, node.slice(1), { encoding: 'utf8' })).toBe('true true\n');
  });
});

/** Until the children have another parent. */
async function untilHelped(starter: Starter): Promise<void> {
  await until(async () => text((await starter.run(shell('echo $PPID'))).stdout) !== `${process.pid}\n`);
}
