import * as z from 'zod';
import { parseJson } from '../canonical/json.ts';
import type { ClarifyPacket } from '../finder/packet.ts';
import type { CandidateContext, ClarifyAnswer } from '../finder/request.ts';
import { Refusal, refuse } from '../refusal.ts';
import type { AgentContext } from './context.ts';

/** What the last question was about, from the store: the answer continues from there and from nothing else. */
export async function clarifyOf(
  { journey, finder }: AgentContext,
  question: ClarifyPacket,
  answer: string,
): Promise<ClarifyAnswer> {
  // Only the default finder leaves its context with us. Another one is handed its own reference back.
  if (!('examine' in finder)) return foreignAnswer(question, answer);
  const { candidate_context_ref, attempt_index, missing_field } = question;
  const context = await contextObject(journey.store.object(candidate_context_ref));
  return {
    attempt_index,
    candidate_context_ref,
    simulation_id: context.simulation_ids[0]!,
    fields_so_far: context.fields,
    missing_field,
    answer,
  };
}

/** The answer to a question of another finder. What that question left open, only that finder knows. */
export function foreignAnswer(
  { candidate_context_ref, attempt_index, missing_field }: ClarifyPacket,
  answer: string,
): ClarifyAnswer {
  return {
    attempt_index,
    candidate_context_ref,
    fields_so_far: {},
    missing_field,
    answer,
  };
}

async function contextObject(read: Promise<Uint8Array>): Promise<CandidateContext> {
  try {
    return openContext(await read);
  } catch (error) {
    if (!(error instanceof Refusal) || error.code === 'FINDER_PACKET_INVALID') throw error;
    return refuse(
      'CLARIFICATION_NEEDED',
      'What the question was about is not stored. Say the whole goal again.',
    );
  }
}

const candidateContext = z.strictObject({
  catalog_snapshot_ref: z.string(),
  utterance_digest: z.string(),
  simulation_ids: z.array(z.string()).min(1),
  fields: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
  missing_field: z.string(),
});

/** The attacker is a finder whose question names any object that happens to be stored. */
function openContext(bytes: Uint8Array): CandidateContext {
  const parsed = candidateContext.safeParse(jsonIn(bytes));
  return parsed.success
    ? parsed.data
    : refuse('FINDER_PACKET_INVALID', 'What the question names is not what a question is about.');
}

function jsonIn(bytes: Uint8Array): unknown {
  try {
    return parseJson(bytes, bytes.length);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return null;
  }
}
