import type { Json } from '../canonical/json.ts';
import {
  AGENT_CORE,
  actionOf,
  areAllDrawn,
  audienceOf,
  canonicalScope,
  comparedDiffs,
  elsewhere,
  executorIn,
  type Face,
  hasDiffs,
  includes,
  isSealedAs,
  neededScope,
  onlyKeyOf,
  parseConditions,
  type RemoteLogin,
  type Request,
  type Result,
  sealedPolicies,
  sealedProposal,
  showEffect,
  withTheirDiffs,
} from '../keyturn.ts';
import { refuse } from '../refusal.ts';
import { other } from './remote-other.ts';

/** What a service tells is compared with what this machine computes from it, before it is drawn. What may be signed about it is kept. */

export type AskedRemotely = Readonly<Record<string, Json>>;

/** What was shown, in the words of the act that may follow. */
export interface ShownHere {
  /** Computed here: an act that says anything else is another one. */
  readonly sealed: AskedRemotely;
  /** What the screen says unless more was asked for. */
  readonly offered?: AskedRemotely;
  /** Something of it is not drawn: it can be looked at, and not be agreed to. */
  readonly in_part?: boolean;
}

/** What an act is about, by its request; it must have been shown. */
const ABOUT: Readonly<Record<string, (asked: AskedRemotely) => string | null>> = {
  'intents.approve': ({ intent_id }) => `intent ${intent_id}`,
  'intents.turn': ({ intent_id }) => `intent ${intent_id}`,
  'intents.edit': ({ intent_id }) => `intent ${intent_id}`,
  'intents.grant': ({ intent_id }) => `offer ${intent_id}`,
  'intents.submit': ({ intent_id }) => `submission ${intent_id}`,
  'agents.delegate': ({ grant, actions }) => (grant === undefined ? null : `pins ${JSON.stringify(actions)}`),
  'policies.activate': () => 'policies',
  'ledger.erase': ({ digest }) => `object ${digest}`,
  'simulations.register': ({ id }) => `simulation ${id}`,
  'simulations.activate': ({ id }) => `activation ${id}`,
};

/** Acts that say yes to all that is drawn. */
const AGREES: ReadonlySet<string> = new Set(['intents.approve', 'intents.turn']);

/** The verbs that show what an act is about, and what was shown by them. */
export interface RemoteLooks {
  readonly face: Face;
  /** Null for an act that says all of it itself. */
  seenFor(verb: string, asked: AskedRemotely): ShownHere | null;
}

export function lookingAt(face: Face, login: RemoteLogin): RemoteLooks {
  const seen = new Map<string, ShownHere>();
  const review = async (request: Request<'intents.review'>) => {
    const looked = await reviewed(face, await face.intents.review(request), login);
    seen.set(`intent ${looked.review.intent.intent_id}`, looked.seen);
    return looked.review;
  };
  const offer = async (request: Request<'intents.offer'>) => {
    const told = await face.intents.offer(request);
    const { intent, shown, effect } = await review({ intent_id: told.intent.intent_id });
    if (intent.hash !== told.intent.hash || intent.effect_digest !== told.intent.effect_digest)
      refuse('ACT_OTHER', 'The service offers another effect than it shows.');
    const { sealed } = seen.get(`intent ${intent.intent_id}`)!;
    const { audience, ttl_s } = told;
    if ((sealed.audience ?? audience) !== audience) other('the executor');
    const needs = neededScope(effect);
    const bounds = boundsOf(request, needs);
    seen.set(`offer ${intent.intent_id}`, { sealed: { ...sealed, bounds }, offered: { audience, ttl_s } });
    return { ...told, intent, shown, needs };
  };
  const previewSubmit = async (request: Request<'intents.previewSubmit'>) => {
    const told = await face.intents.previewSubmit(request);
    const { hash, effect_digest } = requireSealed(told);
    const approver = told.approver as Json;
    seen.set(`submission ${request.intent_id}`, {
      sealed: {
        intent_id: told.intent.intent_id,
        hash,
        effect_digest,
        approver,
        delegation: request.delegation,
      },
    });
    return told;
  };
  const pins = async (request: Request<'agents.pins'>) => {
    const told = await face.agents.pins(request);
    if (!told.pins.every(({ action }) => request.actions.some((one) => includes(one, action))))
      other('the tools');
    const sealed = { pins: told.pins as unknown as Json };
    seen.set(`pins ${JSON.stringify(request.actions)}`, { sealed });
    return told;
  };
  const diff = async (request: Request<'policies.diff'> = {}) => {
    const told = await face.policies.diff(request);
    const sealed =
      sealedPolicies(told) ??
      refuse('ACT_OTHER', 'The service shows other policies than their digest covers.');
    seen.set('policies', { sealed: { snapshot: sealed.files, replaces: sealed.active } });
    return told;
  };
  const explainErase = async (request: Request<'ledger.explainErase'>) => {
    const told = await face.ledger.explainErase(request);
    const { objects } = told;
    const losses = objects.flatMap(({ needed_by }) => needed_by);
    // What is drawn is what is signed.
    const is_drawn = losses.every(
      ({ subject, stops, undo }) =>
        (!stops || told.stops.includes(subject)) && (undo === null || told.undo.includes(undo)),
    );
    if (told.digest !== request.digest || objects[0]?.digest !== request.digest || !is_drawn)
      other('the object');
    const sealed = { objects: objects.map(({ digest, needed_by }) => ({ digest, needed_by })) };
    seen.set(`object ${request.digest}`, { sealed: sealed as unknown as Record<string, Json> });
    return told;
  };
  const definitions = new Map<string, object>();
  const get = async (request: Request<'simulations.get'>) => {
    const told = await face.simulations.get(request);
    const { definition, status, registered, registered_version } = told;
    const own = await elsewhere.sealedSimulation(definition, status);
    const { id, version } = definition;
    if (own.digest !== told.digest || id !== request.id)
      refuse('ACT_OTHER', 'The service shows another simulation than its digest covers.');
    const replaces = registered?.own_delegation ?? null;
    const sealed = { digest: own.digest, version, replaces, is_new: registered_version !== version };
    definitions.set(id, definition);
    seen.set(`simulation ${id}`, { sealed });
    return { ...told, lines: own.lines, sections: own.sections };
  };
  const bound = async (request: Request<'simulations.bound'>) => {
    const told = await face.simulations.bound(request);
    const { id } = request;
    const { sealed } = seen.get(`simulation ${id}`) ?? other('nothing of it was shown');
    const own = await elsewhere.sealedActivation(definitions.get(id)!, told.value);
    if (own.bound !== told.digest)
      refuse('ACT_OTHER', 'The service shows other programs than its digest covers.');
    const { principals } = await face.people.list();
    const core = principals.find(({ name }) => name === AGENT_CORE);
    const core_key = core ? onlyKeyOf(core) : null;
    const { bound, actions, approves } = own;
    seen.set(`activation ${id}`, { sealed: { ...sealed, bound, actions, approves, core_key } });
    return { ...told, consent: own.consent, sections: own.sections };
  };
  // What is proposed is what the file here says, and not what a service reads in it.
  const read = async ({ plan, config = null }: Request<'plans.read'>): Promise<Result<'plans.read'>> => {
    const found = await elsewhere.readPlan({ plan, config });
    return 'spec' in found ? { spec: found.spec } : { problems: found.problems };
  };
  return {
    face: {
      ...face,
      plans: { ...face.plans, read },
      intents: { ...face.intents, review, offer, previewSubmit },
      agents: { ...face.agents, pins },
      policies: { ...face.policies, diff },
      ledger: { ...face.ledger, explainErase },
      simulations: { ...face.simulations, get, bound },
    },
    seenFor: (verb, asked) => {
      const about = ABOUT[verb]?.(asked) ?? null;
      if (about === null) return null;
      const found = seen.get(about) ?? other('nothing of it was shown');
      if (found.in_part && AGREES.has(verb)) other('the changes of its files');
      return found;
    },
  };
}

