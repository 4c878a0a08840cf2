import { agentLimits } from '../limits.ts';
import { isAccounted } from './accounted.ts';
import { askField, askWhich, contextOf, matchPacket, type Question, refusePacket } from './answer.ts';
import type { Catalog } from './catalog.ts';
import { answeredValue, chosen } from './clarify.ts';
import { extractFields, type Found } from './extract.ts';
import { languagesRead } from './language.ts';
import { missingPacket } from './missing.ts';
import { type EvidenceSpan, type FinderPacket, type Scalar, WHICH_SIMULATION } from './packet.ts';
import { nothingSaid, unaskedSaid } from './questions.ts';
import {
  type Candidate,
  type CatalogIndex,
  goldFor,
  indexCatalog,
  rank,
  rivals,
  thresholds,
} from './rank.ts';
import {
  type CandidateContext,
  type ClarifyAnswer,
  contextRef,
  type Finder,
  type FinderRequest,
  headOf,
} from './request.ts';
import { isSmallTalk } from './saying.ts';
import { type Unasked, unaskedIn } from './score.ts';
import { contentWords } from './text.ts';
import { textProblem } from './unsafe.ts';

/** A packet with what led to it. A CLARIFY has its context: what the next request gives back under `clarify`. */
export interface Finding {
  readonly packet: FinderPacket;
  readonly context: CandidateContext | null;
  readonly candidates: readonly Candidate[];
  /** In which the user spoke, as far as it can be told; and by the rules of which languages it was read, that one first. */
  readonly language: string;
  readonly read: readonly [string, ...string[]];
}

export interface DefaultFinder extends Finder {
  examine(request: FinderRequest): Finding;
}

/** The finder that needs nothing but the catalog. It keeps one index per catalog for as long as that lives. */
export function createFinder(): DefaultFinder {
  const indexes = new WeakMap<Catalog, CatalogIndex>();
  const indexOf = (catalog: Catalog): CatalogIndex => {
    const index = indexes.get(catalog) ?? indexCatalog(catalog);
    indexes.set(catalog, index);
    return index;
  };
  const examine = (request: FinderRequest) => examineRequest(request, indexOf(request.catalog));
  return { examine, find: (request) => examine(request).packet };
}

interface Turn {
  readonly request: FinderRequest;
  readonly index: CatalogIndex;
  readonly language: string;
  readonly read: Finding['read'];
  readonly ranked: readonly Candidate[];
}

function examineRequest(request: FinderRequest, index: CatalogIndex): Finding {
  const { utterance, clarify } = request;
  const read = languagesRead(utterance, request, index.active.languages);
  const [language] = read;
  const problem = textProblem(utterance) ?? (clarify === undefined ? null : textProblem(clarify.answer));
  if (problem !== null)
    return { language, read, ...told(refusePacket(request, problem.reason_code, problem.message), []) };
  const ranked = rank(index.active, utterance, goldFor(request), read);
  const turn = { request, index, language, read, ranked };
  return { language, read, ...heardIn(turn) };
}

function heardIn(turn: Turn): Answered {
  const { request, ranked } = turn;
  if (contentWords(request.utterance).length === 0 && (ranked[0]?.confidence_bp ?? 0) < thresholds.clarify_bp)
    return nothingAsked(turn);
  return request.clarify === undefined ? hear(turn) : hearAnswer(turn, request.clarify);
}

const nothingAsked = ({ request, language }: Turn): Answered =>
  told(refusePacket(request, 'NOTHING_ASKED', nothingSaid(language)), []);

type Answered = Omit<Finding, 'language' | 'read'>;

function told(packet: FinderPacket, candidates: readonly Candidate[]): Answered {
  return { packet, context: null, candidates };
}

function asked({ packet, context }: Question, candidates: readonly Candidate[]): Answered {
  return { packet, context, candidates };
}

/** A new goal: nothing, a question which one is meant, or the one. */
function hear(turn: Turn): Answered {
  const meant = possible(turn);
  const [first] = meant;
  if (first === undefined) return missing(turn);
  if (isSure(meant)) return proceed(turn, first, foundIn(turn, first), null);
  const named = unaskedIn(turn.index.active, turn.request.utterance, turn.read);
  if (named?.is_forbidden && named.simulation.id === first.entry.simulation.id) return notAsked(turn, named);
  return asked(askWhich(turn.request, meant, turn.language, 1), turn.ranked);
}

/** The candidates that a goal may mean: none when the best is too weak. */
function possible(turn: Turn): Candidate[] {
  const [first] = turn.ranked;
  if (
    first === undefined ||
    first.confidence_bp < thresholds.clarify_bp ||
    isWithdrawn(turn, first.confidence_bp)
  )
    return [];
  return rivals(turn.ranked);
}

/** Whether a simulation that was taken out of service is clearly what is meant. Its neighbour is then not offered. */
function isWithdrawn({ index, request, read }: Turn, rival_bp: number): boolean {
  if (index.withdrawn.simulations.length === 0) return false;
  const [gone] = rank(index.withdrawn, request.utterance, new Set(), read);
  const gone_bp = gone?.confidence_bp ?? 0;
  return gone_bp >= thresholds.match_bp && gone_bp - rival_bp >= thresholds.apart_bp;
}

function isSure(meant: readonly Candidate[]): boolean {
  return meant.length === 1 && meant[0]!.confidence_bp >= thresholds.match_bp;
}

