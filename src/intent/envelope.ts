import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import { type Digest, sha256 } from '../canonical/digest.ts';
import { DIGEST_FORM, NAME_FORM, UUID_FORM, WORD_FORM } from '../canonical/form.ts';
import { canonicalBytesOfParsed, guardPlain, type Json, parseJson } from '../canonical/json.ts';
import { caller_id } from '../event/agent.ts';
import { describeIssue } from '../event/event.ts';
import { serverName } from '../event/shape.ts';
import { fieldLimits, limits, mcpLimits } from '../limits.ts';
import { refuse } from '../refusal.ts';
import { clientCapabilities } from './client-input.ts';

const uuid = z.string().regex(UUID_FORM, 'not a lower-case UUID');
const name = z.string().regex(NAME_FORM, 'not a name');
const time = z.iso.datetime({ precision: 3 });
const prose = z.string().min(1).max(limits.prose_chars);
const json = z.custom<Json>((value) => value !== undefined);

const constraints = z.strictObject({
  scope: z.array(prose).max(fieldLimits.listed).default([]),
  limits: z.record(z.string().max(limits.name_chars), json).default({}),
  prohibitions: z.array(prose).max(fieldLimits.listed).default([]),
});

/** A word and no prose: it stands in the ledger, from which nothing is erased. */
const action = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9:._@*-]{0,127}$/, 'not an action');
const digest = z.string().regex(DIGEST_FORM);
const object = z.record(z.string(), json);

/** The kinds of effect. A plan is carried whole, with its config, exactly as it came in. */
const toolCall = z.strictObject({
  kind: z.literal('tool'),
  tool: name,
  arguments: z.record(z.string().max(limits.name_chars), json),
});
const planRun = z.strictObject({
  kind: z.literal('plan'),
  plan: object,
  config: object.nullable(),
  task_id: z.string().regex(WORD_FORM),
});

/** A call of a tool of an MCP server, by the name that keyturn.yaml gives the server. */
const mcpCall = z.strictObject({
  kind: z.literal('mcp'),
  server: serverName,
  tool: z.string().min(1).max(mcpLimits.tool_name_chars),
  arguments: object,
  /** Where the server may ask the client of its caller for input: what that client can answer, and what it has answered. */
  input: z
    .strictObject({
      capabilities: clientCapabilities,
      responses: object.nullable(),
      state: z.string().nullable(),
    })
    .optional(),
});

/** The Intent Envelope: who asks for what, why, within which bounds, until when, and the exact effect. */
export const envelopeSchema = z.strictObject({
  format: z.literal('keyturn-intent/1'),
  intent_id: uuid,
  issuer: name,
  /** The user who asked the agent core for this; null where the issuer asks for it in its own name. */
  on_behalf_of: caller_id.nullable(),
  declared_goal: prose,
  constraints,
  requested_actions: z.array(action).min(1).max(fieldLimits.listed),
  /** `digest` covers what would really run; see tool/effect.ts. */
  effect: z.discriminatedUnion('kind', [
    toolCall.extend({ digest }),
    planRun.extend({ digest }),
    mcpCall.extend({ digest }),
  ]),
  /** Other tool calls that a human may turn to after a failure. They are approved with the rest. */
  alternates: z.array(toolCall.extend({ digest })).max(fieldLimits.alternates),
  /** The intent that this one is a changed form of. */
  replaces: uuid.nullable(),
  /** The intent whose run this one undoes, by the call that its tool declared. */
  undoes: uuid.nullable(),
  created_at: time,
  expiry: time,
  /** Random, so that the hash of a guessable argument cannot be guessed back once the envelope is erased. */
  nonce: z.base64().length(24),
});

export type Envelope = z.infer<typeof envelopeSchema>;

/** What a proposer writes. Whatever is left out is filled in once, when the envelope is frozen. */
export const draftSchema = z
  .strictObject({
    format: z.literal('keyturn-intent/1').optional(),
    intent_id: uuid.optional(),
    issuer: name.optional(),
    /** Only the agent core proposes on behalf of a user, and it does not do so by a draft. */
    on_behalf_of: z.null().optional(),
    declared_goal: prose,
    constraints: constraints.prefault({}),
    requested_actions: z.array(action).min(1).max(fieldLimits.listed).optional(),
    effect: z.discriminatedUnion('kind', [
      toolCall.extend({ digest: digest.optional() }),
      planRun.extend({ digest: digest.optional() }),
      mcpCall.extend({ digest: digest.optional() }),
    ]),
    alternates: z
      .array(toolCall.extend({ digest: digest.optional() }))
      .max(fieldLimits.alternates)
      .default([]),
    replaces: uuid.nullable().default(null),
    undoes: uuid.nullable().default(null),
    created_at: time.optional(),
    expiry: time.optional(),
    nonce: z.base64().length(24).optional(),
    integrity_hash: z.string().optional(),
    /** The same key with the same request is the same intent, however often it is sent. Long enough that others cannot guess it. */
    idempotency_key: z
      .string()
      .regex(/^[\x21-\x7e]{16,255}$/, 'is not 16 to 255 visible ASCII characters')
      .optional(),
  })
  .refine(({ intent_id, idempotency_key }) => intent_id === undefined || idempotency_key === undefined, {
    message: 'An idempotency key names the intent: it takes no intent_id',
  });

