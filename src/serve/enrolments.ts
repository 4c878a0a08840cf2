import type * as z from 'zod';
import type { JsonObject } from '../canonical/json.ts';
import type { Keyturn, Proof } from '../keyturn.ts';
import { refuse } from '../refusal.ts';
import { type ActCaller, signingOf } from './act.ts';
import { answerWith } from './answer.ts';
import type { Enrolments, OpenEnrolment } from './enrolment.ts';
import {
  enrolmentAsked,
  enrolmentFinish,
  enrolmentNamed,
  enrolmentOpened,
  enrolmentsListed,
} from './enrolment-shape.ts';
import { BODY, CALLER } from './openapi.ts';
import type { Route } from './route.ts';
import type { SessionOwner, Sessions } from './session.ts';
import { type Vouched, vouchedFor } from './vouched.ts';

/** What a human who is known here asks for about passkeys that are being enrolled. Nothing of it writes but the finish. */
export interface VouchRoute {
  readonly path: string;
  readonly about: string;
  readonly input: z.ZodType;
  readonly output: z.ZodType | null;
  readonly refusals: readonly number[];
  /** `opens`: whose session the caller may be given a link for; null for none. */
  readonly answer: (body: JsonObject, caller: ActCaller, opens: SessionOwner | null) => Promise<Response>;
}

export interface VouchParts {
  readonly keyturn: Keyturn;
  readonly enrolments: Enrolments<Vouched>;
  /** The acts of the table, by name. */
  readonly acts: ReadonlyMap<string, Route>;
  readonly origin: string;
  readonly sessions: Pick<Sessions, 'link'>;
}

export function vouching({ keyturn, enrolments, acts, origin, sessions }: VouchParts): readonly VouchRoute[] {
  return [
    {
      path: '/v1/enrolments/open',
      about:
        'Begin the enrolment of a passkey, or of a key that was made elsewhere. The link is for the browser of its owner: to make the passkey, or, for a key, to sign for it in the console.',
      input: enrolmentAsked,
      output: enrolmentOpened,
      refusals: [...CALLER, ...BODY, 404],
      answer: async (body, caller, opens) => {
        const vouched = await vouchedFor(keyturn, acts, parsed(enrolmentAsked, body), caller);
        const { secret, enrolment } = await enrolments.open(vouched);
        const { enrolment_id, expires_at } = enrolment;
        const people = async () => (opens ? `link=${await sessions.link(opens)}&to=people` : '/people');
        const link =
          vouched.public_key === null ? `${origin}/enrol#link=${secret}` : `${origin}/#${await people()}`;
        return answerWith(enrolmentOpened, { enrolment_id, link, expires_at });
      },
    },
    {
      path: '/v1/enrolments/list',
      about: 'Passkeys and keys that are being enrolled, with what is to be signed by the human who vouches.',
      input: enrolmentNamed.partial(),
      output: enrolmentsListed,
      refusals: [...CALLER, ...BODY, 404],
      answer: async (body) => {
        const { enrolment_id } = parsed(enrolmentNamed.partial(), body);
        const all =
          enrolment_id === undefined
            ? (await enrolments.all()).map(told)
            : [await enrolments.withId(enrolment_id, async (one) => told(one))];
        return answerWith(enrolmentsListed, { enrolments: all });
      },
    },
    {
      path: '/v1/enrolments/finish',
      about: 'Vouch for a passkey or a key: the proof of the credential that the enrolment names.',
      input: enrolmentFinish,
      output: null,
      refusals: [...CALLER, ...BODY, 404, 409],
      answer: async (body, caller) => {
        const { enrolment_id, proofs } = parsed(enrolmentFinish, body);
        const { route, value } = await enrolments.withId(enrolment_id, ({ ceremony }) =>
          ceremony.finish(proofs as Proof[], caller),
        );
        return answerWith(route.verb.output(), value);
      },
    },
    {
      path: '/v1/enrolments/drop',
      about: 'End an enrolment. Its link leads nowhere any more.',
      input: enrolmentNamed,
      output: enrolmentNamed,
      refusals: [...CALLER, ...BODY, 404],
      answer: async (body, { name }) => {
        const named = parsed(enrolmentNamed, body);
        await enrolments.withId(named.enrolment_id, async ({ ceremony }) => {
          if (name !== null && name !== ceremony.by && name !== ceremony.name)
            refuse('CALLER_OTHER', `"${name}" has no part in this enrolment.`);
        });
        await enrolments.drop(named.enrolment_id);
        return answerWith(enrolmentNamed, named);
      },
    },
  ];
}

function parsed<T>(schema: z.ZodType<T>, body: JsonObject): T {
  const found = schema.safeParse(body);
  return found.success ? found.data : refuse('SHAPE_INVALID', 'This is no enrolment. See docs/http.md.');
}

function told({ enrolment_id, ceremony, expires_at, passkey }: OpenEnrolment<Vouched>): object {
  const { asked, name, label, by, key, public_key } = ceremony;
  const draft = ceremony.pending();
  return {
    ...{ enrolment_id, kind: asked.kind, name, label, by, key, expires_at },
    status: ceremony.status(),
    passkey,
    public_key,
    pending: draft && { draft, ...signingOf(draft) },
  };
}
