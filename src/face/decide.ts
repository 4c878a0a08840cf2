import * as z from 'zod';
import { deepFrozen } from '../canonical/frozen.ts';
import type { IntentState } from '../gate/state.ts';
import type { Signer } from '../identity/act.ts';
import { approvalsOf, toldOf } from '../journey/approvals.ts';
import { check } from '../journey/check.ts';
import type { Context } from '../journey/context.ts';
import { grant, turn } from '../journey/grant.ts';
import { offer } from '../journey/offer.ts';
import { diffTexts, hunksApart, review } from '../journey/review.ts';
import { reviewersOf } from '../journey/reviewers.ts';
import { frozenNow } from '../journey/standing.ts';
import { previewSubmit, submit } from '../journey/submit.ts';
import { limits } from '../limits.ts';
import { explain, refuse } from '../refusal.ts';
import { type Caller, requireOwnDelegation, requireOwnIntent } from './caller.ts';
import { effect, envelope } from './effect.ts';
import { capabilityScope, grantAsked, offerAsked, order, orderAsked, orderOf } from './order.ts';
import { askedHash, askedId, digest, id, intent, name, publicKey, reasonCode, time } from './parts.ts';
import { shown, shownHunk } from './shown.ts';
import { act, here, read, write } from './verb.ts';

const told = new WeakMap<IntentState, z.output<typeof intent>>();

/** An intent with the word for where it stands now, and who is asked to look at it: the same value while none of it has changed. */
export async function intentNow(context: Context, state: IntentState): Promise<z.output<typeof intent>> {
  const approvals = await approvalsOf(context, state);
  const added = { ...toldOf(approvals), reviewers: await reviewersOf(context, state, approvals) };
  const known = told.get(state);
  if (known && JSON.stringify(addedTo(known)) === JSON.stringify(added)) return known;
  const now = deepFrozen({ ...state, ...added });
  told.set(state, now);
  return now;
}

function addedTo(told: z.output<typeof intent>) {
  return { ...toldOf(told), reviewers: told.reviewers };
}

