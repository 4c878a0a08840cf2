import { describe, expect, it } from 'vitest';
import { intakeOf } from '../../src/agent/intake.ts';
import type { MissingSimulationPacket } from '../../src/finder/packet.ts';
import type { Intake } from '../../src/gate/intake.ts';
import { intakeLimits } from '../../src/limits.ts';
import { agentPlace } from './agent-place.ts';
import { catalog, examine, simulation } from './examples.ts';

/** Wishes for what does not exist: how many are taken, what they are worth, and in which order they are read. */

const HOUR_MS = 3_600_000;
const NOW = Date.parse('2026-03-02T12:00:00.000Z');

function missing(utterance: string, user_id = 'ada'): MissingSimulationPacket {
  const { packet } = examine(catalog([simulation('zzz')]), utterance, { user_id });
  if (packet.kind !== 'MISSING_SIMULATION') throw new Error(packet.kind);
  return packet;
}

/** So many wishes, each another one, so many hours ago. */
function wishes(count: number, hours_ago: number, user: (i: number) => string): Intake[] {
  const at = new Date(NOW - hours_ago * HOUR_MS).toISOString();
  return Array.from({ length: count }, (_, i) => ({
    fingerprint: `${hours_ago}-${i}`,
    status: 'open',
    count: 1,
    first_at: at,
    last_at: at,
    users: [{ user_id: user(i), count: 1, first_at: at, last_at: at }],
    told: [],
    worthiness_bp: 5000,
    category: 'NEW_CAPABILITY',
    linked_draft: null,
    packet: 'a'.repeat(64),
  }));
}

describe('the limits of the intake', () => {
  const others = (i: number) => `user-${i}`;
  const decided = (before: readonly Intake[]) =>
    intakeOf(missing('launch a rocket towards mars'), before, new Date(NOW)).answer;

  it('are three of a user and twenty of the tenant in an hour, and a hundred of the tenant in a day', () => {
    expect(intakeLimits).toEqual({ user_hour: 3, tenant_hour: 20, tenant_day: 100 });
  });

  it.each([
    ['the third of a user in an hour', wishes(2, 0.9, () => 'ada'), 'RECORDED'],
    ['the fourth of a user in an hour', wishes(3, 0.9, () => 'ada'), 'LIMITED'],
    ['the fourth of a user after an hour', wishes(3, 1.1, () => 'ada'), 'RECORDED'],
    ['the twentieth of the tenant in an hour', wishes(19, 0.9, others), 'RECORDED'],
    ['the twenty-first of the tenant in an hour', wishes(20, 0.9, others), 'LIMITED'],
    ['the twenty-first of the tenant after an hour', wishes(20, 1.1, others), 'RECORDED'],
    ['the hundredth of the tenant in a day', wishes(99, 23, others), 'RECORDED'],
    ['the hundred and first of the tenant in a day', wishes(100, 23, others), 'LIMITED'],
    ['the hundred and first of the tenant after a day', wishes(100, 25, others), 'RECORDED'],
  ])('%s', (_, before, answer) => {
    expect(decided(before)).toBe(answer);
  });
});

describe('a wish that was taken down before', () => {
  it.each([
    ['the same wish of the same user within 24 hours is the same', 23.9, 'ada', 'RECORDED_BEFORE'],
    ['the same wish of the same user after 24 hours is new', 24.1, 'ada', 'RECORDED'],
    ['the same wish of somebody else is theirs', 23.9, 'bob', 'RECORDED'],
  ])('%s', (_, hours_ago, user_id, answer) => {
    const packet = missing('launch a rocket towards mars');
    const [first] = wishes(1, hours_ago, () => user_id);
    const before = [{ ...first!, fingerprint: packet.dedupe_fingerprint }];
    expect(intakeOf(packet, before, new Date(NOW)).answer).toBe(answer);
  });
});

describe('what a wish is worth', () => {
  it.each([
    // Words that count, then: clarity, novelty, detail, and 45 % + 45 % + 10 % of them.
    ['juggle pumpkins', [6667, 10_000, 0], 7500],
    ['juggle pumpkins overseas', [10_000, 10_000, 0], 9000],
    ['juggle "striped" pumpkins overseas', [10_000, 10_000, 10_000], 10_000],
    ['juggle pumpkins overseas wearing velvet gloves beneath waterfalls', [7999, 10_000, 0], 8100],
  ])('%s', (utterance, [clarity_bp, novelty_bp, detail_bp], total) => {
    const packet = missing(utterance);
    expect(packet.search_proof[0].best_confidence_bp).toBe(0);
    expect(packet.worthiness_parts).toEqual({ clarity_bp, novelty_bp, detail_bp });
    expect(packet.worthiness_score_bp).toBe(total);
  });

  it('is less the nearer something is that exists', () => {
    const near = catalog([simulation('a', { summary: { en: 'Juggle pumpkins' } })]);
    const { packet } = examine(near, 'juggle seventeen velvet submarines overseas');
    if (packet.kind !== 'MISSING_SIMULATION') throw new Error(packet.kind);
    const { best_confidence_bp } = packet.search_proof[0];
    expect(best_confidence_bp).toBeGreaterThan(0);
    expect(packet.worthiness_parts.novelty_bp).toBe(10_000 - best_confidence_bp);
    expect(packet.worthiness_score_bp).toBe(Math.round(4500 + 0.45 * (10_000 - best_confidence_bp)));
  });
});

describe('the list of wishes', () => {
  let now = NOW;
  const place = agentPlace(() => new Date(now));

  it('the most worthwhile first, then what most users want, then the oldest, then the smaller fingerprint', async () => {
    const { keyturn } = place();
    const wish = (user_id: string, utterance: string) => keyturn.conversations.ask({ user_id, utterance });
    await wish('ada', 'juggle pumpkins');
    now += HOUR_MS;
    await wish('ada', 'juggle turnips overseas');
    now += HOUR_MS;
    // At the very same time.
    await wish('ada', 'juggle radishes overseas');
    await wish('bob', 'juggle cabbages overseas');
    now += HOUR_MS;
    await wish('ada', 'juggle parsnips overseas');
    await wish('bob', 'juggle parsnips overseas');
    await wish('ada', 'juggle "striped" pumpkins overseas');
    const listed = (await keyturn.simulations.wishes()).wishes;
    const tied = listed.slice(3, 5);
    expect(listed.map(({ wish }) => wish)).toEqual([
      'juggle_pumpkins_overseas',
      'juggle_parsnips_overseas',
      'juggle_turnips_overseas',
      ...tied.map(({ wish }) => wish),
      'juggle_pumpkins',
    ]);
    expect(tied.map(({ wish }) => wish).sort()).toEqual([
      'juggle_cabbages_overseas',
      'juggle_radishes_overseas',
    ]);
    expect(tied[0]!.first_at).toBe(tied[1]!.first_at);
    expect(tied[0]!.fingerprint < tied[1]!.fingerprint).toBe(true);
    expect(new Set(listed.slice(1, 5).map(({ worthiness_bp }) => worthiness_bp)).size).toBe(1);
  });
});
