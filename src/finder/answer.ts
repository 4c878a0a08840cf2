import { sha256 } from '../canonical/digest.ts';
import { agentLimits } from '../limits.ts';
import { entryOf } from './catalog.ts';
import { FALLBACK_LANGUAGE } from './language.ts';
import { LEXICON } from './lexicon/lexicon.ts';
import {
  type ClarifyPacket,
  type EvidenceSpan,
  IDEMPOTENCY_RECIPE_REF,
  type RefusePacket,
  type Scalar,
  type SimulationMatchPacket,
  WHICH_SIMULATION,
} from './packet.ts';
import { choices, inLanguage, meantQuestion, whichQuestion } from './questions.ts';
import type { Candidate } from './rank.ts';
import { type CandidateContext, contextRef, type FinderRequest, headOf } from './request.ts';
import { needsConfirmation, type Risk, type Simulation } from './simulation.ts';

/** How each packet is filled in. What to say is decided in finder.ts. */

export function refusePacket(request: FinderRequest, reason_code: string, message: string): RefusePacket {
  return {
    kind: 'REFUSE',
    ...headOf(request),
    reason_code,
    message,
    evidence_refs: [`sha256:${sha256(request.utterance)}`],
  };
}

export function matchPacket(
  request: FinderRequest,
  { entry: { simulation }, confidence_bp }: Candidate,
  spans: readonly EvidenceSpan[],
  asks_anyway: boolean,
): SimulationMatchPacket {
  const chain = chainOf(request, simulation);
  return {
    kind: 'SIMULATION_MATCH',
    ...headOf(request),
    reason_code: request.clarify === undefined ? 'MATCH_DIRECT' : 'MATCH_CLARIFIED',
    intent_family: simulation.family,
    simulation_id: simulation.id,
    candidate_rank: 1,
    confidence_bp,
    required_fields_present: Object.keys(simulation.fields),
    required_fields_missing: [],
    evidence_spans: [...spans],
    risk_tier: highest(chain.map(({ risk }) => risk)),
    confirm_required: asks_anyway || chain.some(needsConfirmation),
    access_actions_required: [...new Set(chain.map(({ access_action }) => access_action))],
    idempotency_recipe_ref: IDEMPOTENCY_RECIPE_REF,
    fallback_if_inactive_or_missing: 'REFUSE',
  };
}

/** The simulation and its steps: a template is as dangerous as the worst of them. */
function chainOf({ catalog }: FinderRequest, simulation: Simulation): Simulation[] {
  const steps = (simulation.steps ?? []).map((step) => entryOf(catalog, step.simulation)!.simulation);
  return [simulation, ...steps];
}

const RISKS: readonly Risk[] = ['LOW', 'MEDIUM', 'HIGH'];

function highest(risks: readonly Risk[]): Risk {
  return RISKS[Math.max(...risks.map((risk) => RISKS.indexOf(risk)))]!;
}

export interface Question {
  readonly packet: ClarifyPacket;
  readonly context: CandidateContext;
}

export function contextOf(
  { catalog, utterance }: FinderRequest,
  candidates: readonly Candidate[],
  fields: Readonly<Record<string, Scalar>>,
  missing_field: string,
): CandidateContext {
  return {
    catalog_snapshot_ref: catalog.digest,
    utterance_digest: sha256(utterance),
    simulation_ids: candidates.map(({ entry }) => entry.simulation.id),
    fields,
    missing_field,
  };
}

type Asked = Pick<ClarifyPacket, 'question' | 'allowed_answer_formats' | 'reason_code' | 'attempt_index'>;

function ask(request: FinderRequest, context: CandidateContext, asked: Asked): Question {
  const packet: ClarifyPacket = {
    kind: 'CLARIFY',
    ...headOf(request),
    ...asked,
    missing_field: context.missing_field,
    max_attempts: agentLimits.clarify_tries,
    on_exceed: 'REFUSE',
    candidate_context_ref: contextRef(context),
  };
  return { packet, context };
}

/** One question that tells the candidates apart, or that makes sure of the only one. */
export function askWhich(
  request: FinderRequest,
  candidates: readonly Candidate[],
  language: string,
  attempt_index: number,
): Question {
  const summaries = candidates.map(({ entry }) => entry.simulation.summary);
  const context = contextOf(request, candidates, {}, WHICH_SIMULATION);
  if (candidates.length > 1)
    return ask(request, context, {
      reason_code: 'CLARIFY_CANDIDATES_CLOSE',
      question: whichQuestion(summaries, language),
      allowed_answer_formats: choices(summaries, language),
      attempt_index,
    });
  const { affirmative, negative } = LEXICON.get(language) ?? LEXICON.get(FALLBACK_LANGUAGE)!;
  return ask(request, context, {
    reason_code: 'CLARIFY_CONFIDENCE_LOW',
    question: meantQuestion(summaries[0]!, language),
    allowed_answer_formats: [affirmative[0]!, negative[0]!],
    attempt_index,
  });
}

/** One question for one field, in the words of the simulation. */
export function askField(
  request: FinderRequest,
  candidate: Candidate,
  known: Readonly<Record<string, Scalar>>,
  missing_field: string,
  { language, attempt_index }: { readonly language: string; readonly attempt_index: number },
): Question {
  const { question, formats } = candidate.entry.simulation.fields[missing_field]!;
  return ask(request, contextOf(request, [candidate], known, missing_field), {
    reason_code: 'CLARIFY_FIELD_MISSING',
    question: inLanguage(question, language),
    allowed_answer_formats: formats,
    attempt_index,
  });
}
