import { join } from 'node:path';
import type { Confirm } from '../../src/agent/answer-shape.ts';
import { type AgentStep, agentPlans, type DispatchEnvelope } from '../../src/agent/contracts.ts';
import type { DispatchFacts } from '../../src/agent/decide.ts';
import { intentIdOf } from '../../src/agent/intent.ts';
import { idempotencyKey } from '../../src/agent/plan.ts';
import { methodsOf } from '../../src/face/verb.ts';
import { VERBS } from '../../src/face/verbs.ts';
import type { Signer } from '../../src/identity/act.ts';
import type { Context } from '../../src/journey/context.ts';
import { Keyturn } from '../../src/keyturn.ts';
import { readConfig } from '../../src/project/config.ts';
import { agentOf, journeyContext } from '../../src/project/context.ts';
import { layoutOf } from '../../src/project/layout.ts';
import { openLedger } from '../../src/project/open.ts';
import type { Store } from '../../src/store/store.ts';
import { SILENT } from '../../src/telemetry.ts';
import { objectOf } from '../support/ledger.ts';
import { yes } from './agent-place.ts';

/** What the core does by itself, done by hand. No public entry point leads here: the attacker has the key of the core and its code. */

/** The id that the intent of this step will have. Every caller who knows the plan can compute it. */
export async function intentIdFor(
  keyturn: Keyturn,
  { correlation_id, step_id }: Pick<Confirm, 'correlation_id' | 'step_id'>,
): Promise<string> {
  const state = await keyturn.conversations.status({ correlation_id });
  const { ordered_steps } = agentPlans.open(await objectOf(keyturn, state.plans[0]!.plan));
  const step = ordered_steps.find((one) => one.step_id === step_id)!;
  return intentIdOf(idempotencyKey(correlation_id, step));
}

/** What the core would dispatch for the first step of the newest plan, from what every reader of the ledger is told. */
export async function envelopeFor(keyturn: Keyturn, correlation_id: string): Promise<DispatchEnvelope> {
  const { user_id, plans } = await keyturn.conversations.status({ correlation_id });
  const { plan: digest, steps } = plans.at(-1)!;
  const plan = agentPlans.open(await objectOf(keyturn, digest));
  const step = plan.ordered_steps[0]!;
  const { step_id, simulation_id, required_fields, access_action, rollback_plan_ref } = step;
  return {
    ...{ correlation_id, tenant_id: 'default', user_id },
    ...{ step_id, simulation_id, required_fields, access_action, rollback_plan_ref },
    confirmation_proof_ref: steps[0]!.confirmation?.proof ?? null,
    idempotency_key: idempotencyKey(correlation_id, step),
    policy_snapshot_ref: plan.policy_snapshot_ref,
    artifact_fingerprint_bundle_ref: step.artifact_fingerprint_bundle_ref,
  };
}

/** What a decision says of the simulation of a step that is active and still what was activated. */
export async function activeFact(
  keyturn: Keyturn,
  step: Pick<AgentStep, 'simulation_id' | 'simulation_version' | 'definition'>,
): Promise<DispatchFacts['simulations'][number]> {
  const { simulation_id, simulation_version: version, definition } = step;
  const { registered } = await keyturn.simulations.get({ id: simulation_id });
  const activated = registered?.bound ?? null;
  const held = { activated, found: activated, differs: [] };
  return { simulation_id, version, definition, status: 'ACTIVE', ...held };
}

export async function asCore<T>(
  root: string,
  act: (context: Context, core: Signer) => Promise<T>,
  wrap: (store: Store) => Store = (store) => store,
): Promise<T> {
  const layout = layoutOf(root);
  const config = readConfig(layout);
  const clock = () => new Date();
  const ledger = await openLedger(layout, config, { clock, mode: 'write' });
  try {
    const core = Keyturn.agentSigner('agent-core', join(root, '.keyturn/keys/agent-core.seed'));
    return await act(
      journeyContext(layout, config, { ...ledger, store: wrap(ledger.store) }, clock, SILENT, null),
      core,
    );
  } finally {
    await ledger.store.close();
  }
}

/** The verbs of conversations over this context. */
export function conversationsIn(root: string, context: Context): Keyturn['conversations'] {
  const layout = layoutOf(root);
  const agent = () => agentOf(layout, context, undefined);
  const project = { layout, config: readConfig(layout), context, agent };
  return methodsOf('conversations', VERBS.conversations, project, SILENT);
}

/** The agent core over a store that is a moment late: before it writes this kind of event for the first time, something happens. */
export function delayed<T>(
  root: string,
  kind: string,
  happens: () => Promise<unknown>,
  act: (conversations: Keyturn['conversations']) => Promise<T>,
): Promise<T> {
  let is_due = true;
  const wrap = (store: Store): Store => ({
    ...store,
    commit: async (commit) => {
      if (is_due && commit.events.some((event) => event.kind === kind)) {
        is_due = false;
        await happens();
      }
      return store.commit(commit);
    },
  });
  return asCore(root, async (context) => act(conversationsIn(root, context)), wrap);
}

/** Says yes in a process that breaks when it looks at the clock for the n-th time. */
export async function yesAndBreak(root: string, prompt: Confirm, at: number): Promise<void> {
  let left = Number.POSITIVE_INFINITY;
  const clock = () => {
    left -= 1;
    if (left < 0) throw new Error('broken');
    return new Date();
  };
  const breaking = await Keyturn.open({ at: root, clock });
  left = at;
  await yes(breaking, prompt).catch(() => {});
  left = Number.POSITIVE_INFINITY;
  await breaking.close();
}
