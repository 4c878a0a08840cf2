import type { SimulationStatus } from '../event/agent.ts';
import { isAccounted, strangersIn } from '../finder/accounted.ts';
import { type Catalog, catalogOf } from '../finder/catalog.ts';
import { createFinder, type Finding } from '../finder/finder.ts';
import { type FinderPacket, PACKET_SCHEMA_VERSION } from '../finder/packet.ts';
import { clausesOf, isSeveral } from '../finder/saying.ts';
import { agentLimits } from '../limits.ts';
import type { AgentContext } from './context.ts';
import { type Snapshot, snapshotNow } from './snapshot.ts';

/** What the finder would make of words, with nothing recorded. */

export type Trial = (utterance: string, language?: string) => Finding;

/** One finder over one catalog; the ids of the request name no user. */
export function trialOver(catalog: Catalog, { policy, bundle }: Pick<Snapshot, 'policy' | 'bundle'>): Trial {
  const finder = createFinder();
  const nobody = { tenant_id: 'try', user_id: 'try', correlation_id: 'try', turn_id: 'try' };
  return (utterance, language) =>
    finder.examine({
      schema_version: PACKET_SCHEMA_VERSION,
      ...nobody,
      idempotency_key: 'try',
      utterance,
      ...(language !== undefined && { language }),
      catalog,
      policy_snapshot_ref: policy,
      artifact_fingerprint_bundle_ref: bundle,
    });
}

/** The catalog as it would be with these simulations active. */
export function withActive({ simulations }: Catalog, ids: (id: string) => boolean): Catalog {
  const statuses = simulations.map(
    ({ simulation: { id }, status }) => [id, ids(id) ? 'Active' : status] as const,
  );
  return catalogOf(
    simulations.map(({ simulation }) => simulation),
    new Map<string, SimulationStatus>(statuses),
  );
}

export interface TriedClause {
  readonly text: string;
  /** What makes it no request now; empty for a request. */
  readonly kinds: readonly string[];
}

export interface Tried {
  readonly packet: FinderPacket;
  readonly language: string;
  readonly clauses: readonly TriedClause[];
  /** Two things are asked for at once. */
  readonly is_several: boolean;
  readonly candidates: readonly {
    readonly simulation: string;
    readonly status: SimulationStatus;
    readonly confidence_bp: number;
  }[];
  /** Whether everything that was said belongs to the first candidate; only then it may run without a yes. */
  readonly is_accounted: boolean;
  /** The words that do not. */
  readonly strangers: readonly string[];
}

/** Drafts count as if they were active, so that words can be tried before a human signs. */
export async function tryWords(
  context: AgentContext,
  { utterance, language }: { readonly utterance: string; readonly language?: string | undefined },
): Promise<Tried> {
  const snapshot = await snapshotNow(context);
  const { catalog } = snapshot;
  const statuses = new Map(catalog.simulations.map(({ simulation, status }) => [simulation.id, status]));
  const tried = withActive(catalog, (id) => statuses.get(id) === 'Draft');
  const finding = trialOver(tried, snapshot)(utterance, language);
  const { packet, candidates } = finding;
  const first = candidates[0]?.entry.simulation;
  const values =
    packet.kind === 'SIMULATION_MATCH'
      ? packet.evidence_spans.filter(({ source }) => source === 'utterance')
      : [];
  return {
    packet,
    language: finding.language,
    clauses: clausesOf(utterance, finding.language).map(({ start, end, sure, likely, is_request }) => ({
      text: utterance.slice(start, end).trim(),
      kinds: [...new Set([...sure, ...(is_request ? [] : likely)].map(({ kind }) => kind))],
    })),
    is_several: isSeveral(utterance, finding.language),
    candidates: candidates
      .filter(({ confidence_bp }) => confidence_bp > 0)
      .slice(0, agentLimits.tried_candidates)
      .map(({ entry: { simulation }, confidence_bp }) => ({
        simulation: simulation.id,
        status: statuses.get(simulation.id)!,
        confidence_bp,
      })),
    is_accounted: first !== undefined && isAccounted(utterance, first, values),
    strangers: first === undefined ? [] : strangersIn(utterance, first, values),
  };
}
