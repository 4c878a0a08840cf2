import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { Keyturn, type ReasonCode, verifyExportFile } from '../../src/keyturn.ts';
import { elsewhere } from '../journey/authority.ts';
import { steady } from '../support/project.ts';
import { inTerminal } from '../support/pty.ts';
import { answerOf, expectError } from './project.ts';
import { edited, farScene, type Lie } from './remote-liar.ts';
import { SECRET } from './remote-scene.ts';

/** What a person asks a service for about its host: the ledger, what is stored, the registry, the clock. */

vi.setConfig({ testTimeout: 240_000, hookTimeout: 120_000 });

const { scene, refusing } = farScene();
const REASON = ['--reason', 'a test'];

/** Changes the export as it passes. */
const exporting =
  (change: (text: string) => string): Lie =>
  (path, text) =>
    path.endsWith('/export')
      ? { status: 200, headers: { 'content-type': 'application/jsonl' }, text: change(text) }
      : undefined;

const withoutLast = (text: string) => `${text.trimEnd().split('\n').slice(0, -1).join('\n')}\n`;

describe('an export, far from the project', () => {
  it('is in a file that verifies, or flows to a pipe', async () => {
    await scene.project.propose('greet', { name: 'Ada' });
    const { stdout } = await scene.near.run('ledger', 'export', '--with-objects', '--out', 'whole.jsonl');
    expect(stdout).toContain('[OK] The ledger is in whole.jsonl');
    const file = join(scene.near.folder, 'whole.jsonl');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const { key } = await scene.project.inside(({ ledger }) => ledger.head());
    expect(await verifyExportFile(file, { key, deep: true })).toMatchObject({ objects: { erased: 0 } });
    const [there, here] = await Promise.all(
      [scene.near, scene.project].map((one) => one.run('ledger', 'export')),
    );
    expect(there!.stdout.split('\n').slice(0, -2)).toEqual(here!.stdout.split('\n').slice(0, -2));
    expectError('WRITE_FAILED', await scene.near.run('ledger', 'export', '--out', 'whole.jsonl'));
    expect(readFileSync(file, 'utf8')).toContain('"head":');
  });

  it('is refused, and no file is left, where it is cut, changed or of another ledger', async () => {
    const lies: readonly (readonly [ReasonCode, Lie])[] = [
      ['EXPORT_MALFORMED', exporting(withoutLast)],
      ['LEDGER_BROKEN', exporting((text) => text.replace('"kind":"key.enrolled"', '"kind":"key.enrolleD"'))],
      ['EXPORT_MALFORMED', exporting(() => '')],
      ['EXPORT_MALFORMED', exporting((text) => text.replace('keyturn-ledger/1', 'keyturn-ledger/9'))],
      ['HEAD_SIGNATURE_INVALID', exporting(() => other)],
    ];
    const stranger = (await elsewhere()).keyturn;
    let other = '';
    const to = async (chunks: AsyncIterable<Uint8Array>) => {
      for await (const chunk of chunks) other += Buffer.from(chunk).toString();
    };
    await stranger.ledger.export({ to });
    for (const [code, lie] of lies) {
      const asked = () => scene.far.run('ledger', 'export', '--out', 'bad.jsonl');
      expectError(code, await scene.liar.lying(lie, asked));
      expect(existsSync(join(scene.near.folder, 'bad.jsonl'))).toBe(false);
      const piped = await scene.liar.lying(lie, () => scene.far.run('ledger', 'export'));
      expect(piped.code).toBe(1);
    }
    const lean: Lie = (path, _, asked) =>
      path.endsWith('/export') && asked.with_objects
        ? { status: 200, headers: { 'content-type': 'application/jsonl' }, text: without }
        : undefined;
    const without = (await scene.near.run('ledger', 'export')).stdout;
    const asked = () => scene.far.run('ledger', 'export', '--with-objects', '--out', 'bad.jsonl');
    expectError('SERVICE_FOREIGN', await scene.liar.lying(lean, asked));
  });
});

