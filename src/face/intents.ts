import * as z from 'zod';
import { once } from '../canonical/once.ts';
import { statusLasts } from '../gate/status-word.ts';
import type { Signer } from '../identity/act.ts';
import { draftSchema } from '../intent/envelope.ts';
import { approvalsOf } from '../journey/approvals.ts';
import * as approving from '../journey/approve.ts';
import { requireIntent } from '../journey/context.ts';
import { pendingTwin } from '../journey/earlier.ts';
import { type EditRequest, edit } from '../journey/edit.ts';
import { listIntents, nextNeeded } from '../journey/list.ts';
import * as proposing from '../journey/propose.ts';
import { proposeUndo } from '../journey/propose-undo.ts';
import { resultOf } from '../journey/result.ts';
import { requireSecrets } from '../journey/secrets.ts';
import { storyOf } from '../journey/story.ts';
import { waitFor } from '../journey/wait.ts';
import { whatIf } from '../journey/what-if.ts';
import * as withdrawing from '../journey/withdraw.ts';
import { limits } from '../limits.ts';
import { proposedBy, requireMadeId } from './caller.ts';
import { comparing } from './comparing.ts';
import { deciding, intentNow } from './decide.ts';
import {
  approval,
  askedHash,
  askedId,
  code,
  goal,
  id,
  intent,
  name,
  output,
  page,
  pageEnd,
  rejection,
  searched,
  status,
  statusWord,
  time,
  undoneBy,
} from './parts.ts';
import { planSpec } from './plans.ts';
import { proposal, proposalAnswer } from './proposal.ts';
import { story } from './told.ts';
import { act, here, read, write } from './verb.ts';

const result = once(() =>
  z
    .strictObject({
      intent_id: id,
      status,
      status_word: statusWord,
      /** Nothing follows unless a human begins again. */
      is_over: z.boolean(),
      /** Why a human rejected it, or its proposer withdrew it. */
      reason: z.string().nullable(),
      /** The intent that a human proposed in its place: what becomes of that one is the answer. */
      replaced_by: id.nullable(),
      /** The call that undoes it, once it succeeded; null where its tool declared none, and where an intent undoes it already. `undo` proposes it. */
      undo: z
        .strictObject({
          tool: name,
          arguments: z.record(
            z.string(),
            z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]),
          ),
        })
        .nullable(),
      /** The intent that undoes it; null where none does. */
      undone_by: undoneBy.nullable(),
      /** The newest run; null where there was none. */
      run: z
        .strictObject({
          execution_id: id,
          result: z.enum(['success', 'failure', 'partial', 'rolled_back']).nullable(),
          exit_code: z.int().nullable(),
          /** Empty while it runs. */
          output,
        })
        .nullable(),
    })
    .meta({ id: 'result' }),
);

/** 16 random bytes as base64, where the proof comes from elsewhere: the same for the draft and for its end. */
const nonce = z.base64().length(24);

