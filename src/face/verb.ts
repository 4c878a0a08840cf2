import * as z from 'zod';
import type { AgentContext } from '../agent/context.ts';
import { guardPlain } from '../canonical/json.ts';
import { once } from '../canonical/once.ts';
import { describeIssue } from '../event/event.ts';
import type { Signer } from '../identity/act.ts';
import type { Context } from '../journey/context.ts';
import { tellingRefusal } from '../journey/observe.ts';
import { rehearsed, rehearsing } from '../journey/rehearse.ts';
import type { Config } from '../project/config.ts';
import type { Layout } from '../project/layout.ts';
import { isReasonCode, type ReasonCode, refuse } from '../refusal.ts';
import type { Telemetry } from '../telemetry.ts';
import { type Caller, contextFor, type OpenTo, OWNER } from './caller.ts';

/** What a verb works with. */
export interface OpenProject {
  readonly layout: Layout;
  readonly config: Config;
  /** In it there is only what the caller may know. */
  readonly context: Context;
  readonly caller: Caller;
  /** The agent core, opened by the first verb that needs it: it is large. */
  readonly agent: () => Promise<AgentContext>;
}

/** One thing that Keyturn does, from any entry point. */
export interface Verb<
  I extends z.ZodType = z.ZodType,
  O extends z.ZodType = z.ZodType,
  H extends object = object,
> {
  /** `read` writes nothing. `act` is signed by a human. `write` is any other change. */
  readonly kind: 'read' | 'write' | 'act';
  readonly about: string;
  readonly open_to: OpenTo;
  /** Made when they are needed: a command line that asks for one verb does not pay for the schemas of all. */
  readonly input: () => I;
  readonly output: () => O;
  /**
   * Why it can be refused beside its form, its caller and its draft: what it names is not there, or not such that this can be done now. A
   * service declares the statuses of these, and test/serve/contract.exhaustive.test.ts reaches each.
   */
  readonly refuses?: readonly ReasonCode[];
  /** What only a caller in this process can give, such as a signal: it is no JSON, and no other entry point has it. */
  readonly here: readonly (keyof H & string)[];
  run(project: OpenProject, request: Given<z.output<I>> & H): Promise<z.output<O>>;
  /** Until when an agent is answered the same while no entry comes; null for no time. Without it, each answer is made anew. */
  lasts?(answer: z.output<O>, now: Date): Date | null;
}

/** What was left out is not there, and is never there as undefined. */
type Given<T> = { [K in keyof T]: Exclude<T[K], undefined> };

type Described<I extends z.ZodType, O extends z.ZodType, H extends object> = Omit<
  Verb<I, O, H>,
  'kind' | 'here'
>;

/** The members of a request that are no JSON, by name, with their types. */
export interface Here<H extends object> {
  readonly names: readonly (keyof H & string)[];
  readonly type?: H;
}

export function here<H extends object>(...names: (keyof H & string)[]): Here<H> {
  return { names };
}

type None = Record<never, never>;

/** The request of a verb that asks for nothing. */
export const nothing = once(() => z.strictObject({}) as unknown as z.ZodType<None, None>);

const verbOf =
  (kind: 'read' | 'write') =>
  <I extends z.ZodType, O extends z.ZodType, H extends object = None>({
    here,
    input,
    output,
    ...described
  }: Described<I, O, H> & { readonly here?: Here<H> }): Verb<I, O, H> => ({
    kind,
    here: here?.names ?? [],
    input: once(input),
    output: once(output),
    ...described,
  });

export const read = verbOf('read');
export const write = verbOf('write');

/** The human who signs is given by the caller, with what else only a caller in this process has. */
export function act<I extends z.ZodType, O extends z.ZodType, H extends object = None>({
  here,
  input,
  output,
  ...described
}: Described<I, O, H & Signed> & { readonly here?: Here<H> }): Verb<I, O, H & Signed> {
  return {
    kind: 'act',
    here: ['signer', ...(here?.names ?? [])],
    input: once(input),
    output: once(output),
    ...described,
  };
}

export interface Signed {
  readonly signer: Signer;
}

type AnyVerb = Verb<z.ZodType, z.ZodType, never>;
export type Verbs = Readonly<Record<string, AnyVerb>>;

/** What a verb is asked with, and what it answers. */
export type RequestOf<V> = V extends Verb<infer I, z.ZodType, infer H> ? z.input<I> & H : never;
export type ResultOf<V> = V extends Verb<z.ZodType, infer O, never> ? z.output<O> : never;

/** A namespace of the library: one method for each verb. */
export type Methods<T extends Verbs> = {
  readonly [N in keyof T]: Record<never, never> extends RequestOf<T[N]>
    ? (request?: RequestOf<T[N]>) => Promise<ResultOf<T[N]>>
    : (request: RequestOf<T[N]>) => Promise<ResultOf<T[N]>>;
};

/** For the caller that `who` answers. */
export function methodsOf<T extends Verbs>(
  namespace: string,
  verbs: T,
  { context, ...project }: Omit<OpenProject, 'caller'>,
  telemetry: Telemetry,
  who: () => Caller | Promise<Caller> = () => OWNER,
): Methods<T> {
  const methods = Object.entries(verbs).map(([name, verb]) => [
    name,
    (request: object = {}) =>
      tellingRefusal(telemetry, `${namespace}.${name}`, async () => {
        const caller = await who();
        const { signer } = request as Partial<Signed>;
        const { is_rehearsal, earlier, drawn } = signer ?? {};
        const opened = is_rehearsal ? rehearsing(context, earlier) : context;
        const asked = openedIn({ ...project, caller, context: contextFor(opened, caller, verb, signer) });
        const parsed = requestOf(verb, request);
        const run = () => verb.run(asked, parsed as never);
        // An entry point gives a draft to a human whom it knows, and tells also what the policies say.
        return is_rehearsal && !drawn ? rehearsed(run) : run();
      }),
  ]);
  return Object.fromEntries(methods) as Methods<T>;
}

/** The agent core knows and writes what the caller may, and no more. */
function openedIn({ agent, ...project }: OpenProject): OpenProject {
  return { ...project, agent: async () => ({ ...(await agent()), journey: project.context }) };
}

/** The request as the schema has it, with what came from this process beside it. */
function requestOf({ input, here }: AnyVerb, request: object): object {
  const local: Record<string, unknown> = Object.create(null);
  const json: Record<string, unknown> = Object.create(null);
  for (const [name, value] of Object.entries(request))
    if ((here as readonly string[]).includes(name)) local[name] = value;
    // An option that a caller leaves out by its value.
    else if (value !== undefined) json[name] = value;
  // Before the schema looks: it drops a key "__proto__" in silence, and what was asked would not be what is done.
  guardPlain(json);
  const parsed = input().safeParse(json);
  if (parsed.success) return Object.assign({}, parsed.data, local);
  const { params } = parsed.error.issues[0] as { params?: { code?: string } };
  const code = params?.code ?? '';
  return isReasonCode(code)
    ? refuse(code)
    : refuse('SHAPE_INVALID', `The request is not valid: ${describeIssue(parsed.error)}`);
}
