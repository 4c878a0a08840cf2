import { describe, expect, it } from 'vitest';
import { sha256 } from '../../src/canonical/digest.ts';
import { entryOf } from '../../src/finder/catalog.ts';
import {
  type FinderPacket,
  IDEMPOTENCY_RECIPE_REF,
  type PacketHead,
  type SimulationMatchPacket,
} from '../../src/finder/packet.ts';
import { type Finder, type FinderRequest, Keyturn } from '../../src/keyturn.ts';
import { agentLimits } from '../../src/limits.ts';
import { sizeOf } from '../support/ledger.ts';
import { expectRefusal } from '../support/refusal.ts';
import { agentPlace, prompted, yes } from './agent-place.ts';

/** The port for other finders: what they say passes the same gates, and is taken as it is or not at all. */

const place = agentPlace();

/** One rule: "jot" means a line in the notebook. It knows nothing of our finder, and keeps its own memory. */
class RuleFinder implements Finder {
  readonly asked = new Map<string, string>();

  find(request: FinderRequest): FinderPacket {
    const { utterance, clarify } = request;
    const head = headOf(request);
    if (!utterance.startsWith('jot'))
      return { kind: 'REFUSE', ...head, reason_code: 'NO_RULE', message: 'No rule.', evidence_refs: [] };
    if (clarify !== undefined && this.asked.get(clarify.candidate_context_ref) === utterance)
      return this.match(request, head, 'answer', clarify.answer);
    const said = utterance.slice('jot'.length).trim();
    return said === '' ? this.question(utterance, head) : this.match(request, head, 'utterance', said);
  }

  /** Not ours to call, though our own finder has a method of this name. */
  examine(): never {
    throw new Error('This is no part of the port.');
  }

  question(utterance: string, head: PacketHead): FinderPacket {
    const candidate_context_ref = sha256(`rule finder: ${utterance}`);
    this.asked.set(candidate_context_ref, utterance);
    return {
      kind: 'CLARIFY',
      ...head,
      reason_code: 'RULE_NEEDS_TEXT',
      question: 'What shall I jot down?',
      missing_field: 'text',
      allowed_answer_formats: ['a word', 'a line'],
      attempt_index: 1,
      max_attempts: agentLimits.clarify_tries,
      on_exceed: 'REFUSE',
      candidate_context_ref,
    };
  }

  match(
    { catalog, utterance }: Pick<FinderRequest, 'catalog' | 'utterance'>,
    head: PacketHead,
    source: 'utterance' | 'answer',
    text: string,
  ): FinderPacket {
    const { simulation } = entryOf(catalog, 'note.add')!;
    const start = source === 'answer' ? 0 : utterance.indexOf(text);
    return {
      kind: 'SIMULATION_MATCH',
      ...head,
      reason_code: 'RULE_MATCHED',
      intent_family: simulation.family,
      simulation_id: simulation.id,
      candidate_rank: 1,
      confidence_bp: 10_000,
      required_fields_present: ['text'],
      required_fields_missing: [],
      evidence_spans: [{ field: 'text', source, start, end: start + text.length, text, value: text }],
      risk_tier: simulation.risk,
      confirm_required: true,
      access_actions_required: [simulation.access_action],
      idempotency_recipe_ref: IDEMPOTENCY_RECIPE_REF,
      fallback_if_inactive_or_missing: 'REFUSE',
    };
  }
}

function headOf({
  catalog,
  utterance: _,
  language: __,
  language_before: ___,
  gold: ____,
  clarify: _____,
  ...rest
}: FinderRequest): PacketHead {
  return { ...rest, catalog_snapshot_ref: catalog.digest };
}

async function withFinder<T>(finder: Finder, act: (keyturn: Keyturn) => Promise<T>): Promise<T> {
  const keyturn = await Keyturn.open({ at: place().root, finder });
  try {
    return await act(keyturn);
  } finally {
    await keyturn.close();
  }
}

