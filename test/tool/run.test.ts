import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { ChildOutcome } from '../../src/effect/child.ts';
import { inspectMachine } from '../../src/effect/machine.ts';
import { prepareRun, type Surroundings } from '../../src/tool/run.ts';
import { processesThatName, until } from '../support/processes.ts';
import { expectRefusal } from '../support/refusal.ts';
import { scratch } from '../support/scratch.ts';
import { effectOf, script } from './fixture.ts';

const BARE: Surroundings = { hidden: [], protected: [] };
const BOXED = { read: [], write: [] };
const out = (outcome: ChildOutcome) => Buffer.from(outcome.stdout.bytes).toString();
const err = (outcome: ChildOutcome) => Buffer.from(outcome.stderr.bytes).toString();

async function runEffect(folder: string, entry: object, around = BARE): Promise<ChildOutcome> {
  const prepared = prepareRun(effectOf(folder, entry), around);
  try {
    return await prepared.run();
  } finally {
    prepared.close();
  }
}

/** Runs a shell script as a sandboxed tool; the folder it sees and writes is `work` unless said otherwise. */
function runScript(
  body: string,
  entry: object = {},
  around = BARE,
  folder = scratch(),
): Promise<ChildOutcome> {
  script(folder, body);
  return runEffect(folder, { executable: 'tool.sh', sandbox: BOXED, ...entry }, around);
}

