import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { SignedKind } from '../../src/event/event.ts';
import type { OpenKey, Signer } from '../../src/identity/act.ts';
import { Keyturn, type Proof } from '../../src/keyturn.ts';
import { journeyLimits, limits } from '../../src/limits.ts';
import type { ReasonCode } from '../../src/refusal.ts';
import { SIMULATIONS, writeSimulation } from '../agent/agent-place.ts';
import { freshSigner } from '../support/keys.ts';
import { newestOf } from '../support/ledger.ts';
import type { Project } from '../support/project.ts';
import { expectRefusal } from '../support/refusal.ts';
import { runSeen } from '../support/seen.ts';
import {
  AUTHORITY_TOOLS,
  agent,
  call,
  granted,
  human,
  type Intent,
  named,
  PERMITS,
  policy,
  proposeSay,
  rules,
  yes,
} from './authority.ts';
import { create, planOf, planProjects, remove, run, runnable } from './plan-story.ts';

/** A key that is somewhere else: it takes its time, and meanwhile others go on. */
interface Elsewhere extends Signer {
  readonly calls: number;
}

function elsewhere(signer: Signer, meanwhile: (call: number) => Promise<unknown>): Elsewhere {
  let calls = 0;
  return {
    name: signer.name,
    public_key: signer.public_key,
    get calls() {
      return calls;
    },
    sign: async (statements): Promise<readonly Proof[]> => {
      calls += 1;
      await meanwhile(calls);
      return signer.sign(statements);
    },
  };
}

/** ada and bo are humans, scout is an agent with a key. */
interface Scene extends Project {
  readonly bo: OpenKey;
  readonly scout: OpenKey;
}

interface Asked {
  /** Who signs; ada where it is not said. */
  readonly by?: Signer;
  readonly act: (signer: Signer) => Promise<unknown>;
  /** Changes what the signer was shown. */
  readonly changed?: () => Promise<unknown>;
  /** With which code it is then refused. */
  readonly code?: ReasonCode;
}

const because = { reason: 'a test' };
const scenes = planProjects();
const GLASS = policy('glass', 'emergency', 'permit (principal, action, resource);');
const RULES = `${PERMITS}\n${GLASS}`;

async function scene(): Promise<Scene> {
  const p = await scenes({}, AUTHORITY_TOOLS);
  await rules(p, RULES);
  return { ...p, bo: await human(p, 'bo'), scout: await agent(p, 'scout') };
}

/** Other policies that permit as much. */
const otherRules = (p: Project, id: string) =>
  rules(p, `${RULES}\n${policy(id, 'intent', 'permit (principal, action, resource);')}`);

const said = (p: Scene, over: object = {}): Promise<Intent> => proposeSay(p, { ...over }, p.scout);

async function approved(p: Scene, over: object = {}): Promise<Intent> {
  const intent = await said(p, over);
  await p.keyturn.intents.approve({ ...intent, signer: p.bo });
  return intent;
}

async function failed(p: Scene): Promise<Intent & { readonly execution_id: string }> {
  const intent = await said(p, call('fail'));
  await p.keyturn.intents.turn({ ...intent, signer: p.bo });
  const { execution_id } = await runSeen(p.keyturn, { ...intent, confirm: yes });
  return { ...intent, execution_id };
}

async function delegated(p: Scene, approves = false): Promise<string> {
  const about = { delegate: 'scout', actions: ['tool:say'], ttl_s: 600, approves, ...because };
  return (await p.keyturn.agents.delegate({ ...about, signer: p.bo })).delegation_id;
}

const reject = (p: Scene, intent: Intent) =>
  p.keyturn.intents.reject({ ...named(intent), ...because, signer: p.bo });
const revoke = (p: Scene, name: string) => p.keyturn.people.revoke({ name, ...because, signer: p.bo });
const secret = { digest: 'ab'.repeat(32), ...because };

const ranPlan = async (p: Scene) => {
  const intent = await runnable(p, planOf([create('1', 'n1')]), { issuer: 'scout' });
  return { report: await run(p, intent) };
};

