import { codeOf } from '../../canonical/code.ts';
import { parseJson } from '../../canonical/json.ts';
import { Keyturn, parseDuration, type Request, type Result, type Signer } from '../../keyturn.ts';
import { limits } from '../../limits.ts';
import { refuse } from '../../refusal.ts';
import { ownerOf } from '../acting.ts';
import type { Answer, Call, Options } from '../answer.ts';
import { actAs, onlyHere, whoActs } from '../human.ts';
import { readInput } from '../input.ts';
import { meantBy, requireId, requireTyped } from '../operand.ts';
import { type Opened, writing } from '../project.ts';
import { fields } from '../table.ts';
import { planIn } from './plan.ts';

export function propose(call: Call): Promise<Answer> {
  const { options } = call;
  requireOneSource(options);
  // An envelope is read before the store is opened: malformed input leaves no trace.
  const envelope =
    options.envelope === undefined ? null : envelopeIn(readInput(options.envelope, limits.json_bytes));
  return writing(call, async (keyturn) => {
    const draft = (envelope ?? (await draftOf(keyturn, options))) as Request<'intents.propose'>;
    const result = await signedIn(keyturn, options, (signer) =>
      keyturn.intents.propose({ ...draft, signer }),
    );
    return { result, lines: await told(keyturn, result) };
  });
}

/** Proposes what the tool of a run declared to undo it. */
export function undo(call: Call): Promise<Answer> {
  const typed = requireId(call);
  const { goal: declared_goal, by, agentKey } = call.options;
  return writing(call, async (keyturn) => {
    const intent_id = await meantBy(keyturn, 'intent', typed);
    // It is a human who looked at what ran. An agent that undoes it says its name, or signs.
    const issuer = by ?? (agentKey === undefined ? ((await onlyHere(keyturn)) ?? undefined) : undefined);
    const result = await signedIn(keyturn, call.options, (signer) =>
      keyturn.intents.undo({ intent_id, issuer, declared_goal, signer }),
    );
    return { result, lines: await told(keyturn, result) };
  });
}

export function withdraw(call: Call): Promise<Answer> {
  const typed = requireId(call);
  const { receipt, agentKey, as } = call.options;
  const reason = call.options.reason!;
  if ([receipt, agentKey, as].filter((one) => one !== undefined).length > 1)
    refuse('USAGE', 'Name one of --receipt, --agent-key and --as.');
  return writing(call, async (keyturn) => {
    const intent_id = await meantBy(keyturn, 'intent', typed);
    const result =
      receipt === undefined
        ? await signedWithdrawal(keyturn, { intent_id, reason }, call.options)
        : await keyturn.intents.withdraw({ intent_id, reason, receipt });
    return { result, lines: [`[OK] ${result.by} withdrew ${intent_id}. That is final`] };
  });
}

async function signedWithdrawal(
  keyturn: Opened,
  request: { readonly intent_id: string; readonly reason: string },
  { agentKey, as }: Options,
) {
  if (agentKey !== undefined)
    return keyturn.intents.withdraw({ ...request, signer: await ownerOf(keyturn, agentKey) });
  return actAs(keyturn, await whoActs(keyturn, as), (signer) =>
    keyturn.intents.withdraw({ ...request, signer }),
  );
}

/** What is no object, or brings a signer of its own, is refused by the schema, as it is. */
function envelopeIn(bytes: Uint8Array): object {
  const envelope = parseJson(bytes);
  const is_object = envelope !== null && typeof envelope === 'object' && !Array.isArray(envelope);
  if (!is_object || 'signer' in envelope) refuse('SHAPE_INVALID', 'The envelope is not valid.');
  return envelope;
}

