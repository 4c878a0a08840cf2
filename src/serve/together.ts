import { setImmediate as othersFirst } from 'node:timers/promises';
import * as z from 'zod';
import { sha256 } from '../canonical/digest.ts';
import { canonicalBytes, type JsonObject } from '../canonical/json.ts';
import { type Keyturn, Rehearsal } from '../keyturn.ts';
import { limits } from '../limits.ts';
import { refuse } from '../refusal.ts';
import {
  type ActCaller,
  actDigest,
  actRequest,
  actTime,
  drawAct,
  drawnAct,
  finishAct,
  signingOf,
  webProof,
} from './act.ts';
import { answerWith } from './answer.ts';
import { BODY, CALLER } from './openapi.ts';
import type { Route } from './route.ts';
import { problemOf, problemTold } from './status.ts';

/** Several acts of one human: each is drawn up by itself, and one touch signs the list of their digests. */

const verb = z.string().regex(/^[a-z]+\.[a-zA-Z]+$/);

const togetherAsked = z.strictObject({
  by: z.string(),
  /** Which of their keys; needed where they have several. */
  key: z.string().optional(),
  /** In the order in which they are shown. `verb` is such as `intents.approve`. */
  acts: z
    .array(z.strictObject({ verb, request: actRequest }))
    .min(1)
    .max(limits.touch_acts),
});

/** One member for each act, in their order: its draft, or why it cannot be done now. Only drafts are signed. */
const togetherDrawn = z.strictObject({
  drawn: z.array(
    z.union([
      z.strictObject({ verb, request: actRequest, draft: drawnAct }),
      z.strictObject({ verb, request: actRequest, problem: problemTold }),
    ]),
  ),
  /** SHA-256 of each statement of each draft, in their order. */
  digests: z.array(actDigest),
  /** What a passkey signs for all of them; empty where no act could be drawn up. */
  challenge: z.string(),
  deadline: actTime.nullable(),
});

const togetherFinished = z.strictObject({
  acts: z
    .array(z.strictObject({ verb, request: actRequest, draft: drawnAct }))
    .min(1)
    .max(limits.touch_acts),
  /** The answer of a passkey to the challenge; or one Ed25519 signature for each statement. */
  proofs: z.union([z.array(webProof).min(1).max(limits.touch_acts), webProof]),
});

/** One member for each act, in their order. An act that is refused does not keep back the others. */
const togetherDone = z.strictObject({
  results: z.array(
    z.union([
      z.strictObject({ verb, ok: z.literal(true), result: z.unknown() }),
      z.strictObject({ verb, ok: z.literal(false), problem: problemTold }),
    ]),
  ),
});

/** The two paths, for the description of the service. */
export const TOGETHER_PATHS = [
  {
    path: '/v1/acts/draft',
    about: 'Draw up several acts of one human, which one touch of a passkey signs.',
    input: togetherAsked,
    output: togetherDrawn,
    status: 202,
    refusals: [...CALLER, ...BODY],
  },
  {
    path: '/v1/acts/finish',
    about: 'Finish several acts with one answer of a passkey, or with one signature for each statement.',
    input: togetherFinished,
    output: togetherDone,
    refusals: [...CALLER, ...BODY],
  },
] as const;

type Routes = ReadonlyMap<string, Route>;

/** The acts of the table by their names. */
export function actsIn(routes: readonly Route[]): Routes {
  const acts = routes.filter(({ is_act }) => is_act);
  return new Map(acts.map((route) => [`${route.namespace}.${route.name}`, route]));
}

export async function drawTogether(
  keyturn: Keyturn,
  routes: Routes,
  body: JsonObject,
  caller: ActCaller,
): Promise<Response> {
  const asked = togetherAsked.safeParse(body);
  if (!asked.success) refuse('SHAPE_INVALID', 'Several acts are {by, key, acts: [{verb, request}, …]}.');
  const { by, key, acts } = asked.data;
  const texts = acts.map((one) => sha256(canonicalBytes(one as JsonObject)));
  if (new Set(texts).size < texts.length) refuse('SHAPE_INVALID', 'The same act is asked for twice.');
  const drawn: z.output<typeof togetherDrawn>['drawn'] = [];
  const earlier = new Rehearsal();
  for (const { verb, request } of acts) {
    // To draw one up can take milliseconds without a wait. Other callers are answered in between.
    await othersFirst();
    try {
      const one = { request, by, ...(key !== undefined && { key }) };
      const route = named(routes, verb);
      const { draft, request: full = request } = await drawAct(keyturn, route, one, caller, earlier);
      drawn.push({ verb, request: full, draft });
    } catch (error) {
      drawn.push({ verb, request, problem: problemOf(error) });
    }
  }
  const drafts = drawn.flatMap((one) => ('draft' in one ? [one.draft] : []));
  const signing = drafts.length === 0 ? NOTHING : signingOf(...drafts);
  if (signing.digests.length > limits.touch_acts)
    refuse('INPUT_TOO_LARGE', `One touch signs ${limits.touch_acts} statements at most.`);
  return answerWith(togetherDrawn, { drawn, ...signing }, 202);
}

const NOTHING = { digests: [], challenge: '', deadline: null };

export async function finishTogether(
  keyturn: Keyturn,
  routes: Routes,
  body: JsonObject,
  caller: ActCaller,
): Promise<Response> {
  const asked = togetherFinished.safeParse(body);
  if (!asked.success)
    refuse('SHAPE_INVALID', 'Several acts are finished with {acts: [{verb, request, draft}, …], proofs}.');
  const { acts, proofs } = asked.data;
  const statements = acts.flatMap(({ draft }) => draft.statements);
  const each = Array.isArray(proofs) ? proofs : statements.map(() => proofs);
  if (each.length !== statements.length)
    refuse('SIGNATURE_INVALID', 'There is not one proof for each statement.');
  const results: z.output<typeof togetherDone>['results'] = [];
  let at = 0;
  for (const { verb, request, draft } of acts) {
    const own = each.slice(at, at + draft.statements.length);
    at += draft.statements.length;
    try {
      const route = named(routes, verb);
      const value = await finishAct(keyturn, route, { request, draft, proofs: own }, caller);
      results.push({ verb, ok: true, result: route.verb.output().parse(value) });
    } catch (error) {
      results.push({ verb, ok: false, problem: problemOf(error) });
    }
  }
  return answerWith(togetherDone, { results });
}

function named(routes: Routes, verb: string): Route {
  return routes.get(verb) ?? refuse('ROUTE_UNKNOWN', 'There is no such act.');
}
