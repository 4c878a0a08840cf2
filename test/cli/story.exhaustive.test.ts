import { beforeAll, describe, expect, it } from 'vitest';
import { ALICE, ISO, makeScene, type Scene, TURN, UUID } from './grant-scene.ts';
import { answerOf, expectError, fileFolder, type Intent, UNKNOWN_ID } from './project.ts';

const folder = fileFolder();
let scene: Scene;
let intent: Intent;
let replacing: Intent;
beforeAll(async () => {
  scene = await makeScene(folder);
  intent = await scene.propose('greet', { name: 'Ada' }, 'Greet the founder.');
  const words = ['propose', '--tool', 'greet', '--arg', 'name=Eve', '--goal', 'Greet everybody.'];
  const replaces = ['--replaces', intent.id, '--by', 'scout', '--agent-key', scene.scout, '--json'];
  const { result } = answerOf(await scene.run(...words, ...replaces)) as never as {
    result: { intent_id: string; hash: string };
  };
  replacing = { id: result.intent_id, hash: result.hash };
  await scene.talk(['reject', intent.id, '--reason', 'the wrong name'], ALICE);
  await scene.run('grant', replacing.id);
  expect((await scene.talk(['turn', replacing.id], TURN, ALICE)).code).toBe(0);
});

/** The story as the person reads it: who and what, without the time. */
function told(stdout: string): string[] {
  const lines = stdout.slice(stdout.indexOf('\nStory:\n') + 8).trimEnd();
  return lines.split('\n').map((line) => line.replace(/^ {2}\d+ {2}\S+Z {2}/, ''));
}

const ALLOWED = (policy: string) =>
  new RegExp(`^ {5}policies [0-9a-f]{12}: Allowed by "${policy}" \\(version 1\\): `);

describe('show', () => {
  it('tells the whole story in order: who, what changed, which policy, which capability, what came out', async () => {
    const { stdout, code } = await scene.run('show', replacing.id);
    expect(code).toBe(0);
    expect(stdout).toContain(`Replaces:    ${intent.id}\n`);
    expect(stdout).toContain('Changed: goal: "Greet the founder." before, "Greet everybody." now\n');
    expect(stdout).toContain('Changed: name: "Ada" before, "Eve" now\n');
    expect(stdout).toContain('Changed: asked by: "bot" before, "scout" now\n');
    expect(stdout).toMatch(
      new RegExp(`^Run ordered by alice at ${ISO.source}, capability ${UUID.source}: spent$`, 'm'),
    );
    const expected: (string | RegExp)[] = [
      `scout (agent, signed with its key) proposed greet; it replaces ${intent.id}`,
      /^alice was denied a capability: APPROVAL_MISSING\. No human has approved this intent\.$/,
      'alice submitted it',
      ALLOWED('humans-submit'),
      new RegExp(
        `^alice approved it until ${ISO.source}, proven by a passphrase, and ordered one run of tool:greet, ` +
          `attempt 1, to begin by ${ISO.source}; the order is ${UUID.source}$`,
      ),
      ALLOWED('humans-approve'),
      new RegExp(`^the capability ${UUID.source} for tool:greet was issued until ${ISO.source}$`),
      ALLOWED('humans-grant'),
      new RegExp(
        `^the execution ${UUID.source} of greet began, attempt 1, with the capability ${UUID.source}, on \\S+$`,
      ),
      ALLOWED('execute-with-capability'),
      new RegExp(`^the execution ${UUID.source} ended: success, exit code 0$`),
    ];
    const story = told(stdout);
    expect(story).toHaveLength(expected.length);
    for (const [i, line] of story.entries()) {
      const wanted = expected[i]!;
      if (typeof wanted === 'string') expect(line).toBe(wanted);
      else expect(line).toMatch(wanted);
    }
  });

  it('tells of a name that nobody proved, and of a rejection', async () => {
    const { stdout } = await scene.run('show', intent.id);
    expect(told(stdout)).toEqual([
      'bot (agent, by name only) proposed greet',
      'alice rejected it: the wrong name',
    ]);
  });

  it('in JSON each fact has its words and the decision of the policies', async () => {
    const { result } = answerOf(await scene.run('show', replacing.id, '--json')) as never as Shown;
    expect(result.changes).toContain('name: "Ada" before, "Eve" now');
    const granted = result.story.find(({ kind }) => kind === 'capability.issued')!;
    expect(granted.decision).toMatchObject({
      allowed: true,
      policies: [{ id: 'humans-grant', scope: 'capability', rationale: expect.any(String) }],
    });
    expect(result.story.find(({ kind }) => kind === 'execution.finished')!.decision).toBeNull();
  });

  it('goes on without a decision that was erased', async () => {
    const erased = await scene.propose('greet', { name: 'Ada' }, 'A secret goal.');
    await scene.approve(erased);
    const granted = (await scene.storyOf(erased)).find(({ kind }) => kind === 'approval.granted')!;
    const { decision } = granted.body as { decision: string };
    const words = ['object', 'erase', decision, '--reason', 'the goal was a secret'];
    expect((await scene.talk(words, [' to erase it: ', decision.slice(-8)], ALICE)).code).toBe(0);
    const { stdout, code } = await scene.run('show', erased.id);
    expect(code).toBe(0);
    expect(stdout).toContain('proven by a passphrase');
    expect(told(stdout).filter((line) => line.startsWith('     policies'))).toHaveLength(1);
  });
});

interface Shown {
  readonly result: {
    readonly changes: readonly string[];
    readonly story: readonly { readonly kind: string; readonly decision: object | null }[];
  };
}

describe('ledger show', () => {
  it('tells the same words between the entries', async () => {
    const { stdout } = await scene.run('ledger', 'show', replacing.id);
    expect(stdout.match(/^\d+ {2}\S+ {2}[a-z_.]+/gm)?.map((line) => line.split('  ')[2])).toEqual([
      'intent.proposed',
      'capability.denied',
      'intent.submitted',
      'order.given',
      'capability.issued',
      'execution.claimed',
      'execution.finished',
    ]);
    expect(stdout).toMatch(/^ {3}alice submitted it\n {3}policies [0-9a-f]{12}: Allowed by "humans-submit"/m);
    expect((await scene.run('ledger', 'show', 'system')).stdout).toContain(
      '   policy.activated by alice: The first ones.\n',
    );
  });
});

describe('replay', () => {
  it('makes every decision again, and they are all the same', async () => {
    const { runs } = await scene.stateOf(replacing);
    const { code, stdout, stderr } = await scene.run('replay', runs[0]!.execution_id);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const lines = stdout.trimEnd().split('\n');
    expect(lines.at(-1)).toBe(`[OK] Replayed ${lines.length - 1} decisions: all the same`);
    expect(stdout).toMatch(/^\d+ {2}policies on grant: Allowed by "humans-grant"/m);
    expectError('EXECUTION_NOT_FOUND', await scene.run('replay', UNKNOWN_ID));
    expectError('ID_MALFORMED', await scene.run('replay', 'x'));
  });
});

describe('propose --replaces', () => {
  it('names an intent that exists, and does not go with an envelope', async () => {
    const words = ['propose', '--tool', 'fail', '--by', 'bot', '--replaces'];
    expectError('INTENT_NOT_FOUND', await scene.run(...words, UNKNOWN_ID));
    expectError('ID_MALFORMED', await scene.run(...words, 'x'));
    expectError('USAGE', await scene.run('propose', '--envelope', '-', '--replaces', UNKNOWN_ID));
  });
});