describe('another finder behind the port', () => {
  it('asks, is answered, matches, and its match runs after a yes', async () => {
    await withFinder(new RuleFinder(), async (keyturn) => {
      const asked = await keyturn.conversations.ask({ user_id: 'ada', utterance: 'jot' });
      expect(asked).toMatchObject({ kind: 'CLARIFY', question: 'What shall I jot down?' });
      const { correlation_id } = asked;
      const prompt = prompted(
        await keyturn.conversations.answer({ correlation_id, user_id: 'ada', text: 'buy milk' }),
      );
      expect(await yes(keyturn, prompt)).toMatchObject({ kind: 'OUTCOME', plan_state: 'COMPLETED' });
      expect(place().written()).toContain('+ buy milk');
      expect((await keyturn.conversations.replay({ correlation_id })).decisions).toMatchObject([
        { reason_code: 'RULE_NEEDS_TEXT' },
        { decision: 'DISPATCH' },
      ]);
    });
  });

  it('is the only one that is asked', async () => {
    await withFinder(new RuleFinder(), async (keyturn) => {
      const told = await keyturn.conversations.ask({
        user_id: 'ada',
        utterance: 'append a notebook line "x"',
      });
      expect(told).toMatchObject({ kind: 'REFUSED', reason_code: 'NO_RULE' });
    });
  });

  it('is refused when its packet lacks anything, and nothing is recorded', async () => {
    const finder = new RuleFinder();
    const careless: Finder = {
      find: (request) => {
        const { risk_tier: _, ...rest } = finder.find(request) as SimulationMatchPacket;
        return rest as FinderPacket;
      },
    };
    await withFinder(careless, async (keyturn) => {
      const before = await sizeOf(keyturn);
      await expectRefusal('FINDER_PACKET_INVALID', () =>
        keyturn.conversations.ask({ user_id: 'ada', utterance: 'jot this' }),
      );
      expect(await sizeOf(keyturn)).toBe(before);
    });
  });
});

describe('a finder outside', () => {
  it('builds its packets from the snapshot, and its question is answered with its next packet', async () => {
    const { keyturn, written } = place();
    const finder = new RuleFinder();
    const { catalog, ...refs } = await keyturn.conversations.snapshot();
    expect(refs.catalog_snapshot_ref).toBe(catalog.digest);
    expect(refs.policy_snapshot_ref).toBe((await keyturn.system.get()).policy);
    const said = { correlation_id: 'outside-1', user_id: 'ada', utterance: 'jot' };
    const headFor = async (turn_id: string, answer?: string): Promise<PacketHead> => {
      const turn = { correlation_id: said.correlation_id, user_id: 'ada', turn_id };
      const key = await keyturn.conversations.turnKey({ ...turn, utterance: 'jot', answer });
      return { ...refs, ...turn, ...key };
    };

    const question = finder.question('jot', await headFor('turn-1'));
    expect(await keyturn.conversations.ask({ ...said, packet: question })).toMatchObject({ kind: 'CLARIFY' });
    const match = finder.match(
      { catalog, utterance: 'jot' },
      await headFor('turn-2', 'bread'),
      'answer',
      'bread',
    );
    const { correlation_id, user_id } = said;
    const prompt = prompted(
      await keyturn.conversations.answer({ correlation_id, user_id, text: 'bread', packet: match }),
    );
    expect(await yes(keyturn, prompt)).toMatchObject({ kind: 'OUTCOME', plan_state: 'COMPLETED' });
    expect(written()).toContain('+ bread');
  });

  it('cannot use refs of another snapshot', async () => {
    const { keyturn } = place();
    const { catalog: _, ...refs } = await keyturn.conversations.snapshot();
    const turn = { correlation_id: 'outside-2', user_id: 'ada', turn_id: 'turn-1' };
    const key = await keyturn.conversations.turnKey({ ...turn, utterance: 'jot' });
    const stale = { ...refs, ...turn, ...key, artifact_fingerprint_bundle_ref: 'a'.repeat(64) };
    const packet = new RuleFinder().question('jot', stale);
    await expectRefusal('FINDER_PACKET_INVALID', () =>
      keyturn.conversations.ask({ ...turn, utterance: 'jot', packet }),
    );
  });
});
