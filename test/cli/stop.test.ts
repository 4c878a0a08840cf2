import { beforeAll, describe, expect, it } from 'vitest';
import { until } from '../support/processes.ts';
import { inTerminal } from '../support/pty.ts';
import { ALICE, makeScene, type Scene, YES } from './grant-scene.ts';
import { answerOf, expectError, fileFolder, UNKNOWN_ID } from './project.ts';

const folder = fileFolder();
let scene: Scene;
beforeAll(async () => {
  scene = await makeScene(folder);
});

describe('stop', () => {
  it('refuses before a passphrase is asked for', async () => {
    expectError('STOP_NOT_DUE', await scene.run('stop', '--reason', 'x'));
    expectError('EXECUTION_NOT_FOUND', await scene.run('stop', UNKNOWN_ID, '--reason', 'x'));
    expectError('ID_MALFORMED', await scene.run('stop', 'last', '--reason', 'x'));
    expectError('USAGE', await scene.run('stop'));
    const waits = await scene.propose('endless');
    expectError('STOP_NOT_DUE', await scene.run('stop', waits.id, '--reason', 'x'));
  });

  it('ends the one run that goes on, and says how it ended', async () => {
    const intent = await scene.granted('endless');
    const session = inTerminal(['run', intent.id, intent.hash], { cwd: folder });
    await session.expect(YES[0]);
    session.type('y');
    await until(async () => (await scene.stateOf(intent)).status === 'claimed');
    const { execution_id } = (await scene.stateOf(intent)).runs[0]!;
    const { code, stdout, screen } = await scene.talk(['stop', '--reason', 'wrong'], ALICE);
    expect(screen).toContain(`Stop: ${execution_id} of endless, on `);
    expect(stdout).toBe(
      `[OK] alice stopped ${execution_id}\n` +
        `It was ended half way. Find out what it did, then: keyturn resolve ${execution_id}\n`,
    );
    expect(code).toBe(0);
    expect(await session.exited).toBe(1);
    expect(session.text).toContain('RUN_STOPPED: ');
    const shown = (await scene.run('show', intent.id)).stdout;
    expect(shown).toContain(`alice stopped the execution ${execution_id}: wrong`);
    const again = await scene.run('stop', execution_id.slice(0, 8), '--reason', 'again');
    expect(again.stderr).toContain('(STOP_NOT_DUE 3364)');
  });

  it('answers in JSON', async () => {
    const intent = await scene.granted('endless');
    const session = inTerminal(['run', intent.id, intent.hash], { cwd: folder });
    await session.expect(YES[0]);
    session.type('y');
    await until(async () => (await scene.stateOf(intent)).status === 'claimed');
    const stopped = await scene.talk(['stop', intent.id, '--reason', 'wrong', '--json'], ALICE);
    expect(answerOf(stopped)).toMatchObject({
      command: 'stop',
      result: { intent_id: intent.id, by: 'alice', reason: 'wrong' },
    });
    expect(await session.exited).toBe(1);
  });
});
