import * as z from 'zod';
import { agentAnswer, agentTurn, dispatched } from '../agent/answer-shape.ts';
import { dispatchEnvelope } from '../agent/contracts.ts';
import type { ModelFinder } from '../agent/core.ts';
import { PACKET_SCHEMA_VERSION } from '../finder/packet.ts';
import { proposalShape } from '../finder/proposal-shape.ts';
import {
  conversation,
  conversationState,
  conversationTold,
  figures,
  sloReport,
} from './conversation-parts.ts';
import { code, digest, page, pageEnd, searched, time, why } from './parts.ts';
import { catalog } from './simulations.ts';
import { act, here, nothing, read, write } from './verb.ts';

const one = { correlation_id: z.string() };
const said = { user_id: z.string() };
/** What another finder found, in place of the finder of the project. Taken whole, or refused; a match asks for a yes. */
const packet = z.json() as z.ZodType<unknown>;

/** Goals in the words of users, and what becomes of them. The agent core is large, so each verb loads what it needs. */
export const conversations = {
  ask: write({
    open_to: 'people',
    refuses: ['IDEMPOTENCY_VIOLATION', 'REGISTRY_MISSING', 'OBJECT_MISSING'],
    about: 'A goal in the words of a user. Answers with a question, a prompt, an outcome or a no.',
    input: () =>
      z.strictObject({
        ...said,
        utterance: z.string(),
        /** A new one unless told. Under one correlation the same step with the same values runs once. */
        correlation_id: z.string().optional(),
        thread_id: z.string().optional(),
        turn_id: z.string().optional(),
        language: z.string().optional(),
        /** What utterances meant before: it breaks ties, and does nothing else. */
        gold: z
          .array(z.strictObject({ utterance_fingerprint: digest, simulation_id: z.string() }))
          .optional(),
        packet: packet.optional(),
        /** What a language model makes of the goal. It is held against the words, and always asks for a yes. */
        proposal: proposalShape.optional(),
      }),
    here: here<{ readonly model?: ModelFinder }>('model'),
    output: () => agentTurn,
    run: async ({ agent }, request) => (await import('../agent/core.ts')).ask(await agent(), request),
  }),

  answer: write({
    open_to: 'people',
    refuses: ['REGISTRY_MISSING', 'OBJECT_MISSING'],
    about: 'The answer to the one question that is open. The goal stays what it was.',
    input: () =>
      z.strictObject({
        ...one,
        ...said,
        text: z.string(),
        turn_id: z.string().optional(),
        /** The turn that asked. An answer that comes twice must not answer the next question. */
        question_turn_id: z.string().optional(),
        packet: packet.optional(),
      }),
    output: () => agentTurn,
    run: async ({ agent }, request) => (await import('../agent/core.ts')).answer(await agent(), request),
  }),

  confirm: write({
    open_to: 'people',
    refuses: ['OBJECT_MISSING', 'RUN_IN_DOUBT'],
    about:
      'What a user says about a plan. Only a clear yes to the step that waits for it goes on; a no ends the plan.',
    input: () =>
      z.strictObject({
        ...one,
        ...said,
        /** Which prompt this answers; the prompt names it. A yes that came late never counts for other values. */
        plan_id: z.string(),
        /** Needed where the plan has several steps. */
        step_id: z.string().optional(),
        text: z.string(),
        language: z.string().optional(),
      }),
    output: () => agentAnswer,
    run: async ({ agent }, request) => (await import('../agent/confirm.ts')).confirm(await agent(), request),
  }),

  resume: write({
    open_to: 'people',
    refuses: ['OBJECT_MISSING', 'RUN_IN_DOUBT'],
    about: 'Go on from where the ledger says that it stands: after an approval, or with the next step.',
    input: () => z.strictObject({ ...one, user_id: z.string().optional() }),
    output: () => agentAnswer,
    run: async ({ agent }, { correlation_id, user_id }) =>
      (await import('../agent/advance.ts')).advance(await agent(), correlation_id, user_id),
  }),

  undo: write({
    open_to: 'people',
    refuses: ['ROLLBACK_NOT_DUE', 'RUN_IN_DOUBT', 'OBJECT_MISSING'],
    about: 'Undo what the steps of a plan did, the last one first, by a plan like any other.',
    input: () =>
      z.strictObject({
        ...one,
        ...said,
        /** The newest plan that left something behind unless told. */
        plan_id: z.string().optional(),
      }),
    output: () => agentAnswer,
    run: async ({ agent }, request) => (await import('../agent/undo.ts')).undo(await agent(), request),
  }),

  get: read({
    open_to: 'people',
    refuses: ['OBJECT_MISSING'],
    about: 'What the newest plan came to or waits for, as its user is told it. Nothing is done.',
    input: () => z.strictObject({ ...one, user_id: z.string().optional() }),
    output: () => agentAnswer,
    run: async ({ agent }, request) =>
      (await import('../agent/conversation.ts')).answerOf(await agent(), request),
  }),

  status: read({
    open_to: 'people',
    about: 'Where a conversation stands, and everything that was said and done in it.',
    input: () => z.strictObject(one),
    output: conversationTold,
    run: async ({ agent }, { correlation_id }) =>
      (await import('../agent/conversation.ts')).conversationStoryOf(await agent(), correlation_id),
  }),

  list: read({
    open_to: 'people',
    about: 'List conversations, newest first by when they began, in pages.',
    input: () =>
      z.strictObject({
        status: conversationState.optional(),
        user: z.string().optional(),
        /** A part of the goal, the user or a simulation of its plans, in any case. */
        text: searched,
        ...page,
      }),
    output: () => z.strictObject({ conversations: z.array(conversation()).readonly(), ...pageEnd }),
    run: async ({ agent }, request) => {
      const { listConversations } = await import('../agent/conversation.ts');
      const { found: conversations, ...end } = await listConversations(await agent(), request);
      return { conversations, ...end };
    },
  }),

  replay: read({
    open_to: 'people',
    refuses: ['AGENT_REPLAY_DIFFERS'],
    about: 'Make every decision of a conversation again. One that differs is refused.',
    input: () => z.strictObject(one),
    output: () =>
      z.strictObject({
        ...one,
        decisions: z
          .array(
            z
              .strictObject({
                seq: z.int(),
                plan_id: digest.nullable(),
                step_id: digest.nullable(),
                decision: z.enum(['DISPATCH', 'NO_DISPATCH']),
                reason_code: code,
              })
              .readonly(),
          )
          .readonly(),
      }),
    run: async ({ agent }, { correlation_id }) =>
      (await import('../agent/replay.ts')).replayAgent(await agent(), correlation_id),
  }),

  snapshot: read({
    open_to: 'people',
    refuses: ['REGISTRY_MISSING'],
    about: 'For a finder outside: what its packets must name, and the catalog that it chooses from.',
    input: nothing,
    output: () =>
      z.strictObject({
        schema_version: z.literal(PACKET_SCHEMA_VERSION),
        tenant_id: z.string(),
        policy_snapshot_ref: digest,
        catalog_snapshot_ref: digest,
        artifact_fingerprint_bundle_ref: digest,
        catalog: catalog(),
      }),
    run: async ({ agent }) => (await import('../agent/snapshot.ts')).snapshotRefs(await agent()),
  }),

  turnKey: read({
    open_to: 'people',
    about: 'For a finder outside: the idempotency key of one turn. The same turn, sent twice, is meant once.',
    input: () =>
      z.strictObject({
        ...one,
        ...said,
        turn_id: z.string(),
        utterance: z.string(),
        /** Of a turn that answers a question. */
        answer: z.string().optional(),
      }),
    output: () => z.strictObject({ idempotency_key: digest }),
    run: async (_, { answer, ...turn }) => {
      const clarify = answer === undefined ? undefined : { answer };
      return { idempotency_key: (await import('../agent/turn.ts')).turnKey({ ...turn, clarify }) };
    },
  }),

  dispatch: write({
    open_to: 'people',
    about: 'The way to the executor. What is not exactly what the ledger has planned is refused.',
    input: () => dispatchEnvelope,
    output: () => dispatched,
    run: async ({ agent }, request) =>
      (await import('../agent/observe.ts')).observedDispatch(await agent(), request),
  }),

  slo: read({
    open_to: 'people',
    about: 'The figures of the last 24 hours, from the ledger.',
    input: nothing,
    output: sloReport,
    run: async ({ agent }) => (await import('../agent/slo.ts')).slo(await agent()),
  }),

  requireSlo: read({
    open_to: 'people',
    about:
      'The same, for a release: a figure that is breached and not waived, or was not measured, is refused.',
    input: nothing,
    output: sloReport,
    run: async ({ agent }) => (await import('../agent/slo.ts')).requireSlo(await agent()),
  }),

  waive: act({
    open_to: 'people',
    about:
      'Accept the breach of figures for a bounded time. A human with the role `builder` does, while they are breached.',
    input: () => z.strictObject({ figures, until: time, reason: z.string() }),
    output: () => z.strictObject({ figures, until: time, ...why }),
    run: async ({ agent }, request) => {
      const { body } = await (await import('../agent/slo.ts')).waive(await agent(), request);
      return { figures: body.figures, until: body.until, by: body.by, reason: body.reason };
    },
  }),
};
