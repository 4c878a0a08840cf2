import { parseJson } from '../canonical/json.ts';
import type { Event } from '../event/event.ts';
import {
  type MissingSimulationPacket,
  PACKET_SCHEMA_VERSION,
  packetRef,
  parsePacket,
} from '../finder/packet.ts';
import type { FinderRequest } from '../finder/request.ts';
import type { Intake } from '../gate/intake.ts';
import { intakeLimits } from '../limits.ts';
import { Refusal } from '../refusal.ts';
import type { IntakeAnswer, WishNews } from './answer-shape.ts';
import type { AgentContext } from './context.ts';
import { digestOf } from './plan.ts';
import type { Snapshot } from './snapshot.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

export interface Intaken {
  readonly answer: IntakeAnswer;
  readonly events: readonly Event<'intake.recorded'>[];
  /** Counts every wish that was recorded, so that two at once cannot both be the last one within a limit. */
  readonly claims: readonly string[];
}

/** Pure: the same wish of the same user counts once a day; of another user it counts for that user, and is not a new wish. */
export function intakeOf(packet: MissingSimulationPacket, intakes: readonly Intake[], now: Date): Intaken {
  const { dedupe_fingerprint: fingerprint, user_id } = packet;
  const since = (ms: number) => (at: string) => Date.parse(at) > now.getTime() - ms;
  const own = intakes.find((one) => one.fingerprint === fingerprint);
  const asked = own?.users.find((user) => user.user_id === user_id);
  if (asked && since(DAY_MS)(asked.last_at)) return { answer: 'RECORDED_BEFORE', events: [], claims: [] };
  if (isLimited(intakes, own, user_id, since)) return { answer: 'LIMITED', events: [], claims: [] };
  const linked_draft = packet.search_proof[1].found ? packet.search_proof[1].best_simulation_id : null;
  const ordinal = intakes.reduce((sum, { count }) => sum + count, 0) + 1;
  return {
    answer: linked_draft === null ? 'RECORDED' : 'LINKED_TO_DRAFT',
    claims: [`intake:${ordinal}`],
    events: [
      {
        kind: 'intake.recorded',
        subject: `intake:${fingerprint}`,
        body: {
          fingerprint,
          user_id,
          packet: packetRef(packet),
          worthiness_bp: packet.worthiness_score_bp,
          category: packet.category,
          linked_draft,
        },
      },
    ],
  };
}

function isLimited(
  intakes: readonly Intake[],
  own: Intake | undefined,
  user_id: string,
  since: (ms: number) => (at: string) => boolean,
): boolean {
  const in_hour = since(HOUR_MS);
  const of_user = intakes.flatMap(({ users }) => users).filter((user) => user.user_id === user_id);
  if (of_user.filter(({ last_at }) => in_hour(last_at)).length >= intakeLimits.user_hour) return true;
  // What the tenant wished for within a day is not new when another user asks for it.
  if (own && since(DAY_MS)(own.last_at)) return false;
  const wished = (ms: number) => intakes.filter(({ last_at }) => since(ms)(last_at)).length;
  return wished(HOUR_MS) >= intakeLimits.tenant_hour || wished(DAY_MS) >= intakeLimits.tenant_day;
}

/** What users asked for and no simulation serves. */
export interface Wish extends Omit<Intake, 'users' | 'told' | 'packet'> {
  /** How many. */
  readonly users: number;
  /** What it is called; null once its packet was erased. */
  readonly wish: string | null;
}

/** The most worthwhile first; then what most users want, then the oldest. */
export async function listWishes(context: AgentContext): Promise<Wish[]> {
  const ranked = (await context.journey.store.all('intake')).toSorted(
    (a, b) =>
      b.worthiness_bp - a.worthiness_bp ||
      b.users.length - a.users.length ||
      (a.first_at === b.first_at
        ? Number(a.fingerprint > b.fingerprint) - 0.5
        : Date.parse(a.first_at) - Date.parse(b.first_at)),
  );
  const listed: Wish[] = [];
  for (const intake of ranked) {
    const { users, told: _told, packet: _packet, ...one } = intake;
    const wish = (await packetOf(context, intake))?.requested_capability_name_normalized ?? null;
    listed.push({ ...one, users: users.length, wish });
  }
  return listed;
}

