import { randomBytes } from 'node:crypto';
import { sha256 } from '../canonical/digest.ts';
import { canonicalBytes, type JsonObject } from '../canonical/json.ts';
import type { Body, Event } from '../event/event.ts';
import { freezeOf, freezeWords } from '../gate/freeze.ts';
import type { Principal } from '../identity/principal.ts';
import { recordOf, sealDecision } from '../policy/replay.ts';
import { BLANK, type PolicyCall, type PolicyRequest, timeContext } from '../policy/request.ts';
import { type ReasonCode, refuse } from '../refusal.ts';
import { type Context, humansNow, requireClock } from './context.ts';
import { isReadable, paceOf } from './rules.ts';

/** A tool that the program of an agent has itself, and would run itself. */
export interface ClientCall {
  readonly issuer: string;
  readonly client: Body<'call.passed'>['client'];
  readonly tool: string;
  readonly arguments: JsonObject;
}

/** What the policies say to it. */
export interface ClientCallAnswer {
  readonly allowed: boolean;
  readonly code: ReasonCode | null;
  readonly words: string;
}

/**
 * Asks the active policies whether a client may run a tool of its own, and records the answer before it is given. It is no approval and no
 * run: what the client does then, nothing here knows.
 */
export async function judgeClientCall(context: Context, call: ClientCall): Promise<ClientCallAnswer> {
  const { issuer: by, client, tool } = call;
  const now = await requireClock(context);
  const { store } = context;
  const principal = (await store.find('principal', by)) ?? refuse('PRINCIPAL_UNKNOWN');
  if (principal.status !== 'active') refuse('KEY_REVOKED');
  const object = canonicalBytes({
    format: 'keyturn-client-call/1',
    client,
    tool,
    arguments: call.arguments,
    // Without it a short command could be found from its digest after it was erased.
    nonce: randomBytes(16).toString('base64'),
  });
  const subject = `client:${by}`;
  const facts = { by, client, tool, call: sha256(object) };
  const system = await store.system();
  const frozen = freezeOf(system.freezes, { tenant: store.tenant, agents: [by], tools: [tool] });
  const blocked = async (reason_code: ReasonCode, words: string, decision: Digested | null) => {
    const body = { ...facts, reason_code, decision: decision?.digest ?? null };
    await recorded(context, { kind: 'call.blocked', subject, body }, object, decision);
    return { allowed: false, code: reason_code, words };
  };
  if (frozen) return blocked('FROZEN', freezeWords(frozen), null);
  const engine = await context.rules(system.policy ?? refuse('POLICY_MISSING'));
  const request = await requestOf(context, principal, call, now);
  const decision = engine.decide(request);
  const nonce = randomBytes(16).toString('base64');
  const sealed = sealDecision(recordOf(engine, request, decision, { subject, nonce }));
  if (decision.code !== null) return blocked(decision.code, decision.words, sealed);
  const body = { ...facts, decision: sealed.digest };
  await recorded(context, { kind: 'call.passed', subject, body }, object, sealed);
  return { allowed: true, code: null, words: decision.words };
}

type Digested = ReturnType<typeof sealDecision>;

async function recorded(
  { store }: Context,
  event: Event,
  object: Uint8Array,
  decision: Digested | null,
): Promise<void> {
  await store.commit({ events: [event], objects: [object, ...(decision ? [decision.bytes] : [])] });
}

async function requestOf(
  context: Context,
  { kind, name, roles, enrolled_by }: Principal,
  { client, tool, arguments: given }: ClientCall,
  now: Date,
): Promise<PolicyRequest> {
  const called = calledTool(client, tool);
  const values = Object.entries(given).filter(([, value]) => isReadable(value));
  return {
    action: 'pass',
    principal: { kind, name, roles, enrolled_by },
    resource: {
      kind: 'client',
      name: called,
      sandboxed: false,
      network: true,
      writes: [],
      protected: [],
      undo: 'none',
      elevated: false,
      tools: [called],
      categories: [],
    },
    context: {
      goal: '',
      action: `client:${called}`,
      ...BLANK,
      requested_actions: [`client:${called}`],
      calls: [{ tool: called, arguments: Object.fromEntries(values) as PolicyCall['arguments'] }],
      server: client,
      tool,
      proposer: name,
      proposer_kind: kind,
      unconfined: true,
      environment: context.environment,
      humans: await humansNow(context),
      ...timeContext(now),
      ...(await paceOf(context, name, now)),
    },
  };
}

/** As policies name it: `claude-code.bash`. */
function calledTool(client: string, tool: string): string {
  const small = tool.toLowerCase().replace(/[^a-z0-9._-]/g, '_');
  return `${client}.${small}`;
}
