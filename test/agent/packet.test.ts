import { describe, expect, it } from 'vitest';
import { type FinderPacket, packetRef, parsePacket } from '../../src/finder/packet.ts';
import { expectRefusal } from '../support/refusal.ts';
import { corpusCatalog } from './evaluate.ts';
import { examine } from './examples.ts';

const corpus = corpusCatalog();
const packetFor = (utterance: string) => examine(corpus, utterance).packet;

/** One packet of each kind, as the finder makes it. */
const PACKETS: Record<FinderPacket['kind'], FinderPacket> = {
  SIMULATION_MATCH: packetFor('refund order 48213'),
  CLARIFY: packetFor('refund an order'),
  REFUSE: packetFor('refund\u0007 order'),
  MISSING_SIMULATION: packetFor('play some quiet jazz'),
};

const kinds = Object.keys(PACKETS) as FinderPacket['kind'][];

describe('a finder packet', () => {
  it.each(kinds)('of the kind %s is taken as it is', (kind) => {
    expect(PACKETS[kind].kind).toBe(kind);
    expect(parsePacket(structuredClone(PACKETS[kind]))).toEqual(PACKETS[kind]);
  });

  it.each(kinds)('of the kind %s is refused when any one field is missing', async (kind) => {
    for (const key of Object.keys(PACKETS[kind])) {
      const { [key]: _, ...rest } = PACKETS[kind] as Record<string, unknown>;
      await expectRefusal('FINDER_PACKET_INVALID', () => parsePacket(rest));
    }
  });

  it.each(kinds)('of the kind %s is refused when a field is added', async (kind) => {
    await expectRefusal('FINDER_PACKET_INVALID', () => parsePacket({ ...PACKETS[kind], extra: 1 }));
  });

  it.each(kinds)('of the kind %s is refused without its refs', async (kind) => {
    for (const ref of ['policy_snapshot_ref', 'catalog_snapshot_ref', 'artifact_fingerprint_bundle_ref'])
      await expectRefusal('FINDER_PACKET_INVALID', () => parsePacket({ ...PACKETS[kind], [ref]: '' }));
  });

  it.each([
    ['a fifth kind', { kind: 'EXECUTE' }],
    ['a kind of the prototype', { kind: 'toString' }],
    ['nothing', null],
    ['a list', []],
    ['a function', { kind: () => 'REFUSE' }],
  ])('with %s is refused', async (_, value) => {
    await expectRefusal('FINDER_PACKET_INVALID', () => parsePacket(value));
  });

  const match = PACKETS.SIMULATION_MATCH as object;
  const clarify = PACKETS.CLARIFY as object;
  const missing = PACKETS.MISSING_SIMULATION as Extract<FinderPacket, { kind: 'MISSING_SIMULATION' }>;
  it.each([
    ['a match that is not the first', { ...match, candidate_rank: 2 }],
    ['a match that lacks a field', { ...match, required_fields_missing: ['order_id'] }],
    ['a match without evidence for a field', { ...match, evidence_spans: [] }],
    ['a match without an access action', { ...match, access_actions_required: [] }],
    ['a confidence above ten thousand', { ...match, confidence_bp: 10_001 }],
    ['one answer format', { ...clarify, allowed_answer_formats: ['a'] }],
    ['four answer formats', { ...clarify, allowed_answer_formats: ['a', 'b', 'c', 'd'] }],
    ['a third attempt', { ...clarify, attempt_index: 3 }],
    ['more than two attempts', { ...clarify, max_attempts: 3 }],
    ['another end of the attempts', { ...clarify, on_exceed: 'DISPATCH' }],
    ['a proof in another order', { ...missing, search_proof: missing.search_proof.toReversed() }],
    ['a draft without its proof', { ...missing, category: 'DRAFT_EXISTS' }],
  ])('with %s is refused, too', async (_, value) => {
    await expectRefusal('FINDER_PACKET_INVALID', () => parsePacket(value));
  });

  it('has a ref that changes with every field and not with their order', () => {
    const packet = PACKETS.REFUSE;
    const turned = Object.fromEntries(Object.entries(packet).toReversed()) as FinderPacket;
    expect(packetRef(turned)).toBe(packetRef(packet));
    expect(packetRef({ ...packet, turn_id: 't-2' })).not.toBe(packetRef(packet));
  });
});