export type EnvelopeDraft = z.infer<typeof draftSchema>;
export type DraftInput = z.input<typeof draftSchema>;

export function parseDraft(value: unknown): EnvelopeDraft {
  // Before the schema looks: it drops a key "__proto__" in silence, and what was asked would not be what is frozen.
  for (const part of ['effect', 'constraints', 'alternates']) guardPart(value, part);
  const draft = draftSchema.safeParse(value);
  if (!draft.success) refuse('SHAPE_INVALID', `The envelope is not valid: ${describeIssue(draft.error)}`);
  return draft.data;
}

function guardPart(value: unknown, part: string): void {
  const found = (value as Record<string, unknown> | null | undefined)?.[part];
  if (found !== undefined) guardPlain(found);
}

export interface Frozen {
  readonly envelope: Envelope;
  /** The canonical bytes. Their SHA-256 is the integrity hash and the address in the object store. */
  readonly bytes: Uint8Array;
  readonly hash: Digest;
}

export interface FreezeOptions {
  readonly issuer: string;
  /** None by default. */
  readonly on_behalf_of?: string | null;
  /** Of the effect, and of each alternate in its order. */
  readonly effect_digest: Digest;
  readonly alternate_digests: readonly Digest[];
  /** What the effects do: an intent that names no actions requests these. */
  readonly actions: readonly string[];
  readonly nonce: string;
  readonly now: Date;
  readonly ttl_s: number;
}

/** Fills in a draft and fixes its hash. From here on a change is another intent. */
export function freezeEnvelope(draft: EnvelopeDraft, options: FreezeOptions): Frozen {
  const {
    issuer,
    on_behalf_of = null,
    effect_digest,
    alternate_digests,
    actions,
    nonce,
    now,
    ttl_s,
  } = options;
  const created_at = draft.created_at ?? now.toISOString();
  const envelope: Envelope = {
    format: 'keyturn-intent/1',
    intent_id: draft.intent_id ?? randomUUID(),
    issuer,
    on_behalf_of,
    declared_goal: draft.declared_goal,
    constraints: draft.constraints,
    requested_actions: draft.requested_actions ?? [...new Set(actions)],
    effect: { ...draft.effect, digest: draft.effect.digest ?? effect_digest },
    alternates: draft.alternates.map((call, i) => ({
      ...call,
      digest: call.digest ?? alternate_digests[i]!,
    })),
    replaces: draft.replaces,
    undoes: draft.undoes,
    created_at,
    expiry: draft.expiry ?? new Date(now.getTime() + ttl_s * 1000).toISOString(),
    nonce,
  };
  requireLifetime(envelope, now);
  const bytes = canonicalBytesOfParsed(envelope);
  const hash = sha256(bytes);
  if (draft.integrity_hash !== undefined && draft.integrity_hash !== hash) refuse('ENVELOPE_HASH_WRONG');
  return { envelope, bytes, hash };
}

function requireLifetime({ created_at, expiry }: Envelope, now: Date): void {
  const created_ms = Date.parse(created_at);
  const expiry_ms = Date.parse(expiry);
  if (created_ms > now.getTime() + limits.clock_skew_ms)
    refuse('TIME_MALFORMED', 'created_at is in the future.');
  if (expiry_ms <= now.getTime()) refuse('INTENT_EXPIRED');
  if (expiry_ms <= created_ms) refuse('TIME_MALFORMED', 'It would end before it was created.');
  if (expiry_ms - created_ms > limits.intent_ttl_s * 1000) {
    refuse('TIME_MALFORMED', `An intent lives ${limits.intent_ttl_s / 86_400} days at most.`);
  }
}

/** Reads a frozen envelope back from the bytes that its hash covers. */
export function openEnvelope(bytes: Uint8Array): Envelope {
  const envelope = envelopeSchema.safeParse(parseJson(bytes));
  if (!envelope.success)
    refuse('SHAPE_INVALID', `The envelope is not valid: ${describeIssue(envelope.error)}`);
  return envelope.data;
}
