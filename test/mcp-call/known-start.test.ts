import { appendFileSync, chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createDigests } from '../../src/effect/program.ts';
import { type ServerEntry, serverEntrySchema } from '../../src/mcp-call/entry.ts';
import { isStillStart, type KnownStart, knownStart } from '../../src/mcp-call/known-start.ts';
import { startedBy } from '../../src/mcp-call/start.ts';
import { scratch } from '../support/scratch.ts';

/** So much later nothing has just changed. */
const LATER_MS = 60_000;

describe('how a server is started', () => {
  const digests = createDigests();

  function known(given: object = {}) {
    const root = scratch();
    const place = (name: string) => join(root, name);
    for (const name of ['one', 'two']) mkdirSync(place(name));
    symlinkSync(place('one'), place('data'));
    writeFileSync(place('server.mjs'), '// as accepted\n');
    const raw = {
      executable: process.execPath,
      args: ['server.mjs', place('data')],
      run_as: 'root',
      ...given,
    };
    const entry: ServerEntry = serverEntrySchema.parse({ sandbox: { write: ['data'] }, ...raw });
    const configured = () => startedBy('own', entry, { root, digests });
    const at = (later_ms: number, between: () => void = () => {}) => {
      const before = configured();
      between();
      return knownStart(entry, before, { root, again: configured }, Date.now() + later_ms);
    };
    const isStill = (start: KnownStart, now = entry) => isStillStart(start, now, Date.now() + LATER_MS);
    return { place, entry, at, isStill };
  }

  it('is not remembered while a file has just changed, nor where more than files decides', () => {
    expect(known().at(0)).toBeNull();
    expect(known({ covers: ['*.mjs'] }).at(LATER_MS)).toBeNull();
    expect(known().at(LATER_MS)).not.toBeNull();
  });

  it('is not remembered where a file or a link was replaced after its bytes were hashed', () => {
    const { place, at } = known();
    expect(at(LATER_MS, () => writeFileSync(place('server.mjs'), '// another\n'))).toBeNull();
    expect(at(LATER_MS)).not.toBeNull();
  });

  it('is remembered until the entry, a file, a link or the rights to a folder are others', () => {
    const { place, entry, at, isStill } = known();
    const before = at(LATER_MS)!;
    expect(isStill(before)).toBe(true);
    expect(isStill(before, { ...entry })).toBe(false);
    writeFileSync(place('one/a.txt'), 'what a server writes is none of it');
    expect(isStill(before)).toBe(true);
    chmodSync(place('one'), 0o700);
    expect(isStill(before)).toBe(false);
    chmodSync(place('one'), 0o777);
    rmSync(place('data'));
    symlinkSync(place('two'), place('data'));
    expect(isStill(before)).toBe(false);
    const linked = at(LATER_MS)!;
    expect(isStill(linked)).toBe(true);
    appendFileSync(place('server.mjs'), '// changed\n');
    expect(isStill(linked)).toBe(false);
  });
});

describe('the scripts of a command line', () => {
  const digests = createDigests();

  function filesOf(args: readonly string[], names: readonly string[], executable = process.execPath) {
    const root = scratch();
    for (const name of [...names, 'notes.db']) writeFileSync(join(root, name), name);
    const entry: ServerEntry = serverEntrySchema.parse({ executable, args, sandbox: 'none', run_as: 'root' });
    return startedBy('own', entry, { root, digests }).files.map(({ path }) => basename(path));
  }

  it.each([
    ['a script without an ending', ['server', 'notes.db'], ['server']],
    [
      'a script after options with values',
      ['-r', './hook', '--env-file', 'x', 'server', 'notes.db'],
      ['server'],
    ],
    ['a script whose ending node adds', ['server', 'notes.db'], ['server.js']],
    [
      'what has the ending of a script, also in an option',
      ['--import=./hook.mjs', 'server'],
      ['hook.mjs', 'server'],
    ],
    ['none where a text is run', ['-e', '1', 'notes.db'], []],
    ['none where a folder is run', ['.', 'notes.db'], []],
    [
      'what options load, whatever it is called',
      ['-r', './hook', '--import=./more', 'server', 'notes.db'],
      ['hook', 'more', 'server'],
    ],
    ['every file after an option that is not known', ['--strange', 'x', 'server'], ['server', 'x']],
    ['one that the options of a command of node hide', ['inspect', 'server'], ['server']],
    ['one after a folder that an option names', ['--allow-fs-read', '.', 'server'], ['server']],
  ])('are hashed: %s', (_, args, names) => {
    expect(filesOf(args, names)).toEqual(names);
  });

  it.each([
    ['/bin/bash', ['-O', 'extglob', 'server', 'notes.db'], ['server']],
    ['/bin/bash', ['-e', 'server', 'notes.db'], ['server']],
    ['/bin/bash', ['-euo', 'pipefail', 'server'], ['server']],
    ['/bin/bash', ['-oO', 'x', 'hook', 'server'], ['hook', 'server', 'x']],
    ['/bin/bash', ['-norc', 'server'], ['server']],
    ['/bin/bash', ['--rcfile', 'hook', '-i', 'server'], ['hook', 'server']],
    ['/bin/bash', ['-c', 'cat "$0"', 'notes.db'], []],
    ['/bin/sh', ['-x', '--', 'server', 'notes.db'], ['server']],
    ['/usr/bin/env', ['-u', 'HOME', 'bash', '-O', 'extglob', 'server', 'notes.db'], ['server']],
    ['/usr/bin/env', ['python3', '-u', 'server', 'notes.db'], ['server']],
    ['/usr/bin/python3', ['-Xdev', '-W', 'ignore', 'server', 'notes.db'], ['server']],
    ['/usr/bin/python3', ['-Im', 'x', 'notes.db'], []],
    ['/usr/bin/python3', ['--strange', 'x', 'server'], ['server', 'x']],
    ['/usr/bin/perl', ['-ie', 'server', 'notes.db'], ['server']],
    ['/usr/bin/perl', ['-lI', 'x', 'server'], ['server', 'x']],
  ])('of %s %j are %j', (executable, args, names) => {
    const root = scratch();
    const at = join(root, basename(executable));
    // Of the program only the name matters, and this machine has not all of them.
    writeFileSync(at, '#!/bin/sh\n', { mode: 0o755 });
    expect(filesOf(args, ['server', 'hook', 'x'], at)).toEqual(names);
  });

  it('of an interpreter under another name are those of the interpreter', () => {
    const link = join(scratch(), 'runner');
    symlinkSync('/bin/bash', link);
    expect(filesOf(['-O', 'extglob', 'server'], ['server'], link)).toEqual(['server']);
  });

  it('of a program that is no interpreter are those with the ending of a script', () => {
    expect(filesOf(['server', 'notes.db', 'job.py'], ['server', 'job.py'], '/usr/bin/env')).toEqual([
      'job.py',
    ]);
  });

  it('are hashed however large they are, and one that changes is another', () => {
    const root = scratch();
    const place = join(root, 'server');
    writeFileSync(place, Buffer.alloc(5 * 1024 * 1024, 'a'));
    const raw = { executable: process.execPath, args: ['server'], sandbox: 'none', run_as: 'root' };
    const entry: ServerEntry = serverEntrySchema.parse(raw);
    const files = () => startedBy('own', entry, { root, digests }).files;
    const before = files();
    appendFileSync(place, 'b');
    expect(files()).toEqual([
      { path: before[0]!.path, sha256: expect.not.stringContaining(before[0]!.sha256) },
    ]);
  });
});