describe('a tool in a sandbox', () => {
  it('runs with its arguments, its environment and nothing else', async () => {
    process.env.KEYTURN_TEST_OTHER = 'not passed';
    const outcome = await runScript(
      '/usr/bin/env | sort; cat /proc/self/status | grep -c . >/dev/null',
      { env: { MODE: 'fast' }, secrets: { KEYTURN_TEST_TOKEN: 'token' } },
      { ...BARE, secrets: new Map(Object.entries({ token: 'token-value-4711', other: 'token-value-4712' })) },
    );
    delete process.env.KEYTURN_TEST_OTHER;
    expect(outcome).toMatchObject({ started: true, exit_code: 0, signal: null });
    const names = out(outcome)
      .trim()
      .split('\n')
      .map((line) => line.split('=')[0]);
    expect(names).toEqual(['KEYTURN_TEST_TOKEN', 'MODE', 'PATH', 'PWD']);
  });

  it('gets its secrets, no command line shows them, and its output has their names', async () => {
    const folder = scratch();
    mkdirSync(join(folder, 'work'));
    script(
      folder,
      'test "$KEYTURN_TEST_TOKEN" = token-value-4711 && touch work/begun && while [ ! -e work/seen ]; do sleep 0.01; done; echo "got $KEYTURN_TEST_TOKEN"',
    );
    const effect = effectOf(folder, {
      executable: 'tool.sh',
      sandbox: { write: ['work'] },
      secrets: { KEYTURN_TEST_TOKEN: 'token' },
    });
    const prepared = prepareRun(effect, { ...BARE, secrets: new Map([['token', 'token-value-4711']]) });
    const running = prepared.run();
    await until(() => existsSync(join(folder, 'work/begun')));
    const lines = commandLines();
    writeFileSync(join(folder, 'work/seen'), '');
    const outcome = await running;
    prepared.close();
    expect(out(outcome)).toBe('got [secret token]\n');
    expect(lines).toContain('tool.sh');
    expect(lines).not.toContain('token-value-4711');
  });

  it('sees no home, no other process, and nothing of the project that was not bound', async () => {
    const folder = scratch();
    writeFileSync(join(folder, 'private'), 'secret');
    const outcome = await runScript(
      `ls /home /root ${folder}/private /etc/shadow; ls -d /proc/[0-9]*; ls ${folder}`,
      {},
      BARE,
      folder,
    );
    expect(out(outcome)).not.toContain('private');
    expect(
      out(outcome)
        .split('\n')
        .filter((line) => line.startsWith('/proc/')).length,
    ).toBeLessThan(5);
    for (const path of ['/home', '/root', `${folder}/private`, '/etc/shadow']) {
      expect(err(outcome)).toMatch(new RegExp(`${path}.*No such file`));
    }
  });

  it('has no network, unless its profile says so', async () => {
    const server = createServer((_, response) => response.end('reached')).listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as AddressInfo;
    const folder = scratch();
    writeFileSync(
      join(folder, 'tool.mjs'),
      `#!/usr/bin/env node
       fetch('http://127.0.0.1:${port}').then((r) => r.text()).then(console.log, (e) => console.log(e.cause.code));`,
    );
    chmodSync(join(folder, 'tool.mjs'), 0o755);
    const call = (network: boolean) =>
      runEffect(folder, { executable: 'tool.mjs', sandbox: { network }, env: { PATH: nodeFirst() } });
    expect(out(await call(false)).trim()).toBe('ECONNREFUSED');
    expect(out(await call(true)).trim()).toBe('reached');
  });

  it('writes where it may and nowhere else', async () => {
    const folder = scratch();
    const elsewhere = scratch();
    for (const name of ['read', 'write']) mkdirSync(join(folder, name));
    const body = `for f in ${folder}/read/f /usr/f /etc/f /f; do
      echo x 2>/dev/null > $f && echo "wrote $f"; done
      echo gone > ${folder}/f; echo gone > ${elsewhere}/f
      echo kept > ${folder}/write/f && echo temporary > /tmp/f && cat /tmp/f`;
    const outcome = await runScript(body, { sandbox: { read: ['read'], write: ['write'] } }, BARE, folder);
    expect([out(outcome), outcome.exit_code]).toEqual(['temporary\n', 0]);
    expect(readFileSync(join(folder, 'write/f'), 'utf8')).toBe('kept\n');
    // These two lie under /tmp, which the sandbox has for itself.
    expect([existsSync(join(folder, 'f')), existsSync(join(elsewhere, 'f'))]).toEqual([false, false]);
  });

  it('has no capability, also when root runs it, and cannot gain one', async () => {
    const outcome = await runScript('grep -E "CapEff|CapBnd|NoNewPrivs" /proc/self/status; umount /tmp');
    expect(out(outcome)).toMatch(/CapEff:\s+0+\nCapBnd:\s+0+\nNoNewPrivs:\s+1\n/);
    expect(outcome.exit_code).not.toBe(0);
  });

  it('is a script by env, found in its own PATH and shown to it', async () => {
    const folder = scratch();
    mkdirSync(join(folder, 'bin'));
    script(join(folder, 'bin'), 'echo "interpreted: $1"', 'runner');
    writeFileSync(join(folder, 'tool'), '#!/usr/bin/env runner\n');
    chmodSync(join(folder, 'tool'), 0o755);
    const outcome = await runEffect(folder, {
      executable: 'tool',
      sandbox: BOXED,
      env: { PATH: `${join(folder, 'bin')}:/usr/bin:/bin` },
    });
    expect(out(outcome)).toBe(`interpreted: ${join(folder, 'tool')}\n`);
  });

  it('keeps the name by which it is called, also through a link', async () => {
    const folder = scratch();
    script(folder, 'echo "$0"', 'real.sh');
    symlinkSync('real.sh', join(folder, 'link'));
    for (const sandbox of [BOXED, { read: ['.'] }]) {
      const outcome = await runEffect(folder, { executable: 'link', sandbox });
      expect(out(outcome)).toBe(`${join(folder, 'link')}\n`);
    }
    const system = await runEffect(folder, { executable: '/bin/true', sandbox: BOXED });
    expect(system).toMatchObject({ started: true, exit_code: 0 });
  });

  it('cannot write to its own executable, by no descriptor and no path', async () => {
    const folder = scratch();
    const body = `for f in /proc/self/fd/* /proc/1/fd/* ${folder}/tool.sh; do
      case $(readlink $f) in /dev/*|pipe:*|socket:*|anon*) ;; *) (echo '# changed' >> $f) 2>/dev/null && echo $f;; esac
    done; ls -l /proc/self/fd /proc/1/fd >&2`;
    const outcome = await runScript(body, { sandbox: { write: ['.'] } }, BARE, folder);
    expect(readFileSync(join(folder, 'tool.sh'), 'utf8')).not.toContain('# changed\n');
    expect(err(outcome)).not.toContain('tool.sh');
  });

  it('obeys the limits of the kernel', async () => {
    const size = await runScript('head -c 3000000 /dev/zero > /tmp/f', { limits: { file_mb: 1 } });
    expect(size.exit_code).not.toBe(0);
    const files = await runScript('ulimit -n; ulimit -c; ulimit -t', {
      limits: { open_files: 64, cpu_s: 7 },
    });
    expect(out(files)).toBe('64\n0\n7\n');
    const busy = await runScript('while :; do :; done', { limits: { cpu_s: 1 } });
    expect(['SIGKILL', 'SIGXCPU']).toContain(busy.signal);
  });
});

