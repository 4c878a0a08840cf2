import * as z from 'zod';
import { fieldLimits, limits } from '../limits.ts';
import { actDigest, actTime, drawnAct, webAssertion, webProof } from './act.ts';

const id = z.uuid();
const text = z.string().max(limits.prose_chars);

/** A key that is in a file already: what it would be added by, and its signature of that. */
const keyMade = z.strictObject({
  public_key: z.string(),
  draft: drawnAct,
  proof: z.string().max(fieldLimits.proof_chars),
});

/** What a new passkey or key file is for, and who vouches for it. */
export const enrolmentAsked = z.strictObject({
  /** `credential`: of a human who is enrolled. `person`: the first one of a human who is not. */
  kind: z.enum(['credential', 'person']).default('credential'),
  name: z.string(),
  label: z.string(),
  /** Why; for a person it is not kept. */
  reason: text.default('A passkey.'),
  /** Who vouches: the person unless told, or another human where the person has nothing left. */
  by: z.string().optional(),
  /** Which of their keys vouches; needed where they have several. */
  key: z.string().optional(),
  roles: z.array(z.string()).optional(),
  /** With it no passkey is made: the key is added once the one who vouches has signed the same. */
  made: keyMade.optional(),
});

export const enrolmentOpened = z.strictObject({ enrolment_id: id, link: z.string(), expires_at: actTime });

export const linkShown = z.strictObject({ link: z.string().max(fieldLimits.line_chars) });

/** The options of `navigator.credentials.create`, as `PublicKeyCredential.parseCreationOptionsFromJSON` takes them. */
const creation = z.strictObject({
  challenge: z.string(),
  rp: z.strictObject({ id: z.string(), name: z.string() }),
  user: z.strictObject({ id: z.string(), name: z.string(), displayName: z.string() }),
  pubKeyCredParams: z.array(z.strictObject({ type: z.literal('public-key'), alg: z.int() })),
  excludeCredentials: z.array(z.strictObject({ type: z.literal('public-key'), id: z.string() })),
  authenticatorSelection: z.strictObject({
    residentKey: z.literal('preferred'),
    userVerification: z.literal('required'),
  }),
  attestation: z.literal('none'),
  timeout: z.int(),
});

export const enrolmentBegun = z.strictObject({
  name: z.string(),
  label: z.string(),
  expires_at: actTime,
  options: creation,
});

const bytes = z.string().max(fieldLimits.passkey_chars);

/** What `navigator.credentials.create` answered: base64url, but the key, which is SPKI as base64. */
export const enrolmentMade = linkShown.extend({
  answer: z.strictObject({
    credential_id: bytes,
    public_key: bytes,
    algorithm: z.int(),
    authenticator_data: bytes,
    client_data: bytes,
  }),
});

export const passkeyMade = z.strictObject({
  credential_id: z.string(),
  public_key: z.string(),
  rp_id: z.string(),
  origins: z.array(z.string()),
  can_sync: z.boolean(),
  aaguid: z.string(),
  label: z.string(),
});

/** What the passkey signs for itself, with the second touch. */
export const enrolmentDrawn = z.strictObject({
  statements: z.array(z.string()),
  digests: z.array(actDigest),
  challenge: z.string(),
  deadline: actTime,
  rp_id: z.string(),
  credential_id: z.string(),
});

export const enrolmentSigned = linkShown.extend({ proof: webAssertion });

export const enrolmentStatus = z.strictObject({ status: z.enum(['open', 'signed', 'enrolled']) });

/** As the human who vouches sees it. */
export const enrolmentsListed = z.strictObject({
  enrolments: z.array(
    z.strictObject({
      enrolment_id: id,
      kind: z.enum(['credential', 'person']),
      name: z.string(),
      label: z.string(),
      by: z.string(),
      key: z.string(),
      status: z.enum(['open', 'signed', 'enrolled']),
      expires_at: actTime,
      /** Null until the passkey was made, and where it is a key. */
      passkey: passkeyMade.nullable(),
      /** Of a key in a file; null where it is a passkey. */
      public_key: z.string().nullable(),
      /** What is to be signed; null until the passkey, or the key, has signed it. */
      pending: z
        .strictObject({
          draft: drawnAct,
          digests: z.array(actDigest),
          challenge: z.string(),
          deadline: actTime,
        })
        .nullable(),
    }),
  ),
});

export const enrolmentFinish = z.strictObject({
  enrolment_id: z.string(),
  proofs: z.array(webProof).length(1),
});
export const enrolmentNamed = z.strictObject({ enrolment_id: z.string() });
