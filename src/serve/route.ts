import * as z from 'zod';
import { once } from '../canonical/once.ts';
import type { Verb } from '../face/verb.ts';
import { VERBS } from '../face/verbs.ts';
import { HOST_ONLY } from './host-only.ts';

/** As much of a JSON Schema as the rules of the service look at. */
export interface Schema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly [more: string]: unknown;
}

/** One verb at its path. */
export interface Route {
  readonly path: string;
  readonly namespace: string;
  readonly name: string;
  readonly verb: Verb;
  /** A human signs it: without a proof it answers a draft. */
  readonly is_act: boolean;
  /** It writes nothing but that it refused, so a human may ask without a proof, and then it writes nothing. */
  readonly is_look: boolean;
  /** The words of a user. A human says them in a request that their key signed, and in no other name. */
  readonly is_said: boolean;
  /** It leaves no entry, so there is nothing to draw up: a human asks for it in a request that their key signed. */
  readonly is_proven: boolean;
  /** It gives its caller bytes as they come: they are the answer. */
  readonly is_streamed: boolean;
  /** The members of the request, where all are plain enough for a query; null where only a body can hold them. */
  readonly query: () => Readonly<Record<string, Schema>> | null;
  readonly members: () => Readonly<Record<string, Schema>>;
}

/** What a human looks at before an act, and what records a refusal for who opened the project. */
const LOOKS: ReadonlySet<string> = new Set(['intents.offer']);

/** What goes on with a conversation. It approves nothing: what runs on a yes, a human activated before. */
const SAID: ReadonlySet<string> = new Set([
  ...['ask', 'answer', 'confirm', 'resume', 'undo', 'dispatch'].map((name) => `conversations.${name}`),
  // What a user is told once, only that user asks for.
  'simulations.news',
]);

/** What makes files of the project again that the ledger tells of, and replaces none. */
const PROVEN: ReadonlySet<string> = new Set(['plans.report']);

/** Every verb that is offered over HTTP, from the table. */
export function routesOf(): Route[] {
  return Object.entries(VERBS).flatMap(([namespace, verbs]) =>
    Object.entries(verbs as Record<string, Verb>)
      .filter(([name]) => !Object.hasOwn(HOST_ONLY, `${namespace}.${name}`))
      .map(([name, verb]) => routeOf(namespace, name, verb)),
  );
}

function routeOf(namespace: string, name: string, verb: Verb): Route {
  const members = once(() =>
    membersOf(z.toJSONSchema(verb.input(), { unrepresentable: 'any', io: 'input' }) as Schema),
  );
  const is_said = SAID.has(`${namespace}.${name}`);
  const is_streamed = (verb.here as readonly string[]).includes('to');
  const is_query = () => verb.kind === 'read' && !is_streamed && Object.values(members()).every(isPlain);
  return {
    path: `/v1/${namespace}/${name}`,
    namespace,
    name,
    verb,
    is_act:
      verb.kind === 'act' || (verb.kind === 'write' && (verb.here as readonly string[]).includes('signer')),
    is_look: LOOKS.has(`${namespace}.${name}`),
    is_said,
    is_proven: is_said || PROVEN.has(`${namespace}.${name}`),
    is_streamed,
    members,
    query: once(() => (is_query() ? members() : null)),
  };
}

/** A member that refers to a schema with a name of its own is what that says. */
function membersOf({ properties = {}, $defs = {} }: Schema): Record<string, Schema> {
  const named = $defs as Readonly<Record<string, Schema>>;
  const found = Object.entries(properties).map(([name, { $ref, ...schema }]) => [
    name,
    typeof $ref === 'string' ? named[$ref.replace('#/$defs/', '')] : schema,
  ]);
  return Object.fromEntries(found);
}

const PLAIN: ReadonlySet<string> = new Set(['string', 'number', 'integer', 'boolean']);

function isPlain({ type, enum: some }: Schema): boolean {
  return PLAIN.has(type ?? (some?.every((one) => typeof one === 'string') ? 'string' : ''));
}