describe("Keyturn's own files", () => {
  /** A project whose whole folder a tool may write. */
  function project() {
    const folder = scratch();
    mkdirSync(join(folder, '.keyturn/keys'), { recursive: true });
    mkdirSync(join(folder, 'conf/deep'), { recursive: true });
    mkdirSync(join(folder, 'policies'));
    writeFileSync(join(folder, '.keyturn/keys/human'), 'secret');
    writeFileSync(join(folder, 'conf/deep/tools.yaml'), 'registry');
    writeFileSync(join(folder, 'policies/a.cedar'), 'policy');
    writeFileSync(join(folder, 'seed'), 'secret');
    const around: Surroundings = {
      hidden: [join(folder, '.keyturn'), join(folder, 'seed')],
      protected: [join(folder, 'conf/deep/tools.yaml'), join(folder, 'policies')],
    };
    return { folder, around };
  }
  const everything = { sandbox: { write: ['.'] } };

  it('are not visible, however the profile binds them', async () => {
    const { folder, around } = project();
    const body = `ls -A .keyturn; cat .keyturn/keys/human seed; cat ${folder}/.keyturn/keys/human; echo end`;
    for (const write of [['.'], ['.', '.keyturn'], ['.', '.keyturn/keys']]) {
      const outcome = await runScript(body, { sandbox: { write } }, around, folder);
      expect(out(outcome)).toBe('end\n');
    }
  });

  it('cannot be made anew where they are hidden', async () => {
    const { folder, around } = project();
    const body = 'echo x > .keyturn/x; rm -rf .keyturn; mv .keyturn gone; echo x > seed';
    await runScript(body, everything, around, folder);
    expect(readFileSync(join(folder, '.keyturn/keys/human'), 'utf8')).toBe('secret');
    expect(readFileSync(join(folder, 'seed'), 'utf8')).toBe('secret');
    expect(existsSync(join(folder, '.keyturn/x'))).toBe(false);
  });

  it('are read-only inside a folder that the tool may write', async () => {
    const { folder, around } = project();
    const body = `cat conf/deep/tools.yaml policies/a.cedar
      echo evil > conf/deep/tools.yaml; echo evil > policies/a.cedar; echo evil > policies/b.cedar
      rm -f conf/deep/tools.yaml; mv conf/deep/tools.yaml away; chmod 666 conf/deep/tools.yaml
      ln conf/deep/tools.yaml second && echo evil > second
      echo mine > mine`;
    const outcome = await runScript(body, everything, around, folder);
    expect(out(outcome)).toBe('registrypolicy');
    expect(readFileSync(join(folder, 'conf/deep/tools.yaml'), 'utf8')).toBe('registry');
    expect(readFileSync(join(folder, 'policies/a.cedar'), 'utf8')).toBe('policy');
    expect(existsSync(join(folder, 'policies/b.cedar'))).toBe(false);
    expect(readFileSync(join(folder, 'mine'), 'utf8')).toBe('mine\n');
  });

  it('cannot be replaced by moving the folder above them', async () => {
    const { folder, around } = project();
    const body =
      'mv conf/deep conf/moved; mv conf moved; mkdir -p conf/deep; echo evil > conf/deep/tools.yaml';
    await runScript(body, everything, around, folder);
    expect(readFileSync(join(folder, 'conf/deep/tools.yaml'), 'utf8')).toBe('registry');
  });
});