/** Each kind that is signed, and an act that signs it; or why no key elsewhere signs it here. */
const ACTS: { readonly [K in SignedKind]: ((p: Scene) => Promise<Asked>) | string } = {
  'key.enrolled': async (p) => {
    const enrol = (signer: Signer) =>
      p.keyturn.people.enrol({ name: 'helper', principal: 'agent', public_key: null, signer });
    return { act: enrol, changed: () => enrol(p.bo), code: 'PRINCIPAL_EXISTS' };
  },
  'key.revoked': async (p) => ({
    act: (signer) => p.keyturn.people.revoke({ name: 'scout', ...because, signer }),
    changed: () => revoke(p, 'scout'),
    code: 'KEY_REVOKED',
  }),
  'credential.added': 'test/journey/credential.test.ts: two keys sign it, in two browsers',
  'credential.revoked': 'test/journey/credential.test.ts: the first needs a second credential',
  'token.added': async (p) => ({
    act: (signer) => p.keyturn.agents.addToken({ name: 'scout', ...secret, signer }),
    changed: () => revoke(p, 'scout'),
    code: 'KEY_REVOKED',
  }),
  'token.revoked': async (p) => {
    const { token_id } = await p.keyturn.agents.addToken({ name: 'scout', ...secret, signer: p.bo });
    const end = (signer: Signer) =>
      p.keyturn.agents.revokeToken({ name: 'scout', token_id, ...because, signer });
    return { act: end, changed: () => end(p.bo), code: 'KEY_REVOKED' };
  },
  'role.assigned': async (p) => ({
    act: (signer) => p.keyturn.people.assign({ name: 'bo', roles: ['ops'], ...because, signer }),
    changed: () => p.keyturn.people.assign({ name: 'bo', roles: ['dev'], ...because, signer: p.ada }),
    code: 'ACT_CHANGED',
  }),
  'control_key.added': 'its key is made on this host, and kept once it is signed',
  'control_key.revoked': async (p) => {
    const { control_keys } = await p.keyturn.system.get();
    const { public_key } = control_keys[0]!;
    const end = (signer: Signer) => p.keyturn.system.revokeControlKey({ public_key, ...because, signer });
    return { act: end, changed: () => end(p.bo), code: 'CONTROL_KEY_REVOKED' };
  },
  'executor.added': async (p) => {
    const { public_key } = freshSigner('host-2');
    const add = (name: string) => (signer: Signer) =>
      p.keyturn.system.addExecutor({ public_key, name, labels: [], ...because, signer });
    return { act: add('host-2'), changed: () => add('other')(p.bo), code: 'ACT_CHANGED' };
  },
  'executor.revoked': async (p) => {
    const { public_key } = (await p.keyturn.system.get()).executors[0]!;
    const end = (signer: Signer) => p.keyturn.system.revokeExecutor({ public_key, ...because, signer });
    return { act: end, changed: () => end(p.bo), code: 'EXECUTOR_REVOKED' };
  },
  'policy.activated': async (p) => ({
    act: (signer) => p.keyturn.policies.activate({ ...because, signer }),
    changed: () => otherRules({ ...p, ada: p.bo }, 'meanwhile'),
    code: 'POLICY_REPLACED',
  }),
  'system.frozen': async (p) => {
    const freeze = (signer: Signer) =>
      p.keyturn.system.freeze({ scope: 'tool', name: 'wait', ...because, signer });
    return { act: freeze, changed: () => freeze(p.bo), code: 'FROZEN_ALREADY' };
  },
  'system.unfrozen': async (p) => {
    const tool = { scope: 'tool', name: 'wait', ...because } as const;
    await p.keyturn.system.freeze({ ...tool, signer: p.bo });
    const lift = (signer: Signer) => p.keyturn.system.unfreeze({ ...tool, signer });
    return { act: lift, changed: () => lift(p.bo), code: 'NOT_FROZEN' };
  },
  'head.accepted': 'it is signed for one place in the ledger, which no other entry may take',
  'clock.accepted': 'it is signed for one place in the ledger, which no other entry may take',
  'mcp.accepted': 'test/fold/stale.ts: it needs a server',
  'mcp.removed': 'test/fold/stale.ts: it needs a server',
  'delegation.granted': async (p) => ({
    act: (signer) =>
      p.keyturn.agents.delegate({ delegate: 'scout', actions: ['tool:say'], ttl_s: 60, ...because, signer }),
  }),
  'delegation.revoked': async (p) => {
    const delegation_id = await delegated(p);
    const end = (signer: Signer) => p.keyturn.agents.revokeDelegation({ delegation_id, ...because, signer });
    return { act: end, changed: () => end(p.bo), code: 'DELEGATION_REVOKED' };
  },
  'intent.replaced': async (p) => {
    const intent = await said(p);
    const { intent_id } = intent;
    return {
      act: (signer) => p.keyturn.intents.edit({ intent_id, arguments: { word: 'other' }, signer }),
      changed: () => p.keyturn.intents.approve({ ...intent, signer: p.bo }),
      code: 'EDIT_NOT_DUE',
    };
  },
  'intent.delegated': async (p) => {
    const [intent, delegation] = [await said(p), await delegated(p)];
    return {
      by: p.scout,
      act: (signer) => p.keyturn.intents.submit({ ...intent, delegation, signer }),
      changed: () => reject(p, intent),
      code: 'INTENT_REJECTED',
    };
  },
  'approval.granted': async (p) => {
    const intent = await said(p);
    return {
      act: (signer) => p.keyturn.intents.approve({ ...intent, signer }),
      changed: () => reject(p, intent),
      code: 'INTENT_REJECTED',
    };
  },
  'approval.denied': async (p) => {
    const intent = await said(p);
    return {
      act: (signer) => p.keyturn.intents.reject({ ...intent, ...because, signer }),
      changed: () => reject(p, intent),
      code: 'INTENT_REJECTED',
    };
  },
  'order.given': async (p) => {
    const intent = await said(p);
    return {
      act: (signer) => p.keyturn.intents.turn({ ...intent, signer }),
      changed: () => reject(p, intent),
      code: 'INTENT_REJECTED',
    };
  },
  'capability.revoked': async (p) => {
    const { capability_id } = await granted({ ...p, ada: p.bo }, { issuer: 'scout' });
    const end = (signer: Signer) => p.keyturn.runs.revokeCapability({ capability_id, ...because, signer });
    return { act: end, changed: () => end(p.bo), code: 'CAPABILITY_REVOKED' };
  },
  'break_glass.used': async (p) => {
    const intent = await approved(p);
    return {
      act: (signer) => p.keyturn.runs.breakGlass({ ...intent, ...because, signer }),
      changed: () => reject(p, intent),
      code: 'INTENT_REJECTED',
    };
  },
  'execution.stopped': 'test/journey/stop-run.test.ts: the run has to go on until it is signed',
  'execution.resolved': 'test/fold/stale.ts: the run has to be in doubt',
  'retry.authorised': async (p) => {
    const { intent_id } = await failed(p);
    const again = (signer: Signer) => p.keyturn.runs.retry({ intent_id, ...because, signer });
    return { act: again, changed: () => again(p.bo), code: 'RETRY_NOT_DUE' };
  },
  'rollback.claimed': async (p) => {
    const { report } = await ranPlan(p);
    const { execution_id } = report;
    const back = (signer: Signer) => p.keyturn.plans.rollback({ execution_id, ...because, signer });
    return { act: back, changed: () => back(p.bo), code: 'CLAIM_TAKEN' };
  },
  'backups.expired': 'with `object.expired`',
  'ledger.archived': async (p) => ({
    act: (signer) =>
      p.keyturn.ledger.archive({ out: join(p.root, 'old.jsonl'), older_than_s: 0, ...because, signer }),
  }),
  'object.erased': async (p) => {
    const intent = await runnable(p, planOf([create('1', 'n1')]), { issuer: 'scout' });
    return {
      act: (signer) => p.keyturn.ledger.erase({ digest: intent.hash, ...because, signer }),
      changed: () => run(p, intent),
      code: 'ERASE_UNCONFIRMED',
    };
  },
  'object.expired': async (p) => {
    const { report } = await ranPlan(p);
    const policy = { older_than_s: 0, undoable_too: true };
    const { objects } = await p.keyturn.system.previewGc(policy);
    expect(objects.removes.some(({ undo }) => undo.includes(report.execution_id))).toBe(true);
    return {
      act: async (signer) => {
        const outcome = await p.keyturn.system.gc({ runs: [], objects: objects.removes, ...because, signer });
        expect(outcome.objects).toMatchObject({ code: null, kept: [] });
      },
    };
  },
  'simulation.changed': async (p) => {
    writeSimulation(p.root, SIMULATIONS.find((one) => (one as { id: string }).id === 'hello.show')!);
    const register = (signer: Signer) =>
      p.keyturn.simulations.register({ id: 'hello.show', ...because, signer });
    return { act: register, changed: () => register(p.bo), code: 'SIMULATION_CHANGE_ILLEGAL' };
  },
  'slo.waived': 'test/agent: it needs measured figures',
};

