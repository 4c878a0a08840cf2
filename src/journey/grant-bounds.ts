import * as z from 'zod';
import type { Digest } from '../canonical/digest.ts';
import { canonicalBytes, guardPlain, type Json, type JsonObject, parseJson } from '../canonical/json.ts';
import { type Delegation, includes } from '../identity/delegation.ts';
import { type GrantBounds, type GrantPin, sealGrantBounds } from '../identity/grant.ts';
import { mcpLimits } from '../limits.ts';
import { pinOf } from '../mcp-call/definition.ts';
import { callAction, calledName } from '../mcp-call/name.ts';
import { refuse } from '../refusal.ts';
import { toolPin } from '../tool/effect.ts';
import type { CheckArguments } from './call-marks.ts';
import { closedSchema } from './closed-schema.ts';
import type { Context } from './context.ts';
import type { Effect } from './derived.ts';
import { requireHeldSchema, sizeOfSchema, sizeOfValue } from './grant-schema.ts';
import { acceptedServer } from './mcp.ts';

const boundsSchema = z.strictObject({
  format: z.literal('keyturn-grant/1'),
  /** A JSON Schema that the arguments must fit; null for any. */
  arguments: z.custom<JsonObject>((value) => typeof value === 'object').nullable(),
  /** The definition of each tool as it was when a human signed. */
  pins: z.array(z.strictObject({ action: z.string(), pin: z.string() })),
}) satisfies z.ZodType<GrantBounds>;

export interface GrantLimits {
  readonly uses: number;
  /** A JSON Schema of an object. Members that it does not name fall outside. */
  readonly arguments?: JsonObject | undefined;
}

/** What bounds a grant, beside its uses and its time. Refused where it cannot be held. */
export async function sealGrant(
  context: Context,
  actions: readonly string[],
  { arguments: schema }: GrantLimits,
): Promise<{ readonly digest: Digest; readonly bytes: Uint8Array }> {
  if (schema !== undefined) await validatorOf(schema);
  return sealGrantBounds(schema, await grantPins(context, actions));
}

/** The tools that these actions are for now, each with the digest of its definition. */
export async function grantPins(context: Context, actions: readonly string[]): Promise<readonly GrantPin[]> {
  const pins = (await Promise.all(actions.map((action) => pinsOf(context, action)))).flat();
  return pins.length > 0 ? pins : refuse('GRANT_BOUNDS_MALFORMED', `No tool does ${actions.join(', ')}.`);
}

async function pinsOf(context: Context, action: string): Promise<GrantPin[]> {
  const [, server] = /^mcp:([a-z0-9-]+):/.exec(action) ?? [];
  if (server !== undefined) {
    const { accepted } = await acceptedServer(context, server);
    return accepted.tools
      .map((tool) => ({ action: callAction(server, calledName(server, tool.name)), pin: pinOf(tool) }))
      .filter((one) => includes(action, one.action));
  }
  return [...context.registry().tools.values()]
    .map((tool) => ({ action: tool.action ?? `tool:${tool.name}`, pin: toolPin(tool) }))
    .filter((one) => includes(action, one.action));
}

/** Refuses an effect that is outside of the bounds that a human signed. How often and how long, the ledger counts. */
export async function requireWithinGrant(
  { store, memory }: Context,
  { grant }: Pick<Delegation, 'grant'>,
  effect: Effect,
): Promise<void> {
  if (grant === null) return;
  if (effect.kind === 'plan')
    return refuse('GRANT_OUTSIDE', 'A grant is for calls of tools, and this is a plan.');
  const { pins, arguments: schema } = boundsIn(await store.object(grant.bounds));
  const pin = effect.kind === 'mcp' ? effect.pin : effect.definition_digest;
  const known = pins.filter(({ action }) => action === effect.action);
  if (!known.some((one) => one.pin === pin)) refuse('GRANT_PIN_CHANGED');
  if (schema === null) return;
  // Both are texts that the agent chooses and the server reads, and the schema sees neither.
  const { responses = null, state = null } = (effect.kind === 'mcp' && effect.input) || {};
  if (responses !== null || state !== null)
    refuse(
      'GRANT_OUTSIDE',
      'It answers a question of the server, and the grant has limits for arguments alone.',
    );
  const validate = memory.grants.get(grant.bounds) ?? (await validatorOf(schema));
  memory.grants.set(grant.bounds, validate);
  const wrong = validate(effect.arguments);
  if (wrong !== null) refuse('GRANT_OUTSIDE', `Its arguments are outside of the grant: ${wrong}.`);
}

const TOO_LARGE = 'Its arguments are too large to be compared with the schema of the grant.';

/** The store has checked the bytes against the digest that a human signed. */
function boundsIn(bytes: Uint8Array): GrantBounds {
  const parsed = boundsSchema.safeParse(parseJson(bytes, bytes.length));
  return parsed.success ? parsed.data : refuse('SHAPE_INVALID', 'The bytes are not the bounds of a grant.');
}

/** Says what is wrong with a value, or null. The validator is large: only who has a grant with a schema loads it. */
async function validatorOf(schema: JsonObject): Promise<CheckArguments> {
  guardPlain(schema);
  if (canonicalBytes(schema).length > mcpLimits.grant_schema_bytes)
    refuse('GRANT_BOUNDS_MALFORMED', `The schema has more than ${mcpLimits.grant_schema_bytes} bytes.`);
  if (schema.type !== 'object' || typeof schema.properties !== 'object')
    refuse('GRANT_BOUNDS_MALFORMED', 'The schema has to be of an object, with the members that it allows.');
  const [{ Ajv }, { RE2JS }] = [(await import('ajv')).default, await import('re2js')];
  let steps = 0;
  /** The agent chooses the text that a pattern is tried on: a backtracking engine can be made to hang. */
  const regExp = (pattern: string) => {
    const expression = RE2JS.compile(pattern);
    const program = expression.programSize();
    return {
      test: (text: string) => {
        steps += (text.length + 1) * program;
        if (steps > mcpLimits.grant_pattern_steps) refuse('GRANT_OUTSIDE', TOO_LARGE);
        return expression.matcher(text).find();
      },
      // The validator keeps one pattern for each of these texts.
      toString: () => pattern,
    };
  };
  try {
    const ajv = new Ajv({
      ...{ strict: true, strictRequired: false, validateFormats: false },
      code: { regExp: Object.assign(regExp, { code: 'RE2' }) },
    });
    requireHeldSchema(schema);
    const size = sizeOfSchema(schema);
    const check = ajv.compile(closedSchema(schema) as JsonObject);
    return (value) => {
      steps = 0;
      // Both are known before anything is compared: the agent chooses the one, and may have helped to write the other.
      if (size * sizeOfValue(value as Json) > mcpLimits.grant_steps) refuse('GRANT_OUTSIDE', TOO_LARGE);
      return check(value) ? null : ajv.errorsText(check.errors, { dataVar: 'arguments' });
    };
  } catch (error) {
    return refuse('GRANT_BOUNDS_MALFORMED', (error as Error).message.slice(0, 300));
  }
}
