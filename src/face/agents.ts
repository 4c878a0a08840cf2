import * as z from 'zod';
import * as shape from '../event/shape.ts';
import type { Signer } from '../identity/act.ts';
import type { Context } from '../journey/context.ts';
import * as delegating from '../journey/delegate.ts';
import { grantPins } from '../journey/grant-bounds.ts';
import * as tokening from '../journey/token.ts';
import { mcpLimits } from '../limits.ts';
import { tokenUses } from '../project/token-uses.ts';
import { refuse } from '../refusal.ts';
import { type Caller, requireOwnDelegation } from './caller.ts';
import { askedId, digest, id, name, publicKey, time, why } from './parts.ts';
import { act, here, nothing, read, write } from './verb.ts';

/** What a human lets the key of another principal do, for a limited time. */
export const agents = {
  delegate: write({
    open_to: 'delegate',
    about:
      'Let a key submit certain actions for a while. A human signs, or a delegate who passes on what it was given.',
    input: () =>
      z.strictObject({
        /** An enrolled name with a key. */
        delegate: z.string(),
        /** Which of its keys; needed where it has several. */
        delegate_key: z.string().optional(),
        actions: z.array(z.string()).readonly(),
        ttl_s: z.number(),
        /** Whether what is submitted under it counts as approved by the human at the root. */
        approves: z.boolean().optional(),
        reason: z.string(),
        /** The delegation that is passed on. */
        delegation: z.string().optional(),
        /** Makes it a grant: so many uses, with arguments that fit this JSON Schema. Members that it does not name fall outside. */
        grant: z
          .strictObject({
            uses: z.int().min(1).max(mcpLimits.grant_uses),
            arguments: z.record(z.string(), z.json()).optional(),
          })
          .optional(),
      }),
    output: () =>
      z.strictObject({
        delegation_id: id,
        delegate: name,
        delegate_key: publicKey,
        actions: z.array(z.string()),
        approves: z.boolean(),
        grant: shape.grantBounds.nullable(),
        expires_at: time,
        parent: id.nullable(),
        ...why,
      }),
    here: here<{ readonly signer: Signer }>('signer'),
    run: async ({ context, caller }, request) => {
      if (caller.kind === 'agent') await requirePassedOn(context, caller, request);
      const { subject, body } = await delegating.delegate(context, request as delegating.DelegateRequest);
      const {
        delegate,
        delegate_key,
        actions,
        approves,
        grant,
        expires_at,
        delegation: parent,
        by,
        reason,
      } = body;
      return {
        delegation_id: subject,
        delegate,
        delegate_key,
        actions,
        approves,
        grant,
        expires_at,
        parent,
        by,
        reason,
      };
    },
  }),

  pins: read({
    open_to: 'people',
    refuses: ['REGISTRY_MISSING'],
    about: 'The tools that a grant of these actions would be for, each with the digest of its definition.',
    input: () => z.strictObject({ actions: z.array(z.string()).readonly() }),
    output: () =>
      z.strictObject({
        pins: z.array(z.strictObject({ action: z.string(), pin: z.string() }).readonly()).readonly(),
      }),
    run: async ({ context }, { actions }) => ({ pins: await grantPins(context, actions) }),
  }),

  delegations: read({
    open_to: 'people',
    about: 'Everything that was ever delegated.',
    input: nothing,
    output: () =>
      z.strictObject({
        delegations: z.array(
          z
            .strictObject({
              delegation_id: id,
              delegate: name,
              delegate_key: publicKey,
              actions: z.array(z.string()).readonly(),
              approves: z.boolean(),
              grant: shape.grantBounds.nullable(),
              expires_at: time,
              parent: id.nullable(),
              /** The human from whom it comes. */
              root: z.strictObject({ by: name, key: publicKey }).readonly(),
              /** From that human to the delegate. */
              chain: z.array(name).readonly(),
              granted_at: time,
              status: z.enum(['active', 'revoked']),
            })
            .readonly()
            .meta({ id: 'delegation' }),
        ),
      }),
    run: async ({ context }) => ({ delegations: await context.store.all('delegation') }),
  }),

  addToken: act({
    open_to: 'people',
    about: 'Let an agent show who it is by a secret, of which only the digest is given and kept.',
    input: () => z.strictObject({ name: z.string(), digest, reason: z.string() }),
    output: () => z.strictObject({ name, token_id: id, ...why }),
    run: async ({ context }, request) => tokenOf(await tokening.addToken(context, request)),
  }),

  revokeToken: act({
    open_to: 'people',
    about: 'From now on this token shows nothing.',
    input: () => z.strictObject({ name: z.string(), token_id: askedId, reason: z.string() }),
    output: () => z.strictObject({ name, token_id: id, ...why }),
    run: async ({ context }, request) => tokenOf(await tokening.revokeToken(context, request)),
  }),

  tokens: read({
    open_to: 'people',
    about: 'The tokens of all agents, revoked ones too.',
    input: nothing,
    output: () =>
      z.strictObject({
        tokens: z.array(
          z.strictObject({
            name,
            token_id: id,
            status: z.enum(['active', 'revoked']),
            added_at: time,
            added_by: name,
            /** At any service of the ledger, to a minute; null where it never was. */
            last_used_at: time.nullable(),
          }),
        ),
      }),
    run: async ({ context, layout }) => {
      const uses = await tokenUses(layout, context.store.service_state);
      const all = await context.store.all('principal');
      const tokens = all.flatMap(({ name, status, tokens }) =>
        tokens.map(({ digest: _, ...token }) => ({
          name,
          ...token,
          status: status === 'active' ? token.status : ('revoked' as const),
          last_used_at: uses.get(token.token_id) ?? null,
        })),
      );
      return { tokens };
    },
  }),

  revokeDelegation: act({
    open_to: 'people',
    about: 'Take a delegation back, with everything that was passed on from it.',
    input: () => z.strictObject({ delegation_id: askedId, reason: z.string() }),
    output: () => z.strictObject({ delegation_id: id, ...why }),
    run: async ({ context }, request) => {
      const { subject, body } = await delegating.revokeDelegation(context, request);
      return { delegation_id: subject, by: body.by, reason: body.reason };
    },
  }),
};

/** An agent has nothing to give but what was given to it. Whether that holds, and is not made wider, the commit decides. */
async function requirePassedOn(
  context: Context,
  caller: Caller,
  { delegation, grant }: { readonly delegation?: string; readonly grant?: object },
): Promise<void> {
  if (delegation === undefined)
    refuse('NOT_FOR_AGENTS', 'An agent passes on a delegation to it, and names it.');
  if (grant !== undefined)
    refuse('NOT_FOR_AGENTS', 'What a number of calls would be for is shown to people alone.');
  await requireOwnDelegation(context, caller, delegation);
}

function tokenOf({
  subject,
  body,
}: Awaited<ReturnType<typeof tokening.addToken | typeof tokening.revokeToken>>) {
  return { name: subject, token_id: body.token_id, by: body.by, reason: body.reason };
}