describe('a look, far from the project', () => {
  it('has the words of the host', async () => {
    for (const words of [
      ['store', 'verify', '--deep'],
      ['gc', '--older-than', '1s', '--undoable-too', '--preview'],
    ]) {
      const [here, there] = [await scene.project.run(...words), await scene.near.run(...words)];
      expect(there, words.join(' ')).toEqual(here);
    }
    expectError('HOST_ONLY', await scene.near.run('gc', '--older-than', '1s', ...REASON));
    const lint = await scene.near.run('tool', 'lint');
    expect([lint.code, lint.stdout]).toEqual([0, expect.stringContaining('[OK]')]);
    expect(lint.stdout).not.toContain('keyturn tool lock\n');
    expect(answerOf(await scene.near.run('tool', 'lint', '--json'))).toEqual(
      answerOf(await scene.project.run('tool', 'lint', '--json')),
    );
  });

  it('follows the ledger as it grows', async () => {
    const size = await scene.project.size();
    const address = scene.liar.address;
    const env = { KEYTURN_SERVICE: address };
    const session = inTerminal(['watch', '--since', '0'], { cwd: scene.near.folder, env });
    try {
      await session.expect(`Watching ${address}. Ctrl-C ends it.`);
      await session.expect(`${size - 1}  `);
      const { id } = await scene.project.propose('greet', { name: 'Bo' });
      await session.expect(id);
      await session.expect('proposed greet; it waits for a human');
      session.press('\x03');
      expect(await session.exited).toBe(0);
    } finally {
      session.kill();
    }
  });
});

describe('a plan, far from the project', () => {
  it('has its missing reports made again with the passphrase typed here', async () => {
    const { folder } = scene.project;
    writeFileSync(join(folder, 'notes.md'), 'old\n');
    const operation = { type: 'text_replace', pattern: 'old', replacement: 'new' };
    const action = { action_id: 'a1', action_type: 'FILE_MODIFY', target: 'notes.md', operation };
    writeFileSync(join(folder, 'plan.json'), JSON.stringify({ plan_id: 'edit', action_plan: [action] }));
    const proposed = answerOf(
      await scene.project.run('propose', '--plan', 'plan.json', '--by', 'bot', '--json'),
    );
    const { intent_id: id, hash } = proposed.result as unknown as { intent_id: string; hash: string };
    await scene.project.inside(({ intents }) =>
      intents.turn({ intent_id: id, hash, signer: scene.project.alice }),
    );
    await scene.project.inside(({ intents }) => intents.waitFor({ intent_id: id }));
    const { runs } = await scene.project.inside(({ runs }) => runs.list({ intent_id: id }));
    const { execution_id } = runs[0]!;
    const report = await scene.project.run('plan', 'report', execution_id, '--json');
    const { folder: reports } = answerOf(report).result as unknown as { folder: string };
    rmSync(join(folder, reports, 'change_log.json'));
    expectError('NO_TERMINAL', await scene.near.run('plan', 'report', execution_id));
    const { stdout } = await scene.near.talk(['plan', 'report', execution_id], SECRET);
    expect(stdout).toContain('[OK] Made again: change_log.json');
    expect(existsSync(join(folder, reports, 'change_log.json'))).toBe(true);
  });
});

describe('a clock, far from the project', () => {
  it('is accepted for now, and for no other time', async () => {
    expectError('CLOCK_FITS', await scene.far.run('clock', 'accept', ...REASON));
    const at = scene.project.folder;
    const ahead = await Keyturn.open({ at, ...steady(() => new Date(Date.now() + 86_400_000)) });
    await ahead.system.freeze({ scope: 'tool', name: 'greet', reason: 'late', signer: scene.project.alice });
    await ahead.close();
    const words = ['clock', 'accept', ...REASON];
    await refusing(
      [
        edited('acceptClock', /"now":"[^"]+"/, '"now":"2024-01-01T00:00:00.000Z"'),
        edited('acceptClock', '"kind":"clock.accepted"', '"kind":"head.accepted"'),
        edited('acceptClock', '"reason":"a test"', '"reason":"another"'),
      ],
      words,
      SECRET,
    );
    const { code, stdout, screen } = await scene.far.talk(words, SECRET);
    expect([code, stdout]).toEqual([0, expect.stringContaining('[OK] alice accepted the clock')]);
    expect(screen).toContain('the clock of the service');
  });
});