/** The proposer's own key makes the name a fact. An envelope names its proposer itself. */
async function signedIn<T>(
  keyturn: Opened,
  { agentKey, by, sign }: Options,
  propose: (signer?: Signer) => Promise<T>,
): Promise<T> {
  // A service takes the proposal of a human only with a signature. An agent that is logged in there has no key file of a human.
  const is_human_there =
    keyturn.service !== undefined && agentKey === undefined && keyturn.host.keyFiles().size > 0;
  if (sign || is_human_there) return actAs(keyturn, await whoActs(keyturn, by), propose);
  if (agentKey === undefined) return propose();
  return propose(by === undefined ? await ownerOf(keyturn, agentKey) : Keyturn.agentSigner(by, agentKey));
}

function requireOneSource(options: Options): void {
  const { tool, plan, config, envelope, arg, goal, by, ttl, replaces, idempotencyKey, agentKey, sign } =
    options;
  if ([tool, plan, envelope].filter((source) => source !== undefined).length !== 1)
    refuse('USAGE', 'Name one of --tool, --plan and --envelope.');
  if (config !== undefined && plan === undefined) refuse('USAGE', '--config goes with --plan.');
  if (plan !== undefined && arg !== undefined) refuse('USAGE', 'A plan takes no --arg.');
  if (replaces !== undefined) requireTyped(replaces);
  if (sign && agentKey !== undefined) refuse('USAGE', '--sign is for a human, --agent-key for an agent.');
  if (envelope === undefined && agentKey !== undefined && by === undefined)
    refuse('USAGE', '--agent-key signs in the name of --by: name who proposes.');
  if (
    envelope !== undefined &&
    [arg, goal, by, ttl, replaces, idempotencyKey].some((option) => option !== undefined)
  )
    refuse(
      'USAGE',
      'An envelope says everything itself: --arg, --goal, --by, --ttl, --replaces and --idempotency-key do not go with it.',
    );
}

async function draftOf(keyturn: Opened, options: Options): Promise<object> {
  const { tool = '', plan, arg = [], goal, by, ttl, replaces } = options;
  return {
    declared_goal: goal ?? (plan === undefined ? `Run ${tool}.` : `Carry out ${plan}.`),
    effect:
      plan === undefined
        ? {
            kind: 'tool',
            tool,
            ...(await keyturn.tools.arguments({ tool, texts: Object.fromEntries(pairsOf(arg)) })),
          }
        : { kind: 'plan', ...(await planIn(keyturn, plan, options)) },
    ...(by === undefined ? {} : { issuer: by }),
    ...(replaces === undefined ? {} : { replaces: await meantBy(keyturn, 'intent', replaces) }),
    ...(options.idempotencyKey === undefined ? {} : { idempotency_key: options.idempotencyKey }),
    ...(ttl === undefined ? {} : { expiry: new Date(Date.now() + parseDuration(ttl) * 1000).toISOString() }),
  };
}

export function pairsOf(words: readonly string[]): ReadonlyMap<string, string> {
  const pairs = new Map<string, string>();
  for (const word of words) {
    const equals = word.indexOf('=');
    if (equals < 1) refuse('USAGE', `"${word.slice(0, 60)}" is not name=value.`);
    const name = word.slice(0, equals);
    if (pairs.has(name)) refuse('USAGE', `The argument ${name} is given twice.`);
    pairs.set(name, word.slice(equals + 1));
  }
  return pairs;
}

async function told(keyturn: Opened, proposal: Result<'intents.propose'>): Promise<string[]> {
  const { intent_id, hash, tool, proposer, expires_at, receipt, repeated } = proposal;
  // The proposer may have asked for the same before.
  const twin = repeated ? null : (await keyturn.intents.twin({ intent_id })).intent_id;
  return [
    repeated
      ? `[OK] ${proposer} proposed ${tool} before, under the same key. It is the same intent`
      : `[OK] ${proposer} proposes ${tool}. Nothing runs until a human approves it`,
    ...fields([
      ['ID', intent_id],
      ['Hash', hash],
      ['Code', codeOf(hash)],
      ['Expires', expires_at],
      ...(twin === null
        ? []
        : [['Same as', `${twin}, which has not run: one of the two is enough`] as const]),
      ...(receipt === null ? [] : [['Receipt', `${receipt} (who has it can withdraw the intent)`] as const]),
    ]),
  ];
}