/** What was asked for, from its proposal to its end. */
export const intents = {
  ...comparing,
  propose: write({
    open_to: 'proposer',
    about: 'Propose an effect. Nothing runs until a human approves it.',
    input: () => draftSchema,
    output: proposal,
    here: here<{ readonly signer?: Signer | undefined }>('signer'),
    run: async ({ context, caller }, { signer, ...draft }) => {
      requireMadeId(caller, draft);
      return proposalAnswer(await proposing.propose(context, proposedBy(caller, draft), signer), signer);
    },
  }),

  undo: write({
    open_to: 'proposer',
    about:
      'Propose the call that the tool of a successful run declared to undo it. A human decides on it like on any other.',
    input: () =>
      z.strictObject({
        intent_id: askedId,
        issuer: name.optional(),
        declared_goal: z.string().min(1).max(limits.prose_chars).optional(),
        nonce: nonce.optional(),
      }),
    output: () => proposal().extend({ undoes: id }),
    here: here<{ readonly signer?: Signer | undefined }>('signer'),
    run: async ({ context, caller }, { signer, ...request }) => ({
      ...proposalAnswer(await proposeUndo(context, proposedBy(caller, request), signer), signer),
      undoes: request.intent_id,
    }),
  }),

  edit: act({
    open_to: 'people',
    about:
      'Change a proposal before it is approved: the human who signs proposes another one in its place, and the first one ends.',
    input: () =>
      z.strictObject({
        intent_id: askedId,
        /** All arguments of a call, as they are to be. */
        arguments: z.record(z.string(), z.json()).optional(),
        /** Another plan in place of a plan. */
        plan: planSpec().optional(),
        declared_goal: z.string().min(1).max(limits.prose_chars).optional(),
        /** Until when it may wait; as long as what it replaces unless told. */
        expiry: time.optional(),
        nonce: nonce.optional(),
      }),
    output: proposal,
    run: async ({ context }, request) =>
      proposalAnswer(await edit(context, request as EditRequest), request.signer),
  }),

  withdraw: write({
    open_to: 'proposer',
    about:
      'Take a proposal back, for good: by its receipt, signed by its proposer, or by the agent that proposed it without a key.',
    input: () =>
      z.strictObject({
        intent_id: askedId,
        reason: z.string(),
        /** What `propose` answered, unless the proposal was signed. */
        receipt: z.string().nullable().optional(),
      }),
    output: () => rejection,
    here: here<{ readonly signer?: Signer | undefined }>('signer'),
    run: async ({ context, caller }, { signer, receipt = null, ...asked }) => {
      const { subject, body } = await withdrawing.withdraw(context, {
        ...asked,
        receipt,
        // To an agent there is nothing here but what it proposed.
        is_proposer: caller.kind === 'agent',
        ...(signer && { signer }),
      });
      return { intent_id: subject, hash: body.hash, by: body.by, reason: body.reason };
    },
  }),

  list: read({
    open_to: 'proposer',
    about: 'List intents, newest first, in pages.',
    input: () =>
      z.strictObject({
        status_word: statusWord.optional(),
        tool: z.string().optional(),
        proposer: z.string().optional(),
        /** A part of the goal, the tool or the proposer, in any case. */
        text: searched,
        /** What this human is asked to look at: an approval is missing, theirs does not count yet, they did not ask for it, unless they are the only human, and the policies ask them, or name no reviewer. */
        needs: name.optional(),
        ...page,
      }),
    output: () =>
      z.strictObject({
        intents: z.array(intent.extend({ goal }).readonly()).readonly(),
        ...pageEnd,
      }),
    run: async ({ context, caller }, request) => {
      if (caller.kind !== 'agent') return listIntents(context, request);
      const { proposer = caller.name } = request;
      // As for a proposer who proposed nothing.
      if (proposer !== caller.name) return { intents: [], next: null, looked: 0 };
      return listIntents(context, { ...request, proposer });
    },
  }),

  next: read({
    open_to: 'people',
    about: 'What has waited longest of what this human is asked to look at.',
    input: () =>
      z.strictObject({
        needs: name,
        /** Only what was proposed after this one, which waits, too. */
        after: id.optional(),
      }),
    output: () =>
      z.strictObject({
        /** Null where nothing waits for them. */
        intent_id: id.nullable(),
        /** How many wait after it; no more than 1,000 are counted. */
        more: z.int(),
      }),
    run: ({ context }, request) => nextNeeded(context, request),
  }),

  get: read({
    open_to: 'proposer',
    refuses: ['INTENT_NOT_FOUND'],
    about: 'One intent, as the ledger tells it.',
    input: () => z.strictObject({ intent_id: askedId }),
    output: () => intent,
    run: async ({ context }, { intent_id }) => intentNow(context, await requireIntent(context, intent_id)),
    lasts: statusLasts,
  }),

  result: read({
    open_to: 'proposer',
    refuses: ['INTENT_NOT_FOUND'],
    about: 'What became of an intent, with what it printed.',
    input: () => z.strictObject({ intent_id: askedId }),
    output: result,
    run: ({ context }, { intent_id }) => resultOf(context, intent_id),
  }),

  story: read({
    open_to: 'people',
    refuses: ['INTENT_NOT_FOUND'],
    about:
      'The story of one intent: what was asked for, what a person sees of it, and all that happened to it.',
    input: () =>
      z.strictObject({
        intent_id: askedId,
        /** Also what the newest run printed. */
        with_output: z.boolean().optional(),
      }),
    output: story,
    run: ({ context }, request) => storyOf(context, request),
  }),

  twin: read({
    open_to: 'proposer',
    refuses: ['INTENT_NOT_FOUND', 'OBJECT_MISSING'],
    about:
      'Another intent of the same proposer that asks for the same and has not run: one of the two is enough.',
    input: () => z.strictObject({ intent_id: askedId }),
    output: () => z.strictObject({ /** The newest; null where there is none. */ intent_id: id.nullable() }),
    run: async ({ context }, { intent_id }) => ({ intent_id: await pendingTwin(context, intent_id) }),
  }),

  requireSecrets: read({
    open_to: 'people',
    refuses: ['INTENT_NOT_FOUND', 'OBJECT_MISSING'],
    about: 'The secrets that a run needs. Refuses where this host does not have one.',
    input: () => z.strictObject({ intent_id: askedId }),
    output: () => z.strictObject({ secrets: z.array(z.string()).readonly() }),
    run: async ({ context }, { intent_id }) => ({ secrets: await requireSecrets(context, intent_id) }),
  }),

  waitFor: read({
    open_to: 'proposer',
    refuses: ['INTENT_NOT_FOUND', 'WAIT_OVER'],
    about:
      'What became of an intent, as `result` tells it, once it has come that far in this process or another.',
    input: () =>
      z.strictObject({
        intent_id: askedId,
        /** `decided`: it no longer waits for a human. `ended`: it is over, or no process works on it and a human must settle it. */
        until: z.enum(['decided', 'ended']).default('ended'),
      }),
    output: result,
    here: here<{ readonly signal?: AbortSignal | undefined }>('signal'),
    run: ({ context }, { intent_id, until, signal }) =>
      waitFor(context, intent_id, { until, ...(signal && { signal }) }),
  }),

  whatIf: read({
    open_to: 'people',
    about: 'What would refuse the act of a human, asked before they make any gesture. Nothing is recorded.',
    input: () =>
      z.strictObject({
        intent_id: askedId,
        hash: askedHash,
        by: name,
        /** `turn` approves where that is still to be done, orders one run here, and runs it. */
        act: z.enum(['approve', 'turn', 'break_glass']),
      }),
    output: () =>
      z.strictObject({
        /** All null where nothing that can be known stands against it. */
        code: code.nullable(),
        words: z.string().nullable(),
        advice: z.string().nullable(),
        /** Whether the signature approves it; false where the approval of this human counts already, and where it is refused. */
        approves: z.boolean(),
      }),
    run: ({ context }, request) => whatIf(context, request),
  }),

  ...deciding,

  approve: act({
    open_to: 'people',
    about: 'Approve an intent. A human signs its hash.',
    input: () =>
      z.strictObject({
        intent_id: askedId,
        hash: askedHash,
        /** How long the approval holds, in seconds; what keyturn.yaml says unless told. */
        ttl_s: z.number().positive().optional(),
      }),
    output: () => approval,
    run: async ({ context }, { ttl_s, ...asked }) => {
      const { subject, body } = await approving.approve(context, {
        ...asked,
        ...(ttl_s !== undefined && { ttl_s }),
      });
      const { hash, by, expires_at } = body;
      const { missing } = await approvalsOf(context, await requireIntent(context, subject));
      return { intent_id: subject, hash, by, expires_at, missing };
    },
  }),

  reject: act({
    open_to: 'people',
    about: 'Reject an intent, for good. Its proposer reads the reason.',
    input: () => z.strictObject({ intent_id: askedId, hash: askedHash, reason: z.string() }),
    output: () => rejection,
    run: async ({ context }, request) => {
      const { subject, body } = await approving.reject(context, request);
      return { intent_id: subject, hash: body.hash, by: body.by, reason: body.reason };
    },
  }),
};
