import { describe, expect, it, onTestFinished } from 'vitest';
import { Keyturn } from '../../src/keyturn.ts';
import { authority, type Intent, PERMITS, policy, proposeSay, rules } from '../journey/authority.ts';
import type { Project } from '../support/project.ts';
import { registered } from '../support/telemetry.ts';

/** Intents of one proposer that a human approved. */
async function approved(p: Project, many: number): Promise<Intent[]> {
  return Promise.all(
    Array.from({ length: many }, async () => {
      const intent = await proposeSay(p);
      await p.keyturn.intents.approve({ ...intent, signer: p.ada });
      return intent;
    }),
  );
}

/** Asks for all of them at once, through these in turn: how often each answer came. */
async function grantAll({ ada }: Project, through: readonly Keyturn[], intents: readonly Intent[]) {
  const answers: Record<string, number> = {};
  await Promise.all(
    intents.map(async (intent, i) => {
      const answer = await through[i % through.length]!.intents.grant({
        ...intent,
        signer: ada,
        is_issued: true,
      }).then(
        () => 'granted',
        ({ code }) => code,
      );
      answers[answer] = (answers[answer] ?? 0) + 1;
    }),
  );
  return answers;
}

/** Another object over the same store, as another process has one. */
async function another({ root }: Project): Promise<Keyturn> {
  const keyturn = await Keyturn.open({ at: root });
  onTestFinished(() => keyturn.close());
  return keyturn;
}

const limit = (many: number) =>
  PERMITS +
  policy(
    'slowly',
    'capability',
    `forbid (principal, action, resource) when { context.pace_hour >= ${many} };`,
  );

const decisions = (seen: ReturnType<typeof registered>) =>
  seen.filter(({ name }) => name === 'keyturn.decisions').length;

describe('T2: grants for one proposer at the same moment', () => {
  it('are decided once each', async () => {
    const seen = registered();
    const p = await authority();
    const intents = await approved(p, 32);
    const before = decisions(seen);
    expect(await grantAll(p, [p.keyturn], intents)).toEqual({ granted: 32 });
    expect(decisions(seen) - before).toBe(32);
  });

  it('are decided once each where a policy counts them, and exactly as many pass as it lets', async () => {
    const seen = registered();
    const p = await authority();
    await rules(p, limit(5));
    const intents = await approved(p, 16);
    const before = decisions(seen);
    expect(await grantAll(p, [p.keyturn], intents)).toEqual({ granted: 5, POLICY_DENIED: 11 });
    expect(decisions(seen) - before).toBe(16);
  });

  it('pass a limit exactly when they come through two openings of the store', async () => {
    const p = await authority();
    await rules(p, limit(5));
    const intents = await approved(p, 16);
    const through = [p.keyturn, await another(p)];
    expect(await grantAll(p, through, intents)).toEqual({ granted: 5, POLICY_DENIED: 11 });
  });
});
