import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { Keyturn } from '../../src/keyturn.ts';
import { objectOf } from '../support/ledger.ts';
import { until } from '../support/processes.ts';
import { inTerminal, keyturn } from '../support/pty.ts';
import { scratch } from '../support/scratch.ts';
import { ALICE, makeScene, type Scene, UUID, YES } from './grant-scene.ts';
import { expectError, fileFolder, type Intent, UNKNOWN_ID } from './project.ts';

const folder = fileFolder();
let scene: Scene;
let count = 0;
beforeAll(async () => {
  scene = await makeScene(folder);
});

/** Where nothing of the project is: a sub-agent on another machine. */
const elsewhere = scratch;

interface Bound extends Intent {
  /** A capability that scout holds, for a tool that may write out/a and out/b. */
  readonly token: string;
}

async function bound(file: string): Promise<Bound> {
  const intent = await scene.approved('mark', { file });
  count += 1;
  const token = join(folder, `token-${count}.jws`);
  const granted = await scene.talk(['grant', intent.id, '--holder', 'scout', '--out', token], ALICE);
  expect(granted.code).toBe(0);
  expect(granted.screen).toMatch(/^Holder: +scout$/m);
  return { ...intent, token };
}

/** Scout makes it narrower for a sub-agent with a key of its own, without the project. */
async function narrowed({ token }: Bound, ...words: string[]) {
  const away = elsewhere();
  const [sub, out] = [join(away, 'sub.key'), join(away, 'narrow.jws')];
  const { public_key } = Keyturn.createAgentKey(sub);
  const made = await keyturn(
    [
      'attenuate',
      '--capability',
      token,
      '--holder-key',
      scene.scout,
      '--holder',
      public_key,
      '--out',
      out,
      ...words,
    ],
    { cwd: away },
  );
  return { made, sub, out };
}

const run = ({ id, hash }: Intent, ...more: string[]) => scene.talk(['run', id, hash, ...more], YES);