describe('a run that ends badly', () => {
  it('is killed with its whole tree when it is late, whatever it does to escape', async () => {
    const folder = scratch();
    mkdirSync(join(folder, 'work'));
    const mark = `late-${process.pid}`;
    const body = `trap '' TERM INT HUP
      (setsid sh -c "trap '' TERM INT HUP; : ${mark}; (while :; do sleep 0.05; touch work/alive; done) & wait" &) &
      while :; do sleep 1; done`;
    const outcome = await runScript(body, { sandbox: { write: ['work'] }, timeout_s: 1 }, BARE, folder);
    expect(outcome).toMatchObject({ started: true, timed_out: true, signal: 'SIGKILL' });
    expect(existsSync(join(folder, 'work/alive'))).toBe(true);
    await until(() => processesThatName(mark).length === 0);
  });

  it('leaves nothing behind in the background when it ends by itself', async () => {
    const folder = scratch();
    mkdirSync(join(folder, 'work'));
    const mark = `left-${process.pid}`;
    const body = `(setsid sh -c ": ${mark}; while :; do touch work/alive; sleep 0.05; done" &) &
      while ! [ -e work/alive ]; do sleep 0.05; done; echo done`;
    const outcome = await runScript(body, { sandbox: { write: ['work'] } }, BARE, folder);
    expect([out(outcome), outcome.exit_code]).toEqual(['done\n', 0]);
    await until(() => processesThatName(mark).length === 0);
  });

  it('is killed when it is no longer wanted', async () => {
    const folder = scratch();
    mkdirSync(join(folder, 'work'));
    script(folder, 'touch work/begun; sleep 1000');
    const sandbox = { write: ['work'] };
    const prepared = prepareRun(effectOf(folder, { executable: 'tool.sh', sandbox }), BARE);
    const controller = new AbortController();
    const running = prepared.run({ abort: controller.signal });
    await until(() => existsSync(join(folder, 'work/begun')));
    controller.abort();
    expect(await running).toMatchObject({ started: true, aborted: true, signal: 'SIGKILL' });
    prepared.close();
    prepared.close();
  });

  it('keeps its exit code, and names a signal', async () => {
    expect(await runScript('exit 3')).toMatchObject({ started: true, exit_code: 3, signal: null });
    expect(await runScript('kill -SEGV $$')).toMatchObject({ started: true, signal: 'SIGSEGV' });
  });

  it('keeps a flood of output bounded', async () => {
    const outcome = await runScript('head -c 104857600 /dev/zero', { stdout_bytes: 1000 });
    expect(outcome.stdout).toMatchObject({ total: 104_857_600, truncated: true });
    expect(outcome.stdout.bytes.length).toBe(1000);
  });

  it('says that the tool never began when the sandbox could not be made', async () => {
    const folder = scratch();
    mkdirSync(join(folder, 'work'));
    script(folder, 'echo ran');
    const prepared = prepareRun(
      effectOf(folder, { executable: 'tool.sh', sandbox: { write: ['work'] } }),
      BARE,
    );
    renameSync(join(folder, 'work'), join(folder, 'gone'));
    const outcome = await prepared.run();
    prepared.close();
    expect(outcome).toMatchObject({ started: false, exit_code: null });
    expect(outcome.error).toContain('work');
  });
});

