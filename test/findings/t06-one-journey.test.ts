import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { human, PERMITS, policy, rules } from '../journey/authority.ts';
import { type Intent, type Project, project, writeRegistry } from '../support/project.ts';
import { expectRefusal } from '../support/refusal.ts';

const { calls } = vi.hoisted(() => ({ calls: { cedar: 0, verify: 0 } }));

/** Both as they are; the calls are counted. */
vi.mock('@cedar-policy/cedar-wasm/nodejs', async (original) => {
  const cedar = await original<typeof import('@cedar-policy/cedar-wasm/nodejs')>();
  const statefulIsAuthorized: typeof cedar.statefulIsAuthorized = (call) => {
    calls.cedar += 1;
    return cedar.statefulIsAuthorized(call);
  };
  return { ...cedar, statefulIsAuthorized };
});

vi.mock('node:crypto', async (original) => {
  const crypto = await original<typeof import('node:crypto')>();
  const verify = (...given: Parameters<typeof crypto.verify>) => {
    calls.verify += 1;
    return crypto.verify(...given);
  };
  return { ...crypto, verify };
});

const REGISTRY = `version: 1
tools:
  - name: nothing
    summary: Does nothing.
    executable: ./nothing.sh
    args: ["quietly"]
    cwd: /
    sandbox: none
    undo: exact
`;

function writeTool({ root }: Pick<Project, 'root'>, text: string): void {
  const path = join(root, 'nothing.sh');
  writeFileSync(path, `#!/bin/sh\n${text}\n`);
  chmodSync(path, 0o755);
}

/** A policy may read how long a capability lives, so time stands still. */
const NOON = new Date('2026-07-01T12:00:00.000Z');

/** A project in which one journey was made before: whatever is remembered is remembered by now. */
async function warm(): Promise<Project> {
  const p = await project(REGISTRY, () => NOON);
  writeTool(p, 'exit 0');
  await run(p, await turned(p));
  return p;
}

async function turned({ keyturn, ada }: Project): Promise<Intent & { readonly seen: string }> {
  const effect = { kind: 'tool' as const, tool: 'nothing', arguments: {} };
  const { intent_id, hash } = await keyturn.intents.propose({
    declared_goal: 'Nothing.',
    effect,
    signer: ada,
  });
  const { seen } = await keyturn.intents.turn({ intent_id, hash, signer: ada });
  return { intent_id, hash, seen };
}

async function run({ keyturn }: Project, intent: Intent & { readonly seen: string }): Promise<void> {
  expect(await keyturn.runs.run(intent)).toMatchObject({ result: 'success' });
}

async function counted(act: () => Promise<void>): Promise<typeof calls> {
  const before = { ...calls };
  await act();
  return { cedar: calls.cedar - before.cedar, verify: calls.verify - before.verify };
}

const forbid = (condition: string) =>
  PERMITS + policy('no', 'execution', `forbid (principal, action, resource) when { context.${condition} };`);

describe('T6: a journey like one that this process has made', () => {
  it('asks the policy engine nothing, and verifies each signature once', async () => {
    const p = await warm();
    // The proposal, the order and what the control plane signed of it, the entry of the capability, the claim, the end; and the token.
    expect(await counted(async () => run(p, await turned(p)))).toEqual({ cedar: 0, verify: 7 });
  });

  it('asks the policy engine again for what a policy reads', async () => {
    const p = await warm();
    await rules(p, forbid('goal == "Something."'));
    await run(p, await turned(p));
    expect((await counted(async () => run(p, await turned(p)))).cedar).toBe(0);
    const effect = { kind: 'tool' as const, tool: 'nothing', arguments: {} };
    const other = await p.keyturn.intents.propose({ declared_goal: 'Something.', effect, signer: p.ada });
    const { intent_id, hash } = other;
    const { seen } = await p.keyturn.intents.turn({ intent_id, hash, signer: p.ada });
    await expectRefusal('POLICY_DENIED', () => p.keyturn.runs.run({ intent_id, hash, seen }));
  });

  it.each<[what: string, code: Parameters<typeof expectRefusal>[0], change: (p: Project) => unknown]>([
    ['policies are activated that forbid it', 'POLICY_DENIED', (p) => rules(p, forbid('attempt == 1'))],
    ['its file is replaced in place', 'EXECUTABLE_CHANGED', (p) => writeTool(p, 'exit 1')],
    [
      'its entry in the registry is edited',
      'EFFECT_CHANGED',
      ({ root }) => writeRegistry(root, REGISTRY.replace('quietly', 'loudly')),
    ],
    [
      'it is frozen',
      'FROZEN',
      ({ keyturn, ada }) => keyturn.system.freeze({ scope: 'system', reason: 'x', signer: ada }),
    ],
    [
      'whoever ordered it is revoked',
      'APPROVER_REVOKED',
      async (p) => {
        const bea = await human(p, 'bea');
        await p.keyturn.people.revoke({ name: 'ada', reason: 'x', signer: bea });
      },
    ],
  ])('is refused when, between turn and run, %s', async (_, code, change) => {
    const p = await warm();
    const intent = await turned(p);
    await change(p);
    await expectRefusal(code, () => p.keyturn.runs.run(intent));
  });
});
