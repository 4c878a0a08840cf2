import { Keyturn } from '../../src/keyturn.ts';
import { Refusal } from '../../src/refusal.ts';

/**
 * `npm run findings` runs tests of today over older trees. One from before the namespaces has flat methods: here they get the names of
 * today. A tree of today has the namespaces itself, and this is never asked.
 */
type Flat = Readonly<Record<string, (...given: unknown[]) => Promise<unknown>>>;
type Method = (request?: never) => unknown;

function intentsOf(keyturn: Flat): object {
  const flat = (name: string) => keyturn[name]!;
  const about = (name: string) => (request: { intent_id: string }) => flat(name)(request.intent_id);
  const listed = async ({ status_word, ...page }: { status_word?: string }) => {
    const status = status_word === 'waiting' ? 'proposed' : status_word;
    return { intents: await flat('list')({ ...page, ...(status && { status }) }), next: null };
  };
  return {
    propose: ({ signer, ...draft }: { signer?: unknown }) => flat('propose')(draft, signer),
    get: about('intent'),
    result: about('result'),
    list: listed,
    withdraw: flat('withdraw'),
    approve: flat('approve'),
    reject: flat('reject'),
  };
}

/** What an older run printed is bytes. */
const textOf = (printed: { readonly bytes: Uint8Array }) => Buffer.from(printed.bytes).toString('utf8');

interface OlderRun {
  readonly capability?: string;
  readonly holder_key?: unknown;
}

/** The journey was flat longer than the rest; a capability was presented with the key of its holder. */
function journeyOf(keyturn: Flat): { readonly intents: object; readonly runs: object } {
  const flat = (name: string) => keyturn[name]!;
  const presented =
    (name: string) =>
    ({ capability: text, holder_key: holder, ...asked }: OlderRun) =>
      flat(name)({ ...asked, capability: { ...(text && { text }), ...(holder ? { holder } : {}) } });
  const reviewed = async (found: Promise<unknown>) => {
    const { state, ...seen } = (await found) as { state: object };
    return { ...seen, intent: state };
  };
  const ordered = (name: string) => async (request: object) => {
    const given = (await flat(name)(request)) as {
      ordered?: { body: { order_id: string } };
      issued?: unknown;
    };
    const { body } = (given.ordered ?? given.issued ?? { body: {} }) as { body: Record<string, unknown> };
    return { ...given, ...body, capability_id: body.order_id ?? body.capability_id };
  };
  const intents = {
    review: ({ intent_id }: { intent_id: string }) => reviewed(flat('review')(intent_id)),
    check: ({ intent_id, hash }: { intent_id: string; hash: string }) => flat('check')(intent_id, hash),
    submit: (request: object) => flat('submit')(request).then(facts),
    offer: (request: object) => reviewed(flat('offer')(request)),
    grant: ordered('grant'),
    turn: ordered('turn'),
  };
  const runs = {
    ...(keyturn.look && { look: presented('look') }),
    preview: presented('preview'),
    run: async (request: OlderRun) => {
      const report = (await presented('run')(request)) as { stdout: never; stderr: never };
      return { ...report, stdout: textOf(report.stdout), stderr: textOf(report.stderr) };
    },
  };
  return { intents, runs };
}

/** What an older method answered, as the verb of today has it. */
const facts = (answer: unknown): unknown => {
  if (typeof answer !== 'object' || answer === null || !('body' in answer && 'subject' in answer))
    return answer;
  return { ...answer, ...(answer.body as object), delegation_id: answer.subject };
};

interface Older {
  readonly name?: string;
  /** The member of today's answer that is the older answer. */
  readonly wrapped?: string;
  /** The members of today's request that were given by position; what else there is came last. */
  readonly given?: readonly string[];
}