/** Nothing Active is asked for. A greeting is no wish, and what is only spoken of is there; then DRAFT is searched; then there is nothing. */
function missing(turn: Turn): Answered {
  const { request, index, ranked, read } = turn;
  if (isSmallTalk(request.utterance)) return nothingAsked(turn);
  const named = unaskedIn(index.active, request.utterance, read);
  if (named !== null) return notAsked(turn, named);
  const drafts = rank(index.draft, request.utterance, new Set(), read);
  const packet = missingPacket(
    headOf(request),
    request.utterance,
    { searched: index.active.simulations.length, best: ranked[0] },
    { searched: index.draft.simulations.length, best: drafts[0] },
    isWithdrawn(turn, ranked[0]?.confidence_bp ?? 0),
  );
  return told(packet, ranked);
}

function notAsked({ request, ranked, language }: Turn, { simulation }: Unasked): Answered {
  return told(refusePacket(request, 'NOTHING_ASKED', unaskedSaid(simulation.summary, language)), ranked);
}

function foundIn({ request }: Turn, { entry }: Candidate): Map<string, EvidenceSpan> {
  const found = extractFields(entry.simulation.fields, request.utterance);
  return new Map([...found].map(([field, each]) => [field, spanOf(field, 'utterance', each)]));
}

function spanOf(field: string, source: EvidenceSpan['source'], found: Found): EvidenceSpan {
  const { start, end, text, value } = found;
  return { field, source, start, end, text, value };
}

interface LastQuestion {
  readonly field: string;
  readonly attempt_index: number;
}

/** The simulation is known: ask for the first field that is missing, or match. */
function proceed(
  turn: Turn,
  candidate: Candidate,
  spans: ReadonlyMap<string, EvidenceSpan>,
  last: LastQuestion | null,
): Answered {
  const { request, language, ranked } = turn;
  const names = Object.keys(candidate.entry.simulation.fields);
  const field = names.find((name) => !spans.has(name));
  const known = names.flatMap((name) => spans.get(name) ?? []);
  if (field === undefined) {
    const is_plain =
      isChosen(request) || isAccounted(request.utterance, candidate.entry.simulation, placesIn(known));
    return told(matchPacket(request, candidate, known, !is_plain), ranked);
  }
  const attempt_index = last?.field === field ? last.attempt_index + 1 : 1;
  if (attempt_index > agentLimits.clarify_tries) return exceeded(turn);
  const values: Record<string, Scalar> = Object.fromEntries(known.map(({ field, value }) => [field, value]));
  return asked(askField(request, candidate, values, field, { language, attempt_index }), ranked);
}

/** A choice between simulations is a yes to the one that was chosen. */
const isChosen = ({ clarify }: FinderRequest): boolean => clarify?.missing_field === WHICH_SIMULATION;

const placesIn = (spans: readonly EvidenceSpan[]): EvidenceSpan[] =>
  spans.filter(({ source }) => source === 'utterance');

function exceeded({ request, ranked }: Turn): Answered {
  const message = 'The question was not answered, and nothing is guessed. Say the whole goal again.';
  return told(refusePacket(request, 'CLARIFY_EXCEEDED', message), ranked);
}

function stale({ request, ranked }: Turn): Answered {
  const message =
    'This answers a question that was not asked, or the catalog has changed since. Say the goal again.';
  return told(refusePacket(request, 'CLARIFY_CONTEXT_STALE', message), ranked);
}

function hearAnswer(turn: Turn, clarify: ClarifyAnswer): Answered {
  const meant = possible(turn);
  const { missing_field } = clarify;
  return missing_field === WHICH_SIMULATION
    ? hearChoice(turn, clarify, meant)
    : hearValue(
        turn,
        clarify,
        meant.find(({ entry }) => entry.simulation.id === clarify.simulation_id),
      );
}

function hearChoice(turn: Turn, clarify: ClarifyAnswer, meant: readonly Candidate[]): Answered {
  const { request, language, index } = turn;
  if (
    meant.length === 0 ||
    isSure(meant) ||
    !answers(clarify, contextOf(request, meant, {}, WHICH_SIMULATION))
  )
    return stale(turn);
  const choice = chosen(meant, clarify.answer, language, index.active);
  if (choice.kind === 'declined') return missing(turn);
  if (choice.kind === 'chosen') return proceed(turn, choice.candidate, foundIn(turn, choice.candidate), null);
  const attempt_index = clarify.attempt_index + 1;
  if (attempt_index > agentLimits.clarify_tries) return exceeded(turn);
  return asked(askWhich(request, meant, language, attempt_index), turn.ranked);
}

function hearValue(turn: Turn, clarify: ClarifyAnswer, candidate: Candidate | undefined): Answered {
  const { missing_field, fields_so_far, answer, attempt_index } = clarify;
  const field = candidate?.entry.simulation.fields[missing_field];
  if (candidate === undefined || field === undefined) return stale(turn);
  if (!answers(clarify, contextOf(turn.request, [candidate], fields_so_far, missing_field)))
    return stale(turn);
  const spans = new Map<string, EvidenceSpan>();
  const said = foundIn(turn, candidate);
  for (const [name, value] of Object.entries(fields_so_far))
    spans.set(name, said.get(name)?.value === value ? said.get(name)! : earlier(name, value));
  const found = answeredValue(field, answer, turn.language);
  if (found !== null) spans.set(missing_field, spanOf(missing_field, 'answer', found));
  return proceed(turn, candidate, spans, { field: missing_field, attempt_index });
}

/** The text of that answer is in the record of its turn. */
function earlier(field: string, value: Scalar): EvidenceSpan {
  return { field, source: 'earlier', start: 0, end: 0, text: String(value), value };
}

/** Whether the answer belongs to this very question, about this goal and this state of the catalog. */
function answers(clarify: ClarifyAnswer, context: CandidateContext): boolean {
  return clarify.candidate_context_ref === contextRef(context);
}
