import { execFileSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { buildSync } from 'esbuild';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Keyturn, type Signer } from '../src/keyturn.ts';
import { installLine } from '../src/optional.ts';
import { openTelemetry, SILENT } from '../src/telemetry.ts';
import { project, ready, TOOLS } from './support/project.ts';
import { expectRefusal } from './support/refusal.ts';
import { scratch } from './support/scratch.ts';
import { runSeen } from './support/seen.ts';
import { registered } from './support/telemetry.ts';

describe('telemetry', () => {
  it('is silent, and the same functions as without it, where no SDK is registered', async () => {
    expect(await openTelemetry()).toBe(SILENT);
    expect(await SILENT.span('run', async () => 7)).toBe(7);
  });

  it('tells operations, kinds, codes and counts, and nothing that an intent is about', async () => {
    const p = await project(TOOLS);
    const seen = registered();
    const keyturn = await Keyturn.open({ at: p.root });
    onTestFinished(() => keyturn.close());
    const effect = { kind: 'tool' as const, tool: 'say', arguments: { word: 'xyzzy-argument' } };
    const intent = await keyturn.intents.propose({ declared_goal: 'xyzzy-goal', effect });
    const { intent_id, hash } = intent;
    await expectRefusal('APPROVAL_MISSING', () => keyturn.intents.grant({ intent_id, hash, signer: p.ada }));
    await ready({ ...p, keyturn }, intent);
    expect((await runSeen(keyturn, { intent_id, hash, confirm: async () => true })).result).toBe('success');

    const named = (name: string) => seen.filter((one) => one.name === name).map(({ facts }) => facts);
    expect(named('keyturn.run')).toEqual([{ 'keyturn.result': 'success', 'keyturn.code': 'OK' }]);
    expect(named('keyturn.grant').map((facts) => facts['keyturn.code'])).toEqual(['APPROVAL_MISSING', 'OK']);
    expect(named('keyturn.commit').flatMap((facts) => facts['keyturn.kinds'])).toContain('execution.claimed');
    expect(named('keyturn.entries')).toContainEqual({ 'keyturn.kind': 'execution.finished' });
    expect(named('keyturn.decisions')).toContainEqual({ 'keyturn.allowed': true, 'keyturn.code': 'OK' });
    expect(named('keyturn.duration')).toContainEqual({ 'keyturn.operation': 'run', 'keyturn.code': 'OK' });
    const all = JSON.stringify(seen);
    for (const secret of ['xyzzy', intent_id, hash, p.root]) expect(all).not.toContain(secret);
    expect(all).not.toMatch(/\bada\b/);
  });

  it('counts what is refused beside the verbs, with its name, and no draft that was drawn up', async () => {
    const p = await project(TOOLS);
    const seen = registered();
    const keyturn = await Keyturn.open({ at: p.root });
    onTestFinished(() => keyturn.close());
    const freeze = (signer: Signer) => keyturn.system.freeze({ scope: 'system', reason: 'x', signer });
    const draft = await keyturn.draft(p.ada, freeze);
    const later = { ...draft, at: new Date(Date.now() + 3_600_000).toISOString() };
    await expectRefusal('PASSPHRASE_WRONG', () => keyturn.unlock('ada', 'something else'));
    await expectRefusal('ACT_CHANGED', () => keyturn.draft(p.ada, async () => {}));
    await expectRefusal('MADE_IN_FUTURE', () => keyturn.finish(later, [], freeze));
    await expectRefusal('PASSPHRASE_WEAK', () => keyturn.host.createKey('bo', 'short'));
    // This one throws, and returns no promise.
    await expectRefusal('SHAPE_INVALID', async () => keyturn.host.configureServer('odd', {}));
    const refused = seen.filter(({ name }) => name === 'keyturn.refusals').map(({ facts }) => facts);
    expect(refused.map((facts) => [facts['keyturn.entry_point'], facts['keyturn.code']])).toEqual([
      ['unlock', 'PASSPHRASE_WRONG'],
      ['draft', 'ACT_CHANGED'],
      ['finish', 'MADE_IN_FUTURE'],
      ['host.createKey', 'PASSPHRASE_WEAK'],
      ['host.configureServer', 'SHAPE_INVALID'],
    ]);
  });
});

describe('telemetry without its package', () => {
  it('is silent, and says in one line what to install, where an SDK is registered', () => {
    const folder = scratch();
    buildSync({
      entryPoints: [resolve(import.meta.dirname, '../src/telemetry.ts')],
      bundle: true,
      platform: 'node',
      format: 'esm',
      external: ['@opentelemetry/api'],
      outfile: join(folder, 'telemetry.mjs'),
    });
    const script = (registered: boolean) => `
      ${registered ? "globalThis[Symbol.for('opentelemetry.js.api.1')] = {};" : ''}
      process.on('warning', ({ code, message }) => console.log(code, message));
      const { openTelemetry, SILENT } = await import('./telemetry.mjs');
      console.log((await openTelemetry()) === SILENT);`;
    const said = (registered: boolean) =>
      execFileSync(process.execPath, ['--no-warnings', '--input-type=module', '-e', script(registered)], {
        cwd: folder,
        encoding: 'utf8',
      })
        .trimEnd()
        .split('\n')
        .sort();
    expect(said(true)).toEqual([`PACKAGE_MISSING ${installLine('@opentelemetry/api')}`, 'true']);
    expect(said(false)).toEqual(['true']);
  });
});