/** From the first look at a proposal to the order of its run. */
export const deciding = {
  review: read({
    open_to: 'people',
    refuses: ['INTENT_NOT_FOUND', 'OBJECT_MISSING'],
    about: 'Everything a human sees before the key is turned, read from the bytes that the hash covers.',
    input: () =>
      z.strictObject({
        intent_id: askedId,
        /** So many lines of diffs are in the answer, or a few more. The others are asked for with `intents.hunks`. */
        diff_lines: z.int().min(0).optional(),
      }),
    output: () =>
      z.strictObject({
        intent,
        envelope: envelope(),
        effect: effect(),
        /** For a plan that has not run, with every change as a diff. */
        shown,
        /** Which freeze stops it, in one sentence; null where none does, and of what is over. An approval is no way past it. */
        frozen: z.string().nullable(),
        /** What a human may turn to when a run fails: a yes covers it, too. */
        alternates: z.array(shown).readonly(),
        /** What they are the words of, to be compared with the digests of the envelope. */
        alternate_effects: z.array(effect()).readonly(),
      }),
    run: async ({ context }, { intent_id, diff_lines }) => {
      const { state, ...seen } = await review(context, intent_id, diff_lines);
      return { intent: await intentNow(context, state), frozen: await frozenNow(context, state), ...seen };
    },
  }),

  hunks: read({
    open_to: 'people',
    refuses: ['INTENT_NOT_FOUND', 'OBJECT_MISSING'],
    about: 'Some parts of one diff of a plan that waits, which a review told without their lines.',
    input: () =>
      z.strictObject({
        intent_id: askedId,
        hash: askedHash,
        action_id: z.string(),
        path: z.string(),
        /** Which parts, in their order in the block, from 0. */
        from: z.int().min(0),
        count: z.int().min(1).max(limits.hunks_answer),
      }),
    output: () => z.strictObject({ hunks: z.array(shownHunk).readonly() }),
    run: async ({ context }, asked) => ({ hunks: await hunksApart(context, asked) }),
  }),

  diffTexts: read({
    open_to: 'people',
    refuses: ['INTENT_NOT_FOUND', 'OBJECT_MISSING'],
    about:
      'The texts whose differences a review of a plan that waits shows, to be compared with the digests of its effect.',
    input: () => z.strictObject({ intent_id: askedId, hash: askedHash }),
    output: () =>
      z.strictObject({
        /** Not of what is no text, and at most 4 MiB in all. */
        texts: z
          .array(
            z
              .strictObject({
                action_id: z.string(),
                path: z.string(),
                before: z.string().nullable(),
                after: z.string().nullable(),
              })
              .readonly(),
          )
          .readonly(),
      }),
    run: async ({ context }, asked) => ({ texts: await diffTexts(context, asked) }),
  }),

  check: read({
    open_to: 'people',
    about: 'Whether it may run now: approved, ordered, and nothing in the way. It asks no policies.',
    input: () => z.strictObject({ intent_id: askedId, hash: askedHash }),
    output: () =>
      z.discriminatedUnion('eligible', [
        z.strictObject({ intent_id: id, hash: digest, eligible: z.literal(true) }),
        z.strictObject({
          intent_id: id,
          hash: digest,
          eligible: z.literal(false),
          code: reasonCode,
          words: z.string(),
          advice: z.string(),
          /** When it ran, where that is the reason. */
          executed_at: time.nullable(),
        }),
      ]),
    run: async ({ context }, { intent_id, hash }) => {
      const verdict = await check(context, intent_id, hash);
      if (verdict.eligible) return { intent_id, hash, eligible: true as const };
      const { code, executed_at } = verdict;
      const { meaning, advice } = explain(code);
      const words = verdict.words ?? meaning;
      return { intent_id, hash, eligible: false as const, code, words, advice, executed_at };
    },
  }),

  previewSubmit: read({
    open_to: 'delegate',
    refuses: ['INTENT_NOT_FOUND', 'DELEGATION_UNKNOWN', 'OBJECT_MISSING'],
    about: 'What a delegate would submit, read from the bytes that the hash covers. It asks no policies.',
    input: () => z.strictObject({ intent_id: askedId, delegation: askedId }),
    output: () =>
      z.strictObject({
        intent,
        envelope: envelope(),
        effect: effect(),
        /** To be compared with the digests of the envelope. */
        alternate_effects: z.array(effect()).readonly(),
        /** The human as whose approval it would count; `null` when a human still has to approve. */
        approver: z.strictObject({ by: name, key: publicKey }).readonly().nullable(),
      }),
    run: async ({ context, caller }, asked) => {
      await requireOwnIntent(context, caller, asked.intent_id);
      const by = caller.kind === 'owner' ? null : caller.name;
      const { state, ...seen } = await previewSubmit(context, { ...asked, by });
      return { intent: await intentNow(context, state), ...seen };
    },
  }),

  submit: write({
    open_to: 'delegate',
    about: 'Submit an intent under a delegation, signed by the delegate. It may stand for the approval.',
    input: () => z.strictObject({ intent_id: askedId, hash: askedHash, delegation: z.string() }),
    output: () =>
      z.strictObject({
        intent_id: id,
        hash: digest,
        by: name,
        delegation: id,
        /** The human as whose approval it counts; `null` when a human still has to approve. */
        approver: name.nullable(),
        expires_at: time,
      }),
    here: here<{ readonly signer: Signer }>('signer'),
    run: async ({ context, caller }, request) => {
      await requireOwnIntent(context, caller, request.intent_id);
      await requireOwnDelegation(context, caller, request.delegation);
      const { subject: intent_id, body } = await submit(context, request);
      const { hash, by, delegation, approver, expires_at } = body;
      return { intent_id, hash, by, delegation, approver: approver?.by ?? null, expires_at };
    },
  }),

  offer: write({
    open_to: 'people',
    refuses: ['INTENT_NOT_FOUND', 'ALREADY_EXECUTED'],
    about:
      'What an order would be about, before it is signed. What it refuses is recorded as that of the order would be.',
    input: offerAsked,
    output: () =>
      z.strictObject({
        intent,
        shown,
        /** What the effect reaches: the scope unless less is asked for. */
        needs: capabilityScope,
        audience: z.string(),
        ttl_s: z.int(),
      }),
    run: async ({ context }, request) => {
      const { state, ...offered } = await offer(context, request);
      return { intent: await intentNow(context, state), ...offered };
    },
  }),

  grant: write({
    open_to: 'delegate',
    about:
      'Order one run of what is approved. A human signs; or a delegate with its delegation, from elsewhere for what it proposed itself.',
    input: grantAsked,
    output: () =>
      order().extend({
        /** Two humans went past the policies, or past a freeze. */
        break_glass: z.boolean(),
        /** False where it is issued when the run is claimed. */
        issued: z.boolean(),
        /** The capability itself, for who runs it elsewhere; `null` where it is not issued. It is told only here. */
        token: z.string().nullable(),
      }),
    here: here<{ readonly signer: Signer }>('signer'),
    run: async ({ context, caller }, request) => {
      if (caller.kind === 'agent') await requireOwnOrder(context, caller, request);
      const { break_glass, token, ...given } = await grant(context, request);
      return Object.assign(orderOf(given), { break_glass, issued: token !== null, token });
    },
  }),

  turn: act({
    open_to: 'people',
    about: 'Approve and order one run with one signature. Who has approved it before only orders it.',
    input: () => orderAsked().extend({ approval_ttl_s: z.number().positive().optional() }),
    output: () =>
      order().extend({
        /** Until when the approval counts; `null` where it was approved before. */
        approved_until: time.nullable(),
      }),
    run: async ({ context }, request) => {
      const { approved_until, ...given } = await turn(context, request);
      return Object.assign(orderOf(given), { approved_until });
    },
  }),
};

/** An agent gets no capability to take elsewhere: what it orders, the executors run. */
async function requireOwnOrder(
  context: Context,
  caller: Caller,
  { intent_id, delegation, holder, is_issued }: z.output<ReturnType<typeof grantAsked>>,
): Promise<void> {
  if (delegation === undefined || holder !== undefined || is_issued === true)
    return refuse('NOT_FOR_AGENTS', 'An agent orders a run under its delegation, and is issued nothing.');
  await requireOwnIntent(context, caller, intent_id);
  await requireOwnDelegation(context, caller, delegation);
}
