import { appendFileSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sha256 } from '../../src/canonical/digest.ts';
import {
  compareEffects,
  differingFields,
  effectBytes,
  effectDigest,
  openToolEffect,
} from '../../src/tool/effect.ts';
import { expectRefusal } from '../support/refusal.ts';
import { scratch } from '../support/scratch.ts';
import { effectOf, script } from './fixture.ts';

const SANDBOX = { read: ['.'], write: ['out'] };

describe('deriveEffect', () => {
  it('holds everything that matters', () => {
    const folder = scratch();
    mkdirSync(join(folder, 'out'));
    const path = script(folder, 'echo hi');
    const effect = effectOf(
      folder,
      {
        executable: './tool.sh',
        args: ['-n', '{w}'],
        parameters: { w: { type: 'string' } },
        env: { MODE: 'fast' },
        secrets: { TOKEN: 'api.token', KEY: 'KEY' },
        sandbox: SANDBOX,
        timeout_s: 5,
        limits: { memory_mb: 64 },
        undo: 'compensating',
        action: 'announce',
        category: 'speech',
      },
      { w: 'hello' },
    );
    expect(effect).toEqual({
      kind: 'tool',
      tool: 'say',
      arguments: { w: 'hello' },
      action: 'announce',
      category: 'speech',
      argv: [path, '-n', 'hello'],
      chosen: [{ parameter: 'w', element: 2, start: 0, end: 5 }],
      executables: [
        { called: path, path, sha256: sha256('#!/bin/sh\necho hi\n') },
        { called: '/bin/sh', path: realpathSync('/bin/sh'), sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
        {
          called: expect.stringMatching(/\/ld-[^/]+$/),
          path: expect.stringMatching(/\/ld-[^/]+$/),
          sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
        },
      ],
      env: { PATH: '/usr/local/bin:/usr/bin:/bin', MODE: 'fast' },
      secrets: { TOKEN: 'api.token', KEY: 'KEY' },
      cwd: folder,
      timeout_ms: 5000,
      stdout_bytes: 262_144,
      stderr_bytes: 262_144,
      sandbox: { network: false, read: [folder], write: [join(folder, 'out')] },
      limits: { cpu_s: 5, file_mb: 1024, open_files: 1024, processes: 256, memory_mb: 64, tmp_mb: 256 },
      executor: null,
      run_as: null,
      undo: 'compensating',
      undone_by: null,
      covers: null,
      definition_digest: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
  });

  it('does what its tool is called, unless the entry says what that is', () => {
    expect(effectOf(scratch(), {})).toMatchObject({ action: 'tool:say', category: null });
  });

  it('has no limits without a sandbox unless they are asked for', () => {
    expect(effectOf(scratch(), {}).limits).toBeNull();
    expect(effectOf(scratch(), { limits: { cpu_s: 1 } }).limits).toMatchObject({ cpu_s: 1, processes: null });
  });

  it('is the same for the same call, and another for any change of the entry', () => {
    const folder = scratch();
    const digest = effectDigest(effectOf(folder, {}));
    expect(effectDigest(effectOf(folder, {}))).toBe(digest);
    expect(effectDigest(effectOf(folder, { summary: 'Says something else.' }))).not.toBe(digest);
  });

  it('refuses an executable that is missing, may not run, or is not the pinned one', async () => {
    const folder = scratch();
    writeFileSync(join(folder, 'plain'), '#!/bin/sh\n', { mode: 0o644 });
    await expectRefusal('EXECUTABLE_MISSING', () => effectOf(folder, { executable: 'none' }));
    await expectRefusal('EXECUTABLE_NOT_EXECUTABLE', () => effectOf(folder, { executable: 'plain' }));
    script(folder, 'true');
    const digest = `sha256:${sha256('#!/bin/sh\ntrue\n')}`;
    effectOf(folder, { executable: 'tool.sh', digest });
    appendFileSync(join(folder, 'tool.sh'), '#');
    await expectRefusal('EXECUTABLE_CHANGED', () => effectOf(folder, { executable: 'tool.sh', digest }));
  });

  it('refuses a working folder or a sandbox path that does not exist', async () => {
    const folder = scratch();
    writeFileSync(join(folder, 'file'), '');
    await expectRefusal('WORKING_FOLDER_MISSING', () => effectOf(folder, { cwd: 'none' }));
    await expectRefusal('WORKING_FOLDER_MISSING', () => effectOf(folder, { cwd: 'file' }));
    await expectRefusal('SANDBOX_PATH_MISSING', () => effectOf(folder, { sandbox: { read: ['none'] } }));
    await expectRefusal('SANDBOX_PATH_MISSING', () => effectOf(folder, { sandbox: { write: ['none'] } }));
  });

  it.each(['/', '/proc', '/dev/shm', '/sys', 'root'])('refuses to bind %s', async (path) => {
    const folder = scratch();
    symlinkSync('/', join(folder, 'root'));
    await expectRefusal('REGISTRY_MALFORMED', () => effectOf(folder, { sandbox: { read: [path] } }));
  });

  it('names what a link leads to, so that turning the link changes the effect', () => {
    const folder = scratch();
    for (const name of ['a', 'b']) mkdirSync(join(folder, name));
    symlinkSync('a', join(folder, 'link'));
    const effect = effectOf(folder, { cwd: 'link', sandbox: { read: ['link'] } });
    expect(effect).toMatchObject({ cwd: join(folder, 'a'), sandbox: { read: [join(folder, 'a')] } });
  });
});

describe('a stored effect', () => {
  it('opens as it was', () => {
    const effect = effectOf(scratch(), {});
    expect(openToolEffect(effectBytes(effect))).toEqual(effect);
  });

  it('is refused when it is something else', async () => {
    await expectRefusal('SHAPE_INVALID', () => openToolEffect(Buffer.from('{"kind":"plan"}')));
  });
});

describe('compareEffects', () => {
  it('accepts the same effect', () => {
    const folder = scratch();
    compareEffects(effectOf(folder, {}), effectOf(folder, {}));
  });

  it('says when only the executable changed', async () => {
    const folder = scratch();
    script(folder, 'true');
    const approved = effectOf(folder, { executable: 'tool.sh' });
    script(folder, 'false');
    await expectRefusal('EXECUTABLE_CHANGED', () =>
      compareEffects(approved, effectOf(folder, { executable: 'tool.sh' })),
    );
  });

  it('names every field that differs', async () => {
    const folder = scratch();
    const approved = effectOf(folder, {});
    const now = { ...approved, argv: [...approved.argv, '--force'], timeout_ms: 1 };
    expect(differingFields(approved, now)).toEqual(['argv', 'timeout_ms']);
    const refusal = await expectRefusal('EFFECT_CHANGED', () => compareEffects(approved, now));
    expect(refusal.facts.fields).toBe('argv, timeout_ms');
  });
});