describe('a capability that was made narrower', () => {
  it('works for the sub-agent that holds it, within what is left of it, and needed no project', async () => {
    const intent = await bound('out/a/works');
    const { made, sub, out } = await narrowed(intent, '--scope', `write=${folder}/out/a`, '--ttl', '90s');
    expect(made).toMatchObject({ code: 0, stderr: '' });
    expect(made.stdout).toMatch(
      new RegExp(`^\\[OK\\] The capability is narrower\\nCapability: +${UUID.source}\\n`),
    );
    expect(made.stdout).toContain(`WRITES ${folder}/out/a\n`);
    const ran = await run(intent, '--capability', out, '--holder-key', sub);
    expect(ran.code).toBe(0);
    expect(ran.screen).toMatch(/^Capability: +\S+, made narrower once$/m);
    expect(ran.screen).toMatch(new RegExp(`^Sandbox: .* WRITES ${folder}/out/a$`, 'm'));
    expect(existsSync(join(folder, 'out/a/works'))).toBe(true);
  });

  it('the sandbox is made from its scope: what it no longer reaches cannot be written', async () => {
    const intent = await bound('out/a/blocked');
    const { sub, out } = await narrowed(intent, '--scope', `write=${folder}/out/b`);
    const ran = await run(intent, '--capability', out, '--holder-key', sub);
    expect(ran.code).toBe(1);
    expect(ran.stderr).toMatch(/^TOOL_EXIT_NONZERO: /);
    expect(existsSync(join(folder, 'out/a/blocked'))).toBe(false);
  });

  it('can never become wider: not in scope, not in time, not in conditions', async () => {
    const intent = await bound('out/a/never');
    for (const words of [
      ['--scope', 'write=/'],
      ['--scope', 'network'],
      ['--scope', 'unconfined'],
      ['--ttl', '1h'],
    ]) {
      const { made, out } = await narrowed(intent, ...words);
      expectError('CAPABILITY_WIDENED', made);
      expect(existsSync(out)).toBe(false);
    }
    const { out, sub } = await narrowed(intent, '--condition', 'host=elsewhere');
    const again = await keyturn(
      [
        'attenuate',
        '--capability',
        out,
        '--holder-key',
        sub,
        '--condition',
        'host=here',
        '--out',
        `${out}.2`,
      ],
      { cwd: elsewhere() },
    );
    expectError('CAPABILITY_WIDENED', again);
  });

  it('whoever cuts the chain back to the wider block cannot present it', async () => {
    const intent = await bound('out/a/cut');
    const { sub, out } = await narrowed(intent, '--scope', 'nothing');
    const cut = join(folder, 'cut.jws');
    writeFileSync(cut, readFileSync(out, 'utf8').split('~')[0]!);
    for (const words of [[], ['--holder-key', sub]]) {
      const refused = await scene.run('run', intent.id, intent.hash, '--capability', cut, ...words);
      expect(refused.stdout).toMatch(/^\[ERROR\] Precondition failed: Its holder is not proven: /);
      expect(refused).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(/^CAPABILITY_HOLDER_UNPROVEN: /),
      });
    }
    expect((await scene.storyOf(intent)).at(-1)).toMatchObject({
      kind: 'execution.refused',
      body: { reason_code: 'CAPABILITY_HOLDER_UNPROVEN', capability_id: expect.stringMatching(UUID) },
    });
    rmSync(cut);
  });

  it('attenuate says what is wrong with its words, its files and its key', async () => {
    const { token } = await bound('out/a/words');
    const at = { cwd: elsewhere() };
    const words = ['attenuate', '--capability', token, '--holder-key', scene.scout, '--out', 'n.jws'];
    expectError('USAGE', await keyturn(words, at));
    expectError('USAGE', await keyturn([...words, '--holder', 'scout'], at));
    expectError('TIME_MALFORMED', await keyturn([...words, '--ttl', 'short'], at));
    expectError('USAGE', await keyturn(['attenuate', '--capability', token, '--out', 'x'], at));
    const other = join(at.cwd, 'other.key');
    Keyturn.createAgentKey(other);
    const with_ = (file: string, key: string) =>
      keyturn(['attenuate', '--capability', file, '--holder-key', key, '--ttl', '1s', '--out', 'n.jws'], at);
    expectError('CAPABILITY_HOLDER_UNPROVEN', await with_(token, other));
    expectError('CAPABILITY_MALFORMED', await with_('missing.jws', other));
    expectError('CAPABILITY_MALFORMED', await with_(other, other));
    expectError('KEY_FILE_INVALID', await with_(token, token));
    expect(existsSync(join(at.cwd, 'n.jws'))).toBe(false);
  });
});

describe('run --capability', () => {
  it('a token that is forged, or no token at all, is refused and recorded', async () => {
    const intent = await scene.granted('greet', { name: 'Ada' });
    const file = join(folder, 'forged.jws');
    const text = await scene.inside(async (opened) => {
      const [capability] = (await opened.intents.get({ intent_id: intent.id })).capabilities;
      return Buffer.from(await objectOf(opened, capability!.issued!.token)).toString('utf8');
    });
    const [head, payload, signature] = text.split('.') as [string, string, string];
    const flipped = `${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`;
    writeFileSync(file, `${head}.${payload}.${flipped}\n`);
    const forged = await scene.run('run', intent.id, intent.hash, '--capability', file);
    expect(forged.stderr).toMatch(/^CAPABILITY_FORGED: /);
    expect((await scene.storyOf(intent)).at(-1)).toMatchObject({
      kind: 'execution.refused',
      body: { reason_code: 'CAPABILITY_FORGED', capability_id: intent.capability },
    });
    writeFileSync(file, 'not a token');
    const nonsense = await scene.run('run', intent.id, intent.hash, '--capability', file);
    expect(nonsense.stdout).toMatch(/^\[ERROR\] Precondition failed: /);
    expect(nonsense.stderr).toMatch(/^CAPABILITY_MALFORMED: /);
    const missing = await scene.run('run', intent.id, intent.hash, '--capability', 'nowhere.jws');
    expect(missing.stdout).toMatch(/^\[ERROR\] Precondition failed: nowhere\.jws cannot be opened/);
    const key = await scene.run('run', intent.id, intent.hash, '--holder-key', 'nowhere.key');
    expect(key.stderr).toMatch(/^KEY_FILE_INVALID: /);
    expect((await run(intent)).code).toBe(0);
  });
});

