import * as z from 'zod';
import { once } from '../canonical/once.ts';
import { type Status, statusOf } from '../journey/status.ts';
import { limits } from '../limits.ts';
import {
  awaited,
  code,
  digest,
  freeze,
  id,
  name,
  reasonCode,
  reviewers,
  shadowedServer,
  statusWord,
  time,
} from './parts.ts';
import { policies } from './policies.ts';
import { begun, begunOf } from './runs.ts';
import { read } from './verb.ts';

const goal = z.string().nullable();
const needed = z
  .strictObject({
    intent_id: id,
    hash: digest,
    /** Null where it was erased, or its stored bytes are damaged. */
    goal,
    tool: name,
    proposer: name,
    /** The proposer signed the hash; otherwise the name is only a claim. */
    proposer_verified: z.boolean(),
    status_word: statusWord,
    /** Since when it has stood like this. */
    since: time,
  })
  .meta({ id: 'needs-human' });
const list = <T extends z.ZodType>(item: T) => z.array(item).readonly();

const output = once(() =>
  z.strictObject({
    /** What is wrong with the clock of this machine; null when it fits the ledger. With a wrong one the rest is judged by it. */
    clock: z.strictObject({ code, words: z.string() }).readonly().nullable(),
    frozen: list(freeze.readonly()),
    /** Servers with tools whose calls pass without an approval. */
    shadow: list(shadowedServer.readonly()),
    in_doubt: list(begun().extend({ goal, proposer: name }).readonly()),
    /** Rollbacks that are not complete. */
    stuck: list(needed.extend({ execution_id: id }).readonly()),
    failed: list(needed.readonly()),
    waiting: list(needed.extend({ reviewers }).readonly()),
    /** Approved, and not by enough approvals that count now; the code says why. */
    approval_expired: list(needed.extend({ code: reasonCode }).readonly()),
    /** Approved, and not to be run now; the code says why: most often no run is ordered. */
    ungranted: list(needed.extend({ code: reasonCode }).readonly()),
    /** May run now. */
    approved: list(needed.extend({ waits_for: awaited }).readonly()),
    /** The files in policies/ beside the snapshot that decides. */
    policies: policies.files.output(),
  }),
);

/** Of each list the newest, newest first. */
export const statusVerb = read({
  open_to: 'people',
  about: 'What needs a human, now.',
  input: () =>
    z.strictObject({
      /** How many of each list are told at most. */
      limit: z.int().min(1).max(limits.status_rows).default(limits.status_rows),
    }),
  output,
  run: async ({ context }, request) => {
    const found = await statusOf(context, request);
    return { ...found, in_doubt: found.in_doubt.map(doubtNow) };
  },
});

function doubtNow(one: Status['in_doubt'][number]) {
  return { ...begunOf(one), goal: one.goal, proposer: one.state.proposer };
}
