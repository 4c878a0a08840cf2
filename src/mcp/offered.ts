import type { JsonObject } from '../canonical/json.ts';
import type { Face, Request, Result } from '../keyturn.ts';
import { withoutOwnMarks } from './own-marks.ts';

export type CallEffect = Request<'mcp.call'>['effect'];
export type ClientInput = NonNullable<Extract<CallEffect, { kind: 'mcp' }>['input']>;

type Registered = Result<'tools.list'>['tools'][number];
type Gated = Result<'mcp.tools'>['tools'][number];

/** What can be called by one name, and how it is listed. */
export interface Offered {
  readonly definition: JsonObject & { readonly name: string };
  /** What a call with these arguments asks for; null for a tool of the gate itself. */
  readonly effect: ((values: JsonObject, input?: ClientInput | null) => CallEffect) | null;
  /** The server whose questions to the client are passed on, where a human accepted that. */
  readonly asks?: string | null;
  /** Its calls pass without an approval. */
  readonly is_shadow?: boolean;
}

const id = { type: 'string', description: 'The id of the intent, as the gate told it.' };

const own = (
  name: string,
  description: string,
  properties: JsonObject,
  required: readonly string[],
): Offered => ({
  definition: {
    name,
    description,
    inputSchema: { type: 'object', properties, required: [...required], additionalProperties: false },
  },
  effect: null,
});

/** The agent core: listed only where it can be asked. */
const ASK = 'keyturn_ask';

/** What the gate itself offers. */
export const OWN: readonly Offered[] = [
  own(
    'keyturn_wait',
    'Wait for the result of a call that a human has to approve. Answers within 25 seconds: with the result, with why it will not run, or that it still waits.',
    { id },
    ['id'],
  ),
  own(
    'keyturn_status',
    'What became of a call; without an id, everything of yours that waits for a human.',
    { id },
    [],
  ),
  own('keyturn_withdraw', 'Take back a call that has not run.', { id, reason: { type: 'string' } }, [
    'id',
    'reason',
  ]),
  own(
    'keyturn_plan',
    'Propose a plan of file changes that a human approves as one. It runs all or nothing, and can be rolled back.',
    {
      goal: { type: 'string', description: 'Why, in one sentence that the human reads first.' },
      plan: {
        type: 'object',
        description:
          'The plan: plan_id and action_plan, each action with action_id, action_type, target and operation.',
      },
    },
    ['goal', 'plan'],
  ),
  own(
    ASK,
    'Ask for a registered action in plain words. The answer is a question, a prompt or an outcome.',
    {
      words: { type: 'string', description: 'The words of the user, as they said them.' },
      proposal: {
        type: 'object',
        description:
          'What you take the words for: {"simulation_id": …, "fields": [{"field", "text", "start"}]}. Each text stands in the words at start. It is checked, and the user is always asked for a yes.',
      },
    },
    ['words'],
  ),
];

/** Everything that this caller can call, by name. A name of the gate or of the registry is never taken by a server. */
export function offeredFrom(
  registered: readonly Registered[],
  gated: Result<'mcp.tools'>,
  { can_ask }: { readonly can_ask: boolean },
): ReadonlyMap<string, Offered> {
  const found = new Map<string, Offered>();
  for (const tool of gated.tools) found.set(tool.called, ofServer(tool, gated.passes));
  for (const tool of registered) found.set(tool.name, ofRegistry(tool));
  for (const one of OWN) found.set(one.definition.name, one);
  if (!can_ask) found.delete(ASK);
  return found;
}

/** The tools of servers that cannot be called, because a tool of the registry or of the gate has their name. */
export function hiddenTools(registered: readonly Registered[], { tools }: Result<'mcp.tools'>): string[] {
  const taken = new Set([...registered, ...OWN.map(({ definition }) => definition)].map(({ name }) => name));
  return tools.map(({ called }) => called).filter((called) => taken.has(called));
}

/** The same of one name. */
export async function offeredAs(face: Face, name: string): Promise<Offered | undefined> {
  const own = OWN.find(({ definition }) => definition.name === name);
  if (own) return own;
  const registered = (await face.tools.list()).tools.find((tool) => tool.name === name);
  if (registered) return ofRegistry(registered);
  const { tools, passes } = await face.mcp.tools();
  const gated = tools.find(({ called }) => called === name);
  return gated && ofServer(gated, passes);
}

function ofServer(
  { called, server, tool, mode, definition }: Gated,
  passes: Result<'mcp.tools'>['passes'],
): Offered {
  const is_asking = passes.some((one) => one.server === server && one.pass.includes('input'));
  return {
    definition: { ...withoutOwnMarks(definition as JsonObject), name: called },
    is_shadow: mode === 'shadow',
    asks: is_asking ? server : null,
    effect: (values, input) => ({
      ...{ kind: 'mcp', server, tool, arguments: values },
      ...(input && is_asking && { input }),
    }),
  };
}

function ofRegistry(tool: Registered): Offered {
  return {
    definition: definitionOf(tool),
    effect: (values) => ({ kind: 'tool', tool: tool.name, arguments: values }),
  };
}

function definitionOf({ name, summary, undo, parameters }: Registered): Offered['definition'] {
  const required = Object.entries(parameters).filter(([, one]) => one.required && one.default === undefined);
  return {
    name,
    description: `${summary} A human approves each call. Undo: ${undo}.`,
    inputSchema: {
      type: 'object',
      properties: Object.fromEntries(Object.entries(parameters).map(([key, one]) => [key, schemaOf(one)])),
      required: required.map(([key]) => key),
      additionalProperties: false,
    },
  };
}

const TYPES = {
  string: 'string',
  path: 'string',
  integer: 'integer',
  number: 'number',
  boolean: 'boolean',
} as const;

function schemaOf({
  type,
  description,
  enum: some,
  min,
  max,
  min_length,
  max_length,
}: Registered['parameters'][string]): JsonObject {
  return {
    ...(type === 'list' ? { type: 'array', items: { type: 'string' } } : { type: TYPES[type] }),
    ...(description !== undefined && { description }),
    ...(some && { enum: [...some] }),
    ...numbers({ minimum: min, maximum: max, minLength: min_length, maxLength: max_length }),
  };
}

function numbers(found: Readonly<Record<string, unknown>>): JsonObject {
  return Object.fromEntries(
    Object.entries(found).filter(([, value]) => typeof value === 'number'),
  ) as JsonObject;
}
