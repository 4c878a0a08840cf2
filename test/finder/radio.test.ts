import { describe, expect, it } from 'vitest';
import { createFinder, type Finding } from '../../src/finder/finder.ts';
import { PACKET_SCHEMA_VERSION } from '../../src/finder/packet.ts';
import type { FinderRequest } from '../../src/finder/request.ts';
import { radioCatalog } from './radio.ts';
import { ASKED, NOT_ASKED } from './radio-sayings.ts';

/** Sayings of two domains that no set has, half of them no requests, in all ten languages. */

const LANGUAGES = ['ar', 'de', 'en', 'es', 'fr', 'hi', 'it', 'ja', 'pt', 'zh', 'none'];
const catalog = radioCatalog();
const finder = createFinder();

function heard(utterance: string, over: Partial<FinderRequest> = {}): Finding {
  return finder.examine({
    schema_version: PACKET_SCHEMA_VERSION,
    tenant_id: 'acme',
    user_id: 'ada',
    correlation_id: 'c-1',
    turn_id: 'turn-1',
    idempotency_key: 'k-1',
    policy_snapshot_ref: 'policy',
    artifact_fingerprint_bundle_ref: 'artifacts',
    catalog,
    utterance,
    ...over,
  });
}

const leading = ({ packet, candidates }: Finding): string | null =>
  packet.kind === 'SIMULATION_MATCH' || packet.kind === 'CLARIFY' ? candidates[0]!.entry.simulation.id : null;

describe('what is asked for', () => {
  it.each(ASKED)('%s', (utterance, simulation) => {
    expect(leading(heard(utterance))).toBe(simulation);
  });

  it('leads whatever was spoken before', () => {
    for (const [utterance, simulation] of ASKED)
      for (const language_before of LANGUAGES)
        expect(leading(heard(utterance, { language_before })), utterance).toBe(simulation);
  });
});

describe('what is not asked for', () => {
  it.each(NOT_ASKED)('%s', (utterance) => {
    expect(heard(utterance).packet.kind).not.toBe('SIMULATION_MATCH');
  });

  it('matches nothing whatever was spoken before', () => {
    for (const utterance of NOT_ASKED)
      for (const language_before of LANGUAGES)
        expect(heard(utterance, { language_before }).packet.kind, utterance).not.toBe('SIMULATION_MATCH');
  });

  it('never runs without a yes, whatever language the caller claims', () => {
    for (const utterance of NOT_ASKED)
      for (const language of LANGUAGES)
        expect(heard(utterance, { language }).packet, utterance).not.toMatchObject({
          kind: 'SIMULATION_MATCH',
          confirm_required: false,
        });
  });
});

describe('the language to ask back in', () => {
  const spoken = (utterance: string, language_before?: string) =>
    heard(utterance, language_before === undefined ? {} : { language_before }).language;

  it('is that of the conversation where the words do not tell', () => {
    expect(spoken('KT-4711', 'hi')).toBe('hi');
    expect(spoken('jingle', 'de')).toBe('de');
    expect(spoken('jingle', 'fr')).toBe('fr');
    expect(spoken('予約', 'ja')).toBe('ja');
  });

  it('does not change with one word', () => {
    expect(spoken('on air', 'en')).toBe('en');
    expect(spoken('on air', 'de')).toBe('de');
  });

  it('changes when somebody clearly speaks another', () => {
    expect(spoken('please show me the listeners of this week', 'fr')).toBe('en');
    expect(spoken('montre-moi les auditeurs de cette semaine', 'en')).toBe('fr');
    expect(spoken('リスナー数を表示して', 'en')).toBe('ja');
    expect(spoken('Zeig mir bitte die Hörerzahl', 'es')).toBe('de');
  });

  it('is told by the words alone in a conversation that begins', () => {
    expect(spoken('si llueve, levanta la barrera')).not.toBe('en');
    expect(spoken('KT-4711')).toBe('en');
  });
});
