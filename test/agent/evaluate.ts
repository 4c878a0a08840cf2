import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { SimulationStatus } from '../../src/event/agent.ts';
import { type Catalog, parseCatalog } from '../../src/finder/catalog.ts';
import { createFinder, type Finding } from '../../src/finder/finder.ts';
import { PACKET_SCHEMA_VERSION } from '../../src/finder/packet.ts';
import type { FinderRequest } from '../../src/finder/request.ts';

/** The shipped utterances, and how well the finder hears them. Used by the tests and by `npm run eval:finder`. */

const CORPUS = fileURLToPath(new URL('./corpus', import.meta.url));

export type Expected =
  | { readonly outcome: 'match'; readonly simulation: string }
  | { readonly outcome: 'clarify'; readonly simulation: string; readonly field?: string }
  | { readonly outcome: 'choose'; readonly between: readonly [string, string] }
  | { readonly outcome: 'draft'; readonly simulation: string }
  | { readonly outcome: 'missing' }
  | { readonly outcome: 'refuse' };

export interface Utterance {
  readonly text: string;
  readonly language: string;
  readonly kind: string;
  readonly expect: Expected;
}

export type Part = 'frozen' | 'tuning' | 'tuning-more' | 'natural' | 'natural-tuning' | 'fresh';

/** These are not for tuning: what the finder gets wrong in them is never printed. */
export const UNSEEN: readonly Part[] = ['frozen', 'natural', 'fresh'];

/**
 * The frozen half was written before the finder was tuned; `tuning-more` came while it was being tuned. The natural ones
 * are how people speak who do not know the catalog; one half of them was never looked at. The fresh ones are idioms and hints, written
 * after all tuning: they tell how the finder does on words that no developer foresaw.
 */
export const PARTS: readonly Part[] = (
  ['frozen', 'tuning', 'tuning-more', 'natural', 'natural-tuning', 'fresh'] as const
).filter((part) => part !== 'natural' || existsSync(join(CORPUS, 'natural.json')));

export function corpusText(file: string): string {
  return readFileSync(join(CORPUS, file), 'utf8');
}

export function utterancesOf(part: Part): Utterance[] {
  return JSON.parse(corpusText(`${part}.json`)) as Utterance[];
}

export function corpusCatalog(): Catalog {
  const files = readdirSync(join(CORPUS, 'simulations')).map((name) => ({
    name,
    text: corpusText(`simulations/${name}`),
  }));
  const statuses = JSON.parse(corpusText('statuses.json')) as Record<string, SimulationStatus>;
  return parseCatalog(files, new Map(Object.entries(statuses)));
}

export function requestFor(catalog: Catalog, utterance: string): FinderRequest {
  return {
    schema_version: PACKET_SCHEMA_VERSION,
    tenant_id: 'acme',
    user_id: 'alice',
    correlation_id: 'c-1',
    turn_id: 't-1',
    idempotency_key: 'k-1',
    utterance,
    catalog,
    policy_snapshot_ref: 'sha256:policy',
    artifact_fingerprint_bundle_ref: 'sha256:artifacts',
  };
}

export interface Heard {
  readonly utterance: Utterance;
  readonly finding: Finding;
  /** The right simulation leads, or there rightly is none. */
  readonly top1: boolean;
  /** The packet is of the expected kind, too, and asks for the expected field. */
  readonly exact: boolean;
  /** It would have gone on to run something that the user did not mean. */
  readonly wrong: boolean;
}

export interface Figures {
  readonly utterances: number;
  readonly top1_accuracy: number;
  readonly exact_outcomes: number;
  readonly wrong_dispatches: number;
  readonly missing_found: number;
}

export function hearAll(catalog: Catalog, utterances: readonly Utterance[]): Heard[] {
  const finder = createFinder();
  return utterances.map((utterance) => judge(utterance, finder.examine(requestFor(catalog, utterance.text))));
}

function judge(utterance: Utterance, finding: Finding): Heard {
  const { expect } = utterance;
  const { packet } = finding;
  const wanted = 'simulation' in expect ? expect.simulation : null;
  const wrong =
    packet.kind === 'SIMULATION_MATCH' &&
    !(expect.outcome === 'match' && packet.simulation_id === expect.simulation);
  return { utterance, finding, top1: leads(expect, finding, wanted), exact: isExact(expect, finding), wrong };
}

function leads(expect: Expected, { packet, candidates }: Finding, wanted: string | null): boolean {
  switch (expect.outcome) {
    case 'match':
    case 'clarify':
      return (
        (packet.kind === 'SIMULATION_MATCH' || packet.kind === 'CLARIFY') &&
        candidates[0]?.entry.simulation.id === wanted
      );
    case 'choose':
      return packet.kind === 'CLARIFY' && expect.between.includes(candidates[0]?.entry.simulation.id ?? '');
    case 'draft':
      return packet.kind === 'MISSING_SIMULATION' && packet.search_proof[1].best_simulation_id === wanted;
    case 'missing':
      return packet.kind === 'MISSING_SIMULATION' && packet.category !== 'DRAFT_EXISTS';
    case 'refuse':
      return packet.kind === 'REFUSE';
  }
}

function isExact(expect: Expected, finding: Finding): boolean {
  const { packet, context } = finding;
  switch (expect.outcome) {
    case 'match':
      return packet.kind === 'SIMULATION_MATCH' && packet.simulation_id === expect.simulation;
    case 'clarify':
      return (
        context?.simulation_ids[0] === expect.simulation &&
        context.missing_field === (expect.field ?? context.missing_field)
      );
    case 'choose':
      return expect.between.every((id) => context?.simulation_ids.includes(id));
    case 'draft':
      return (
        packet.kind === 'MISSING_SIMULATION' &&
        packet.category === 'DRAFT_EXISTS' &&
        packet.search_proof[1].best_simulation_id === expect.simulation
      );
    default:
      return leads(expect, finding, null);
  }
}

export function figuresOf(heard: readonly Heard[]): Figures {
  const share = (part: readonly Heard[], of: readonly Heard[]) => part.length / of.length;
  const missing = heard.filter(({ utterance }) => utterance.expect.outcome === 'missing');
  return {
    utterances: heard.length,
    top1_accuracy: share(
      heard.filter(({ top1 }) => top1),
      heard,
    ),
    exact_outcomes: share(
      heard.filter(({ exact }) => exact),
      heard,
    ),
    wrong_dispatches: share(
      heard.filter(({ wrong }) => wrong),
      heard,
    ),
    missing_found: share(
      missing.filter(({ exact }) => exact),
      missing,
    ),
  };
}