describe('an executable that changes', () => {
  it('between approval and preparation is refused', async () => {
    const folder = scratch();
    script(folder, 'echo approved');
    const effect = effectOf(folder, { executable: 'tool.sh', sandbox: BOXED });
    script(folder, 'echo changed');
    await expectRefusal('EXECUTABLE_CHANGED', () => prepareRun(effect, BARE));
  });

  it('so does its interpreter', async () => {
    const folder = scratch();
    const runner = script(folder, 'echo approved', 'runner');
    writeFileSync(join(folder, 'tool'), `#!${runner}\n`);
    chmodSync(join(folder, 'tool'), 0o755);
    const effect = effectOf(folder, { executable: 'tool', sandbox: 'none' });
    script(folder, 'echo changed', 'runner');
    await expectRefusal('EXECUTABLE_CHANGED', () => prepareRun(effect, BARE));
  });

  it('or a link that is turned', async () => {
    const folder = scratch();
    for (const name of ['a', 'b']) script(folder, 'true', name);
    symlinkSync('a', join(folder, 'link'));
    const effect = effectOf(folder, { executable: 'link', sandbox: 'none' });
    renameSync(join(folder, 'link'), join(folder, 'old'));
    symlinkSync('b', join(folder, 'link'));
    await expectRefusal('EXECUTABLE_CHANGED', () => prepareRun(effect, BARE));
  });

  it('after preparation never runs', async () => {
    const folder = scratch();
    for (const sandbox of ['none', BOXED]) {
      script(folder, 'echo approved');
      const prepared = prepareRun(effectOf(folder, { executable: 'tool.sh', sandbox }), BARE);
      renameSync(join(folder, 'tool.sh'), join(folder, 'old.sh'));
      script(folder, 'echo changed');
      const outcome = await prepared.run();
      prepared.close();
      expect(outcome).toMatchObject({ started: false, error: 'EXECUTABLE_CHANGED' });
      expect(out(outcome)).toBe('');
    }
  });
});

describe('a tool without a sandbox', () => {
  it('runs in its folder with its limits and its environment', async () => {
    const folder = scratch();
    mkdirSync(join(folder, 'sub'));
    script(folder, 'pwd; ulimit -n; /usr/bin/env | sort');
    const entry = { executable: 'tool.sh', cwd: 'sub', limits: { open_files: 32 } };
    const lines = out(await runEffect(folder, entry))
      .trim()
      .split('\n');
    expect(lines.slice(0, 2)).toEqual([join(folder, 'sub'), '32']);
    expect(lines.slice(2).map((line) => line.split('=')[0])).toEqual(['PATH', 'PWD']);
  });

  it('is refused where nobody has the secret that it needs', async () => {
    const effect = effectOf(scratch(), { secrets: ['TOKEN'] });
    await expectRefusal('SECRET_MISSING', () => prepareRun(effect, BARE));
    await expectRefusal('SECRET_MISSING', () =>
      prepareRun(effect, { ...BARE, secrets: new Map([['OTHER', 'token-value-4711']]) }),
    );
  });

  it('is refused, like any other, where open files have no names', async () => {
    const folder = scratch();
    const machine = { ...inspectMachine(), proc: false };
    for (const sandbox of ['none', BOXED]) {
      const effect = effectOf(folder, { sandbox });
      await expectRefusal('SANDBOX_UNAVAILABLE', () => prepareRun(effect, { ...BARE, machine }));
    }
  });

  it('is refused with limits, and any other tool with a sandbox, where the machine has neither', async () => {
    const folder = scratch();
    const machine = inspectMachine([folder]);
    const limited = effectOf(folder, { limits: { cpu_s: 1 } });
    await expectRefusal('SANDBOX_UNAVAILABLE', () => prepareRun(limited, { ...BARE, machine }));
    const boxed = effectOf(folder, { sandbox: BOXED });
    await expectRefusal('SANDBOX_UNAVAILABLE', () => prepareRun(boxed, { ...BARE, machine }));
    prepareRun(effectOf(folder, {}), { ...BARE, machine }).close();
  });
});

/** What every user of this machine can read about its processes. */
function commandLines(): string {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      } catch {
        return '';
      }
    })
    .join('\n');
}

function nodeFirst(): string {
  return `${join(process.execPath, '..')}:/usr/bin:/bin`;
}
