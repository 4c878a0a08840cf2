import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freshDist } from './support/dist.ts';
import { installDist } from './support/installed.ts';
import { freshFolder } from './support/scratch.ts';
import { inShell } from './support/shell.ts';

const ROOT = resolve(import.meta.dirname, '..');
const README = readFileSync(join(ROOT, 'README.md'), 'utf8');

interface Block {
  readonly heading: string;
  readonly language: string;
  /** The name that a program is saved under. */
  readonly file: string | undefined;
  readonly text: string;
}

const blocks: Block[] = README.split(/^(?=## )/m).flatMap((section) =>
  [...section.matchAll(/^```(\w*)(?: (\S+))?\n(.*?)^```$/gms)].map(([, language, file, text]) => ({
    heading: /^## (.*)$/m.exec(section)?.[1] ?? '',
    language: language!,
    file,
    text: text!,
  })),
);

/** Block after block, in one fresh folder, as a newcomer types them. */
describe('README.md', () => {
  const dist = freshDist();
  const home = freshFolder('keyturn-readme-');
  const work = join(home, 'work');
  /** Programs that run while their reader goes on. */
  const running: { readonly file: string; readonly ended: Promise<{ code: number | null; said: string }> }[] =
    [];

  beforeAll(() => {
    // What `npm install -g keyturn` leaves; test/install.exhaustive.test.ts installs it from the registry.
    mkdirSync(join(home, 'bin'));
    writeFileSync(join(home, 'bin/keyturn'), `#!/bin/sh\nexec ${process.execPath} ${dist.cli} "$@"\n`, {
      mode: 0o755,
    });
  });

  afterAll(() => rmSync(home, { recursive: true, force: true }));

  it('begins with the line that installs it', () => {
    expect(blocks.find(({ language }) => language === 'sh')).toMatchObject({
      heading: 'Install',
      text: 'npm install -g keyturn\n',
    });
  });

  it('links to a recording of the first five minutes, with at most 5 commands', () => {
    const recording = readFileSync(join(ROOT, 'docs/measured/first-five-minutes.txt'), 'utf8');
    expect(README).toContain('docs/measured/first-five-minutes.txt');
    const commands = [...recording.matchAll(/^\$ (\w+ \w+)/gm)].map(([, words]) => words);
    expect(commands.length).toBeLessThanOrEqual(5);
    expect(commands[0]).toBe('npm install');
    expect(commands.at(-1)).toBe('keyturn turn');
    expect(recording).toContain('Hello, Grace!');
  });

  it('has nothing that looks like a command or a program and is not run', () => {
    expect([...new Set(blocks.map(({ language }) => language))].sort()).toEqual(['', 'js', 'sh']);
  });

  it.each(blocks.filter(({ language }) => language !== '').map((block, i) => ({ ...block, i })))(
    'block $i, under "$heading", does what it says',
    async ({ language, file, text }) => {
      if (language === 'js') return start(file!, text);
      const env = { PATH: `${join(home, 'bin')}:${process.env.PATH}` };
      const commands = text.replace(/^npm install (-g )?keyturn$/m, 'true');
      if (commands !== text && existsSync(work)) installDist(work, dist);
      const done = await inShell(commands, { cwd: existsSync(work) ? work : home, env });
      expect(done.code, done.text).toBe(0);
      for (const { file: name, ended } of running.splice(0))
        expect({ name, ...(await ended) }).toEqual({ name, code: 0, said: 'succeeded null\n' });
    },
    600_000,
  );

  it('leaves what it promises: one greeting, two backups of one file, a plan that was taken back', () => {
    expect(readFileSync(join(work, 'backups/numbers.txt'), 'utf8')).toBe('42\n');
    expect(readFileSync(join(work, 'docs/contact.md'), 'utf8')).toBe('Call us.\n');
    expect(existsSync(join(work, 'docs/email.md'))).toBe(false);
    expect(readFileSync(join(work, 'ledger.jsonl'), 'utf8')).toContain('execution.finished');
  });

  /** Starts a program, and waits until what it proposed is there to be turned. */
  async function start(file: string, text: string): Promise<void> {
    writeFileSync(join(work, file), text);
    const child = spawn(process.execPath, [file], { cwd: work, stdio: ['ignore', 'pipe', 'inherit'] });
    let said = '';
    child.stdout.on('data', (chunk: Buffer) => {
      said += chunk.toString();
    });
    running.push({ file, ended: new Promise((done) => child.on('close', (code) => done({ code, said }))) });
    const waiting = 'until keyturn list --status waiting --json | grep -q bot; do sleep 0.2; done';
    const env = { PATH: `${join(home, 'bin')}:${process.env.PATH}` };
    expect((await inShell(waiting, { cwd: work, env })).code).toBe(0);
  }
});
