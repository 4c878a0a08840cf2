import * as z from 'zod';

/** What an executor without a control key asks for: the capability of the order that it is about to claim. */
export const issueAsked = z.strictObject({
  intent_id: z.string(),
  hash: z.string(),
  order_id: z.string(),
});

/** The capability with the entry that issues it, which is written with the claim; or that the policies deny it. Decisions are base64. */
export const issueAnswer = z.union([
  z.strictObject({ issued: z.record(z.string(), z.unknown()), token: z.string(), decision: z.base64() }),
  z.strictObject({
    denied: z.enum(['POLICY_DENIED', 'POLICY_NO_PERMIT', 'POLICY_ERROR', 'BREAK_GLASS_FORBIDDEN']),
    words: z.string(),
    decision: z.base64(),
  }),
]);

export type IssueAsked = z.infer<typeof issueAsked>;
export type IssueAnswer = z.infer<typeof issueAnswer>;

/** Asks a service that has a control key. */
export type ControlPlane = (asked: IssueAsked) => Promise<IssueAnswer>;