/** Where the older method had another name, another answer, or no request. */
const OLDER: Readonly<Record<string, Older>> = {
  'people.list': { name: 'principals', wrapped: 'principals' },
  'people.credentials': { wrapped: 'credentials', given: ['name'] },
  'agents.delegations': { wrapped: 'delegations' },
  'system.get': { name: 'system' },
  'system.checkClock': { wrapped: 'newest' },
  'system.leftovers': { wrapped: 'files' },
  'policies.check': { name: 'checkPolicies', wrapped: 'problems' },
  'policies.test': { name: 'testPolicies', wrapped: 'tests' },
  'policies.files': { name: 'policyFiles' },
  'policies.diff': { name: 'diffPolicies', given: ['recent'] },
  'policies.activate': { name: 'activatePolicies' },
  'plans.read': { name: 'readPlan' },
  'plans.validate': { name: 'validatePlan' },
  'plans.preview': { name: 'previewPlan', given: ['spec'] },
  'plans.report': { name: 'reportPlan', given: ['execution_id'] },
  'plans.previewRollback': { given: ['run'] },
  'runs.inDoubt': { wrapped: 'runs' },
  'runs.replay': { given: ['execution_id'] },
};

function namespaceOf(keyturn: Flat, namespace: string): object {
  const flat = { ...keyturn };
  return new Proxy({} as Record<string, Method>, {
    get: (own, verb: string) => {
      if (Object.hasOwn(own, verb)) return own[verb];
      const { name = verb, wrapped, given } = OLDER[`${namespace}.${verb}`] ?? {};
      const method = flat[name];
      if (typeof method !== 'function') return undefined;
      return async (request?: Record<string, unknown>) => {
        const answer = facts(await method(...positional(request, given)));
        return wrapped === undefined ? answer : { [wrapped]: answer };
      };
    },
  });
}

function positional(
  request: Record<string, unknown> | undefined,
  given: readonly string[] | undefined,
): unknown[] {
  if (request === undefined) return [];
  if (given === undefined) return [request];
  const rest = Object.entries(request).filter(([name]) => !given.includes(name));
  return [...given.map((name) => request[name]), ...(rest.length > 0 ? [Object.fromEntries(rest)] : [])];
}

/** The agent core had groups with other names, whose methods took an id where a verb of today takes a request. */
function agentOf(keyturn: Record<string, Flat>): object {
  const by_id = (name: string) => (request: { correlation_id: string }) =>
    keyturn.agent![name]!(request.correlation_id);
  const status = async (request: { correlation_id: string }) => {
    const told = (await by_id('status')(request)) as { state: object; ledger: object };
    return { ...told.state, moves: told.ledger };
  };
  return { ...keyturn.agent, get: keyturn.agent?.now, replay: by_id('replay'), status };
}

const NAMESPACES = ['plans', 'runs', 'people', 'agents', 'policies', 'tools', 'system'];

const open = Keyturn.open;
Keyturn.open = async (options) => {
  const keyturn = await open.call(Keyturn, options);
  if (!Object.hasOwn(keyturn, 'host')) Object.assign(keyturn, { host: keyturn });
  if (Object.hasOwn(keyturn.intents ?? {}, 'grant')) return keyturn;
  const flat = keyturn as unknown as Flat;
  const journey = journeyOf(flat);
  if (Object.hasOwn(keyturn, 'people')) {
    Object.assign(keyturn.intents, journey.intents);
    Object.assign(keyturn.runs, journey.runs);
    return keyturn;
  }
  const namespaces = NAMESPACES.map((name) => [name, namespaceOf(flat, name)] as const);
  const intents = Object.hasOwn(keyturn, 'intents') ? keyturn.intents : intentsOf(flat);
  const all = Object.fromEntries(namespaces);
  const conversations = agentOf(keyturn as unknown as Record<string, Flat>);
  const runs = Object.assign(all.runs!, journey.runs);
  return Object.assign(keyturn, {
    ...all,
    runs,
    conversations,
    intents: Object.assign(intents, journey.intents),
  });
};

if (!Object.hasOwn(new Refusal('INTERNAL'), 'facts'))
  Object.defineProperty(Refusal.prototype, 'facts', {
    get(this: { readonly details: object }) {
      return this.details;
    },
  });
