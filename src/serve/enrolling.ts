import type * as z from 'zod';
import type { Registration } from '../keyturn.ts';
import { limits, webLimits } from '../limits.ts';
import { refuse } from '../refusal.ts';
import { signingOf } from './act.ts';
import { answerWith } from './answer.ts';
import { bodyOf } from './body.ts';
import type { Ceremony, LinkedEnrolments, OpenEnrolment } from './enrolment.ts';
import {
  enrolmentBegun,
  enrolmentDrawn,
  enrolmentMade,
  enrolmentSigned,
  enrolmentStatus,
  linkShown,
  passkeyMade,
} from './enrolment-shape.ts';
import { BODY, HOST } from './openapi.ts';

/** The steps of which one can come while another is under way. */
const CHANGING: ReadonlySet<string> = new Set(['made', 'draft', 'sign']);

/** ES256, EdDSA, RS256, as COSE numbers them. */
const ALGORITHMS = [-7, -8, -257];

/** A path that is answered to a caller who has the secret of an enrolment. The secret is in the body: paths are written to logs. */
export interface LinkRoute {
  readonly path: string;
  readonly about: string;
  readonly input: z.ZodType;
  readonly output: z.ZodType;
  readonly answer: (request: Request) => Promise<Response>;
  readonly is_open: true;
  readonly refusals: readonly number[];
}

/** What the browser of a human who enrols a passkey asks for: twice a touch, and how far it is. */
export function linkRoutes<C extends Ceremony>(enrolments: LinkedEnrolments<C>): readonly LinkRoute[] {
  const route = <I extends z.ZodType<{ readonly link: string }>>(
    name: string,
    about: string,
    input: I,
    output: z.ZodType,
    answer: (enrolment: OpenEnrolment<C>, asked: z.output<I>) => Promise<object>,
  ): LinkRoute => ({
    path: `/v1/enrolments/${name}`,
    about,
    input,
    output,
    is_open: true,
    refusals: [...HOST, ...BODY, 403, 404, ...(CHANGING.has(name) ? [409] : []), 503],
    answer: async (request) => {
      const asked = input.safeParse(await bodyOf(request, webLimits.unproven_body_bytes));
      if (!asked.success) refuse('SHAPE_INVALID', 'This is no step of an enrolment. See docs/http.md.');
      const { link } = asked.data;
      return answerWith(output, await enrolments.withSecret(link, (one) => answer(one, asked.data)));
    },
  });
  return [
    route('begin', 'What a passkey is made with.', linkShown, enrolmentBegun, begun),
    route(
      'made',
      'The passkey that was made, at the first touch.',
      enrolmentMade,
      passkeyMade,
      async (one, asked) => one.made(asked.answer as Registration),
    ),
    route(
      'draft',
      'What the passkey signs for itself, at the second touch.',
      linkShown,
      enrolmentDrawn,
      drawn,
    ),
    route('sign', 'The answer of the second touch.', enrolmentSigned, enrolmentStatus, async (one, asked) => {
      const { ceremony } = one;
      const { proof } = asked;
      await ceremony.prove(Array.from({ length: proof.touch?.length ?? 1 }, () => proof));
      return { status: ceremony.status() };
    }),
    route('status', 'How far it is.', linkShown, enrolmentStatus, async ({ ceremony }) => ({
      status: ceremony.status(),
    })),
  ];
}

async function begun({
  ceremony,
  challenge,
  user_id,
  expires_at,
  rp_id,
  passkey,
}: OpenEnrolment): Promise<object> {
  if (passkey !== null) refuse('PASSKEY_INVALID', 'The passkey of this enrolment was made before.');
  const { name, label } = ceremony;
  const options = {
    challenge,
    rp: { id: rp_id, name: 'Keyturn' },
    user: { id: user_id, name, displayName: name },
    pubKeyCredParams: ALGORITHMS.map((alg) => ({ type: 'public-key', alg })),
    excludeCredentials: (await ceremony.known()).map((id) => ({ type: 'public-key', id })),
    authenticatorSelection: { residentKey: 'preferred', userVerification: 'required' },
    attestation: 'none',
    timeout: limits.act_wait_s * 1000,
  };
  return { name, label, expires_at, options };
}

async function drawn({ ceremony, passkey }: OpenEnrolment): Promise<object> {
  const made = passkey ?? refuse('PASSKEY_INVALID', 'The passkey was not made yet.');
  const to_sign = await ceremony.draw(made);
  const { rp_id, credential_id } = made;
  return { statements: to_sign.statements, ...signingOf(to_sign), rp_id, credential_id };
}
