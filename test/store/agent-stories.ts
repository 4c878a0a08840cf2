import fc from 'fast-check';
import { sha256 } from '../../src/canonical/digest.ts';
import { AGENT_PLAN_STATES, STEP_STATES } from '../../src/event/agent.ts';
import type { Event } from '../../src/event/event.ts';
import { AGENT_PLAN_MOVES, currentStep, liveAgentPlan, STEP_MOVES } from '../../src/gate/agent-state.ts';
import { Refusal } from '../../src/refusal.ts';
import type { Store } from '../../src/store/store.ts';
import { accessed, confirmed, moved, planned, received, refs, step } from '../gate/agent-story.ts';
import { dispatchOf, endOf, type Goal, goal, of, runs } from './agent-facts.ts';

/** Stories of the agent core that choose at each moment among what could happen, and now and then what could not. */

interface Tried {
  readonly correlations: readonly string[];
  readonly states: ReadonlySet<string>;
  readonly committed: number;
  readonly refused: number;
}

type Walk = (store: Store) => Promise<Tried>;

/** One run of the property: so many stories, all at once in one store. */
export async function randomStories(count: number, check: (walk: Walk) => Promise<void>): Promise<void> {
  const story = fc.array(fc.nat(), { minLength: 10, maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(fc.array(story, { minLength: count, maxLength: count }), (stories) =>
      check((store) => walkAll(store, stories)),
    ),
    { numRuns: 2, endOnFailure: true },
  );
}

async function walkAll(store: Store, stories: readonly (readonly number[])[]): Promise<Tried> {
  const tried = { states: new Set<string>(), committed: 0, refused: 0, ordinal: 0 };
  const goals = stories.map((_, i) => goal(`goal-${i}`));
  let issuing = Promise.resolve();
  // Capabilities are counted, so runs of different stories are recorded one after the other.
  const run = (one: Goal, result: 'success' | 'failure' | 'partial') => {
    issuing = issuing.then(() => runs(store, one, ++tried.ordinal, result));
    return issuing;
  };
  await Promise.all(
    goals.map(async (one, i) => {
      for (const [turn, choice] of stories[i]!.entries()) {
        const happening = await chosen(store, one, turn, choice, run);
        await store.commit(happening).then(
          () => (tried.committed += 1),
          (error: unknown) => {
            if (!(error instanceof Refusal)) throw error;
            tried.refused += 1;
          },
        );
        for (const { step_id, state } of await store.agentCurrent({ correlation_id: one.correlation }))
          tried.states.add(`${step_id === '' ? 'plan' : 'step'} ${state}`);
      }
    }),
  );
  return { ...tried, correlations: goals.map(({ correlation }) => correlation) };
}

type Happening = { readonly claims?: string[]; readonly events: Event[] };

async function chosen(
  store: Store,
  one: Goal,
  turn: number,
  choice: number,
  run: (one: Goal, result: 'success' | 'failure' | 'partial') => Promise<void>,
): Promise<Happening> {
  const turn_id = `turn-${turn}`;
  const state = await store.find('agent', one.correlation);
  const plan = state && liveAgentPlan(state);
  if (!state || !plan) return { events: [of(one, received({ turn_id })), planOf(one, turn_id, choice)] };
  const named = { plan_id: plan.plan_id, refs: refs({ finder_packet_ref: plan.finder_packet }) };
  const now = currentStep(plan);
  if (choice % 11 === 0) return { events: [of(one, anyMove(named, now?.step_id ?? null, choice))] };
  if (!now) return { events: [of(one, moved(null, plan.state, choice % 2 ? 'COMPLETED' : 'PAUSED', named))] };
  const { step_id } = now;
  if (now.state === 'WAITING_CONFIRM' && !now.confirmation) {
    const answer = (['YES', 'YES', 'YES', 'AMBIGUOUS', 'NO'] as const)[choice % 5]!;
    return { events: [of(one, confirmed(answer, { plan_id: plan.plan_id, step_id }))] };
  }
  const key = { idempotency_key: sha256(`${one.correlation} ${step_id}`) };
  const self = { ...one, ...key, plan_id: plan.plan_id, step_id };
  if (now.state === 'EXECUTING') {
    const mine = {
      ...self,
      intent_id: now.intent_id!,
      execution_id: step_id.replace(UUID, '$1-$2-$3-$4-$5'),
    };
    const [result, to] = ENDS[choice % ENDS.length]!;
    if (!(await store.find('intent', mine.intent_id))) await run(mine, result);
    return { events: [withRefs(endOf(mine, to), named.refs)] };
  }
  if (now.state === 'READY' && plan.state === 'IN_PROGRESS') {
    if (!now.access) return { events: [of(one, accessed('ALLOW', { plan_id: plan.plan_id, step_id }))] };
    const intent_id = sha256(`intent ${step_id}`).replace(UUID, '$1-$2-$3-$4-$5');
    return { events: [withRefs(dispatchOf({ ...self, intent_id }), named.refs)] };
  }
  const options = choice % 3 && now.state !== 'READY' ? STEP_MOVES[now.state] : [];
  if (options.length > 0) {
    const to = options[Math.floor(choice / 3) % options.length]!;
    return { events: [of(one, moved(step_id, now.state, to, named))] };
  }
  // Open steps are closed before their plan ends.
  const left = plan.steps.filter(({ state }) => ['PENDING', 'WAITING_CONFIRM', 'READY'].includes(state));
  if (choice % 7 === 0 && left.length > 0)
    return { events: left.map((open) => of(one, moved(open.step_id, open.state, 'SKIPPED', named))) };
  const ways = AGENT_PLAN_MOVES[plan.state];
  const to = ways[Math.floor(choice / 3) % ways.length]!;
  return { events: [of(one, moved(null, plan.state, to, named))] };
}

const UUID = /^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/;

const ENDS = [
  ['success', 'SUCCEEDED'],
  ['success', 'SUCCEEDED'],
  ['failure', 'FAILED_RETRYABLE'],
  ['partial', 'FAILED_TERMINAL'],
  ['failure', 'SUCCEEDED'],
] as const;

function planOf(one: Goal, turn_id: string, choice: number): Event {
  const steps = Array.from({ length: 1 + (choice % 3) }, (_, i) =>
    step(sha256(`${one.correlation} ${turn_id} ${i}`), { confirmation_required: choice % 2 === 0 }),
  );
  const plan_id = sha256(`${one.correlation} ${turn_id}`);
  const named = refs({ finder_packet_ref: sha256(`packet ${turn_id}`) });
  return of(one, planned({ plan_id, steps, refs: named }));
}

function withRefs(event: Event<'agent.moved'>, named: Event<'agent.moved'>['body']['refs']): Event {
  return { ...event, body: { ...event.body, refs: named } };
}

function anyMove(named: object, step_id: string | null, choice: number): Event {
  const states = [...AGENT_PLAN_STATES, ...STEP_STATES];
  const pick = (n: number) => states[Math.floor(n) % states.length]!;
  return moved(choice % 2 ? step_id : null, pick(choice / 11), pick(choice / 200), named);
}
