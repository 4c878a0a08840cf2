import type { SimulationStatus } from '../event/agent.ts';
import { agentLimits } from '../limits.ts';
import type { Catalog, CatalogEntry } from './catalog.ts';
import { type FinderRequest, utteranceFingerprint } from './request.ts';
import { scoreAll } from './score.ts';
import { buildIndex, frequenciesIn, type SearchIndex } from './search-index.ts';

/** The thresholds that CONTEXT fixes, in basis points. No input can change them. */
export const thresholds = { match_bp: 9000, clarify_bp: 7000, apart_bp: 800 } as const;

export interface Candidate {
  readonly entry: CatalogEntry;
  readonly confidence_bp: number;
}

/** One search index for what may run, one for what is being written, and one for what was taken out of service. */
export interface CatalogIndex {
  readonly active: SearchIndex;
  readonly draft: SearchIndex;
  /** Never found. It tells when a goal means something that is gone, and not its nearest neighbour. */
  readonly withdrawn: SearchIndex;
}

export function indexCatalog({ simulations }: Catalog): CatalogIndex {
  const frequencies = frequenciesIn(simulations);
  const indexOf = (...statuses: readonly SimulationStatus[]) =>
    buildIndex(
      simulations.filter((entry) => statuses.includes(entry.status)),
      frequencies,
      simulations.length,
    );
  return { active: indexOf('Active'), draft: indexOf('Draft'), withdrawn: indexOf('Deprecated', 'Disabled') };
}

/** Confidence, then gold, then priority, then the id: the order never depends on how the catalog was written down. */
export function rank(
  index: SearchIndex,
  text: string,
  gold: ReadonlySet<string>,
  read?: readonly [string, ...string[]],
): Candidate[] {
  return scoreAll(index, text, read)
    .map(({ simulation, confidence_bp }) => ({ entry: simulation.entry, confidence_bp }))
    .sort(
      (a, b) =>
        b.confidence_bp - a.confidence_bp ||
        bonus(b, gold) - bonus(a, gold) ||
        b.entry.simulation.priority - a.entry.simulation.priority ||
        (a.entry.simulation.id < b.entry.simulation.id ? -1 : 1),
    );
}

function bonus({ entry }: Candidate, gold: ReadonlySet<string>): number {
  return gold.has(entry.simulation.id) ? 1 : 0;
}

export function goldFor({ gold = [], utterance }: FinderRequest): ReadonlySet<string> {
  if (gold.length === 0) return new Set();
  const fingerprint = utteranceFingerprint(utterance);
  return new Set(
    gold
      .filter(({ utterance_fingerprint }) => utterance_fingerprint === fingerprint)
      .map(({ simulation_id }) => simulation_id),
  );
}

/** The first, and those that are too close to it to choose without asking. */
export function rivals(ranked: readonly Candidate[]): Candidate[] {
  const [first] = ranked;
  if (first === undefined) return [];
  return ranked
    .filter(({ confidence_bp }) => first.confidence_bp - confidence_bp < thresholds.apart_bp)
    .slice(0, agentLimits.rivals);
}