async function packetOf(
  { journey }: AgentContext,
  { packet }: Intake,
): Promise<MissingSimulationPacket | null> {
  try {
    const bytes = await journey.store.object(packet);
    const parsed = parsePacket(parseJson(bytes, bytes.length));
    return parsed.kind === 'MISSING_SIMULATION' ? parsed : null;
  } catch (error) {
    if (error instanceof Refusal) return null;
    throw error;
  }
}

/** Tells a user, once, that something they wished for exists now. */
export async function tellNews(
  context: AgentContext,
  user_id: string,
  snapshot: Snapshot,
): Promise<WishNews[]> {
  const { store } = context.journey;
  const unserved = unservedIn(context, snapshot);
  const waiting = (await store.all('intake')).filter(
    (one) =>
      one.users.some((user) => user.user_id === user_id) &&
      !one.told.includes(user_id) &&
      !unserved.has(wishOf(one)),
  );
  const news: WishNews[] = [];
  for (const one of waiting) {
    const packet = await packetOf(context, one);
    const simulation = packet && servedBy(context, one, packet, snapshot);
    if (!simulation) {
      unserved.add(wishOf(one));
      continue;
    }
    const told = {
      kind: 'intake.told',
      subject: `intake:${one.fingerprint}`,
      body: { user_id, simulation },
    } as const;
    try {
      await store.commit({ claims: [`told:${one.fingerprint}:${user_id}`], events: [told] });
      news.push({ simulation, wish: packet.requested_capability_name_normalized });
    } catch (error) {
      // CLAIM_TAKEN: another process told this user a moment ago.
      if (!(error instanceof Refusal) || error.code !== 'CLAIM_TAKEN') throw error;
    }
  }
  return news;
}

/** A wish is looked at once for each catalog: a finder says the same to the same. */
function unservedIn({ memory }: AgentContext, { catalog }: Snapshot): Set<string> {
  if (memory.unserved?.catalog !== catalog) memory.unserved = { catalog, wishes: new Set() };
  return memory.unserved.wishes;
}

function wishOf({ fingerprint, packet, linked_draft }: Intake): string {
  return [fingerprint, packet, linked_draft].join();
}

/** The active simulation that serves the wish now: the draft that it was linked to, or what the words lead to. */
function servedBy(
  context: AgentContext,
  { linked_draft }: Intake,
  packet: MissingSimulationPacket,
  snapshot: Snapshot,
): string | null {
  const { simulations } = snapshot.catalog;
  const isActive = (id: string | null) =>
    simulations.some(({ simulation, status }) => simulation.id === id && status === 'Active');
  if (isActive(linked_draft)) return linked_draft;
  const found = foundFor(context, requestOf(packet, snapshot));
  return isActive(found) ? found : null;
}

function requestOf(packet: MissingSimulationPacket, { catalog, policy, bundle }: Snapshot): FinderRequest {
  return {
    schema_version: PACKET_SCHEMA_VERSION,
    tenant_id: packet.tenant_id,
    user_id: packet.user_id,
    correlation_id: packet.correlation_id,
    turn_id: packet.turn_id,
    idempotency_key: digestOf([packet.dedupe_fingerprint]),
    utterance: packet.raw_user_utterance,
    catalog,
    policy_snapshot_ref: policy,
    artifact_fingerprint_bundle_ref: bundle,
  };
}

/** What the words lead to, for certain. The turn was answered before this: what another finder does wrong is no news. */
function foundFor({ finder }: AgentContext, request: FinderRequest): string | null {
  if ('examine' in finder) {
    const { packet, context } = finder.examine(request);
    const only = context?.simulation_ids.length === 1 ? context.simulation_ids[0]! : null;
    return packet.kind === 'SIMULATION_MATCH' ? packet.simulation_id : only;
  }
  try {
    const packet = parsePacket(finder.find(request));
    return packet.kind === 'SIMULATION_MATCH' ? packet.simulation_id : null;
  } catch {
    return null;
  }
}