const SIGNED = Object.entries(ACTS).flatMap(([kind, asked]) =>
  typeof asked === 'string' ? [] : [{ kind: kind as SignedKind, asked }],
);

/** Nothing that was shown can change: old entries and old bytes do not, and each use of a delegation looks at its key. */
const UNCHANGED: ReadonlySet<SignedKind> = new Set([
  'delegation.granted',
  'ledger.archived',
  'object.expired',
]);

const written = async ({ keyturn }: Project, kind: string) =>
  (await newestOf(keyturn, 200)).filter((one) => one.kind === kind).length;

const CHANGED = SIGNED.filter(({ kind }) => !UNCHANGED.has(kind));

describe('while a key elsewhere signs', () => {
  it.each(SIGNED)(
    'what has nothing to do with it is no reason to sign again: $kind',
    async ({ kind, asked }) => {
      const p = await scene();
      const { by = p.ada, act } = await asked(p);
      const signer = elsewhere(by, async () => {
        await said(p);
        if (kind !== 'policy.activated') await otherRules({ ...p, ada: p.bo }, 'more');
      });
      const before = await written(p, kind);
      await act(signer);
      expect(signer.calls).toBe(1);
      expect(await written(p, kind)).toBeGreaterThan(before);
    },
  );

  it.each(CHANGED)('what was shown changes, and nothing is written: $kind', async ({ kind, asked }) => {
    const p = await scene();
    const { by = p.ada, act, changed, code } = await asked(p);
    let before = 0;
    const signer = elsewhere(by, async () => {
      await changed!();
      before = await written(p, kind);
    });
    await expectRefusal(code!, () => act(signer));
    expect(signer.calls).toBe(1);
    expect(await written(p, kind)).toBe(before);
  });

  it('an order that is issued at once is signed once, whatever its count becomes', async () => {
    const p = await scene();
    const rate =
      'forbid (principal, action == Keyturn::Action::"grant", resource) when { context.pace_hour > 50 };';
    await rules(p, `${RULES}\n${policy('rate', 'capability', rate)}`);
    const [mine, theirs] = [await approved(p), await approved(p)];
    const other = await Keyturn.open({ at: p.root });
    const signer = elsewhere(p.ada, () => other.intents.grant({ ...theirs, is_issued: true, signer: p.bo }));
    const { token } = await p.keyturn.intents.grant({ ...mine, is_issued: true, signer });
    await other.close();
    expect(token).not.toBeNull();
    expect(signer.calls).toBe(1);
  });

  it('a human who takes longer than a decision may take is not asked again for that', async () => {
    const p = await scene();
    const intent = await said(p);
    const real = performance.now;
    const signer = elsewhere(p.ada, async () => {
      await otherRules({ ...p, ada: p.bo }, 'more');
      const late_ms = real.call(performance) + 2 * limits.grant_decision_ms;
      performance.now = () => late_ms + real.call(performance);
    });
    try {
      await p.keyturn.intents.approve({ ...intent, signer });
    } finally {
      performance.now = real;
    }
    expect(signer.calls).toBe(1);
  });

  it('a gc keeps what is touched meanwhile, and removes the rest with the one signature', async () => {
    const p = await scene();
    const { report } = await ranPlan(p);
    const ended = await said(p);
    await p.keyturn.intents.turn({ ...ended, signer: p.bo });
    await runSeen(p.keyturn, { ...ended, confirm: yes });
    const { objects } = await p.keyturn.system.previewGc({ older_than_s: 0, undoable_too: true });
    const signer = elsewhere(p.ada, async () => {
      await said(p);
      const { execution_id } = report;
      await p.keyturn.plans.rollback({ execution_id, ...because, signer: p.bo });
    });
    const gc = { runs: [], objects: objects.removes, ...because, signer };
    const { objects: outcome } = await p.keyturn.system.gc(gc);
    expect(signer.calls).toBe(1);
    expect(outcome.kept.length).toBeGreaterThan(0);
    expect(outcome.objects).toBeGreaterThan(0);
    expect(outcome.objects + outcome.kept.length).toBe(objects.removes.length);
    await p.keyturn.ledger.verify({ deep: true });
  });

  it('a gc of several runs and of more objects than one commit removes is signed once', async () => {
    const p = await scene();
    for (const file of ['n1', 'n2']) {
      writeFileSync(join(p.root, file), 'before');
      const intent = await runnable(p, planOf([remove('1', file)]), { issuer: 'scout' });
      await run(p, intent);
    }
    for (let n = 0; n < 40; n++) await reject(p, await approved(p));
    const policy = { older_than_s: 0, undoable_too: true };
    const { removes: runs, objects } = await p.keyturn.system.previewGc(policy);
    expect(runs).toHaveLength(2);
    expect(objects.removes.length).toBeGreaterThan(journeyLimits.gc_objects);
    const signer = elsewhere(p.ada, async () => {});
    const outcome = await p.keyturn.system.gc({ runs, objects: objects.removes, ...because, signer });
    expect(signer.calls).toBe(1);
    expect(outcome.runs.map(({ removed }) => removed)).toEqual([true, true]);
    expect(outcome.objects).toMatchObject({ objects: objects.removes.length, kept: [], code: null });
    await p.keyturn.ledger.verify({ deep: true });
  });
});