/** In the one form in which they are covered by a digest. */
function boundsOf({ scope, tool_category, conditions }: Request<'intents.offer'>, needs: object): Json {
  return {
    scope: (scope === undefined ? needs : canonicalScope(scope)) as Json,
    tool_category: tool_category ?? null,
    conditions: parseConditions(conditions ?? {}) as Json,
  };
}

type Review = Result<'intents.review'>;

/** What the envelope and the effects say of themselves. */
function requireSealed({
  intent,
  envelope,
  effect,
  alternate_effects,
}: Pick<Review, 'intent' | 'envelope' | 'effect' | 'alternate_effects'>): ReturnType<typeof sealedProposal> {
  const sealed = sealedProposal(envelope, effect, alternate_effects);
  return isSealedAs(sealed, envelope, intent)
    ? sealed
    : refuse(
        'ACT_OTHER',
        'The service tells something else about the proposal than its envelope and effect say.',
      );
}

/** What is drawn is made here, from the effects whose digests are signed. The diffs of a plan are the service's, and are compared. */
async function reviewed(
  face: Face,
  told: Review,
  { ledger }: RemoteLogin,
): Promise<{ readonly review: Review; readonly seen: ShownHere }> {
  const { effect, alternate_effects } = told;
  const sealed = requireSealed(told);
  const called = executorIn(effect);
  const act = {
    hash: sealed.hash,
    effect_digest: sealed.effect_digest,
    action: actionOf(effect),
    ...(called !== null && { audience: audienceOf(ledger, called) }),
  };
  const own = showEffect(effect);
  const alternates = alternate_effects.map((one) => showEffect(one));
  if (effect.kind !== 'plan') return { review: { ...told, shown: own, alternates }, seen: { sealed: act } };
  const shown = await compared(face, effect, withTheirDiffs(own, told.shown), told.intent);
  const in_part = !areAllDrawn(effect, shown);
  return { review: { ...told, shown, alternates }, seen: { sealed: act, in_part } };
}

/** The diffs, with the digests of the contents that the effect names. Those of contents that are too large to be compared are said. */
async function compared(
  { intents }: Face,
  effect: Extract<Review['effect'], { kind: 'plan' }>,
  shown: Review['shown'],
  { intent_id, hash }: Review['intent'],
): Promise<Review['shown']> {
  if (!hasDiffs(shown)) return shown;
  const { texts } = await intents.diffTexts({ intent_id, hash });
  const { is_other, unchecked } = comparedDiffs(effect, shown, texts);
  const is_apart = shown.parts.some(({ blocks }) =>
    blocks.some(({ hunks }) => hunks.some(({ apart }) => apart !== undefined)),
  );
  if (is_other || is_apart)
    refuse('ACT_OTHER', 'The service shows other changes of files than the effect of the plan says.');
  if (unchecked.length === 0) return shown;
  const about = [{ text: unchecked.join(', '), from: 'agent' as const }];
  const words = 'NOT COMPARED: too large, so the lines are those of the service';
  return { ...shown, alarms: [...shown.alarms, { alarm: 'content', weight: 'warn', words, about }] };
}