describe('revoke', () => {
  it('takes a capability back before it is used; the next one has to be granted', async () => {
    const intent = await scene.granted('greet', { name: 'Ada' });
    const words = ['revoke', intent.capability, '--reason', 'granted by mistake'];
    expectError('NO_TERMINAL', await scene.run(...words));
    const revoked = await scene.talk(words, ALICE);
    expect(revoked).toMatchObject({
      code: 0,
      stdout: `[OK] alice revoked ${intent.capability}. A run that uses it is stopped\n`,
    });
    const checked = await scene.run('check', intent.id, intent.hash);
    expect(checked.stdout).toBe('[ERROR] Capability revoked\n');
    expect(checked.stderr).toMatch(/^CAPABILITY_REVOKED: /);
    expect((await scene.run('run', intent.id, intent.hash)).stderr).toMatch(/^CAPABILITY_REVOKED: /);
    expectError('CAPABILITY_REVOKED', await scene.run(...words));
    expectError('CAPABILITY_UNKNOWN', await scene.run('revoke', UNKNOWN_ID, '--reason', 'x'));
    expectError('ID_MALFORMED', await scene.run('revoke', 'x', '--reason', 'x'));
    expectError('USAGE', await scene.run('revoke', intent.capability));
  });

  it('F5: a run that uses it is stopped, and the violation is recorded', async () => {
    const intent = await scene.granted('endless');
    const session = inTerminal(['run', intent.id, intent.hash], { cwd: folder });
    await session.expect(YES[0]);
    session.type('y');
    await until(async () => (await scene.stateOf(intent)).status === 'claimed');
    expect((await scene.talk(['revoke', intent.capability, '--reason', 'stop'], ALICE)).code).toBe(0);
    expect(await session.exited).toBe(1);
    expect(session.text).toContain('CAPABILITY_REVOKED: ');
    expect((await scene.kindsOf(intent)).slice(-3)).toEqual([
      'capability.revoked',
      'violation.detected',
      'execution.finished',
    ]);
    const { stdout } = await scene.run('show', intent.id);
    expect(stdout).toMatch(/!!! VIOLATION during the execution \S+: CAPABILITY_REVOKED\. /);
  });
});

describe('control rotate', () => {
  it('a new key signs from now on, and what the old one signed still verifies', async () => {
    const before = await scene.granted('greet', { name: 'Old' });
    const rotated = await scene.talk(['control', 'rotate', '--reason', 'every quarter'], ALICE);
    expect(rotated).toMatchObject({ code: 0 });
    expect(rotated.stdout).toMatch(
      /^\[OK\] alice rotated the control key of this host\. What the older one issued still holds\nControl key: \S{44}\n$/,
    );
    const after = await scene.granted('greet', { name: 'New' });
    expect((await run(before)).stdout).toContain('Hello, Old!');
    expect((await run(after)).stdout).toContain('Hello, New!');
    expect((await scene.run('ledger', 'verify', '--deep')).code).toBe(0);
  });
});

describe('a check that must be fast', () => {
  it('does not load the policy engine; a dry run does', async () => {
    const intent = await scene.granted('greet', { name: 'Ada' });
    const spy = join(folder, 'spy.cjs');
    writeFileSync(
      spy,
      `const Module = require('node:module');
       const load = Module._load;
       Module._load = function (name, ...others) {
         if (/cedar-wasm/.test(name)) require('node:fs').writeSync(2, 'LOADED ' + name + '\\n');
         return load.call(this, name, ...others);
       };`,
    );
    const env = { NODE_OPTIONS: `--require=${spy}` };
    const checked = await keyturn(['check', intent.id, intent.hash], { cwd: folder, env });
    expect(checked).toEqual({ code: 0, stdout: '[OK] Intent eligible for execution\n', stderr: '' });
    const previewed = await keyturn(['run', intent.id, intent.hash, '--dry-run'], { cwd: folder, env });
    expect(previewed.code).toBe(0);
    expect(previewed.stderr).toContain('LOADED @cedar-policy/cedar-wasm/nodejs');
  });
});
