import * as z from 'zod';
import { once } from '../canonical/once.ts';
import * as shape from '../event/shape.ts';
import type { Signer } from '../identity/act.ts';
import { assuranceOf } from '../identity/assurance.ts';
import type { Credential } from '../identity/credential.ts';
import type { Principal } from '../identity/principal.ts';
import * as crediting from '../journey/credential.ts';
import * as enrolling from '../journey/enrol.ts';
import { refuse } from '../refusal.ts';
import { digest, id, kind, name, publicKey, time, why } from './parts.ts';
import { act, here, nothing, read } from './verb.ts';

const label = z.string();
const life = { added_at: time, added_by: name, status: z.enum(['active', 'revoked']) };

const token = z
  .strictObject({ token_id: id, digest, ...life })
  .readonly()
  .meta({ id: 'token' });

const principal = once(() => {
  const [key, passkey] = shape.credential.options;
  return z
    .strictObject({
      name,
      kind,
      /** In the order in which they were added, revoked ones too. */
      credentials: z
        .array(z.discriminatedUnion('kind', [key.extend(life), passkey.extend(life)]).readonly())
        .readonly(),
      /** The token of an agent for a service, by digest. */
      tokens: z.array(token).readonly(),
      roles: z.array(name).readonly(),
      status: z.enum(['active', 'revoked']),
      enrolled_at: time,
      enrolled_by: name,
    })
    .readonly()
    .meta({ id: 'principal' });
});

/** Who may speak: people and agents, and what they sign with. */
export const people = {
  list: read({
    open_to: 'people',
    about: 'All humans and agents that were ever enrolled.',
    input: nothing,
    output: () => z.strictObject({ principals: z.array(principal()) }),
    run: async ({ context }) => ({ principals: await context.store.all('principal') }),
  }),

  enrol: act({
    open_to: 'people',
    about: 'Enrol a human or an agent. Another human signs it.',
    input: () =>
      z.strictObject({
        name: z.string(),
        principal: kind,
        /** An Ed25519 key; null for an agent that has none. Left out for a passkey. */
        public_key: z.string().nullable().optional(),
        /** A passkey. Its `holder` signs as well. */
        passkey: shape.passkey.optional(),
        roles: z.array(z.string()).readonly().optional(),
      }),
    output: () =>
      z.strictObject({ name, kind, public_key: publicKey.nullable(), roles: z.array(name), by: name }),
    here: here<{ readonly holder?: Signer | undefined }>('holder'),
    run: async ({ context }, { public_key, passkey, holder, roles = [], ...asked }) => {
      const { subject, body } = await enrolling.enrol(context, {
        ...asked,
        roles,
        ...keyIn(public_key, passkey, holder),
      });
      return {
        name: subject,
        kind: body.principal,
        public_key: body.credential?.public_key ?? null,
        roles: body.roles,
        by: body.by,
      };
    },
  }),

  assign: act({
    open_to: 'people',
    about: 'Say which roles a person or an agent has from now on: all of them.',
    input: () =>
      z.strictObject({
        name: z.string(),
        roles: z.array(z.string()).readonly(),
        /** Those that were shown: others by now are refused. Left out, it is not compared with what was shown. */
        replaces: z.array(z.string()).readonly().optional(),
        reason: z.string(),
      }),
    output: () => z.strictObject({ name, roles: z.array(name), ...why }),
    run: async ({ context }, request) => {
      const { subject, body } = await enrolling.assign(context, request);
      return { name: subject, roles: body.roles, by: body.by, reason: body.reason };
    },
  }),

  revoke: act({
    open_to: 'people',
    about: 'Revoke a person or an agent for good, with all that they signed and that is not over.',
    input: () => z.strictObject({ name: z.string(), reason: z.string() }),
    output: () => z.strictObject({ name, ...why }),
    run: async ({ context }, request) => {
      const { subject, body } = await enrolling.revoke(context, request);
      return { name: subject, by: body.by, reason: body.reason };
    },
  }),

  credentials: read({
    open_to: 'people',
    refuses: ['PRINCIPAL_UNKNOWN'],
    about: 'The credentials of one person; of all, unless a name is given.',
    input: () => z.strictObject({ name: z.string().optional() }),
    output: () =>
      z.strictObject({
        credentials: z.array(
          z.strictObject({
            name,
            label,
            public_key: publicKey,
            assurance: z.enum(['key_file', 'synced_passkey', 'device_bound_passkey']),
            status: z.enum(['active', 'revoked']),
            added_at: time,
            added_by: name,
            passkey: z
              .strictObject({ rp_id: z.string(), origins: z.array(z.string()), aaguid: id })
              .nullable(),
          }),
        ),
      }),
    run: async ({ context }, { name }) => {
      const everybody =
        name === undefined ? await context.store.all('principal') : [await one(context, name)];
      return {
        credentials: everybody.flatMap((person) => person.credentials.map((each) => told(person, each))),
      };
    },
  }),

  addCredential: act({
    open_to: 'people',
    about:
      'A further key or passkey of a person, who signs it, and whose `holder` shows the new key. Another human signs for one who has none left.',
    input: () => z.strictObject({ name: z.string(), credential: shape.credential, reason: z.string() }),
    output: () => z.strictObject({ name, label, public_key: publicKey, ...why }),
    here: here<{ readonly holder: Signer }>('holder'),
    run: async ({ context }, request) => {
      const { subject, body } = await crediting.addCredential(context, request);
      const { label, public_key } = body.credential;
      return { name: subject, label, public_key, by: body.by, reason: body.reason };
    },
  }),

  revokeCredential: act({
    open_to: 'people',
    about: 'End a credential, with the approvals, orders and delegations that it signed. The name stays.',
    input: () => z.strictObject({ name: z.string(), public_key: z.string(), reason: z.string() }),
    output: () => z.strictObject({ name, label, public_key: publicKey, ...why }),
    run: async ({ context }, request) => {
      const { subject, body } = await crediting.revokeCredential(context, request);
      const { public_key } = body;
      const { credentials } = await one(context, subject);
      const { label } = credentials.find((each) => each.public_key === public_key)!;
      return { name: subject, label, public_key, by: body.by, reason: body.reason };
    },
  }),
};

function keyIn(
  public_key: string | null | undefined,
  passkey: z.output<typeof shape.passkey> | undefined,
  holder: Signer | undefined,
) {
  if (passkey && holder && public_key === undefined) return { passkey, holder };
  if (passkey || holder || public_key === undefined)
    refuse('SHAPE_INVALID', 'Give a public key, or a passkey with its holder.');
  return { public_key };
}

async function one(
  { store }: Parameters<typeof crediting.credentialsOf>[0],
  wanted: string,
): Promise<Principal> {
  return (
    (await store.find('principal', wanted)) ?? refuse('PRINCIPAL_UNKNOWN', `"${wanted}" is not enrolled.`)
  );
}

function told({ name, status }: Principal, credential: Credential) {
  const { label, public_key, added_at, added_by } = credential;
  const passkey = credential.kind === 'passkey' ? credential : null;
  return {
    name,
    label,
    public_key,
    assurance: assuranceOf(passkey),
    status: status === 'active' ? credential.status : ('revoked' as const),
    added_at,
    added_by,
    passkey: passkey && { rp_id: passkey.rp_id, origins: passkey.origins, aaguid: passkey.aaguid },
  };
}
