import { parseJson } from '../../canonical/json.ts';
import { isUuid } from '../../canonical/uuid.ts';
import { Keyturn, type Proposal, parseDuration, type Signer } from '../../keyturn.ts';
import { limits } from '../../limits.ts';
import { refuse } from '../../refusal.ts';
import { ownerOf } from '../acting.ts';
import type { Answer, Call, Options } from '../answer.ts';
import { actAs, whoActs } from '../human.ts';
import { readInput } from '../input.ts';
import { writing } from '../project.ts';
import type { Result } from '../schema.ts';
import { fields } from '../table.ts';
import { planFrom } from './plan.ts';

export function propose(call: Call): Promise<Answer> {
  const { options } = call;
  requireOneSource(options);
  // An envelope is read before the store is opened: malformed input leaves no trace.
  const envelope =
    options.envelope === undefined ? null : parseJson(readInput(options.envelope, limits.json_bytes));
  return writing(call, async (keyturn) => {
    const draft = envelope ?? (await draftOf(keyturn, options));
    const signer = await signerIn(keyturn, options);
    const { intent_id, hash, envelope: frozen } = await keyturn.propose(draft, signer);
    const result: Result<'propose'> = {
      intent_id,
      hash,
      tool: nameOf(frozen.effect),
      effect_digest: frozen.effect.digest,
      proposer: frozen.issuer,
      signed: signer !== undefined,
      replaces: frozen.replaces,
      expires_at: frozen.expiry,
    };
    return { result, lines: told(result) };
  });
}

function nameOf(effect: Proposal['envelope']['effect']): string {
  return effect.kind === 'tool' ? effect.tool : String(effect.plan.plan_id);
}

/** The proposer's own key makes the name a fact. An envelope names its proposer itself. */
async function signerIn(keyturn: Keyturn, { agentKey, by, sign }: Options): Promise<Signer | undefined> {
  if (sign) return actAs(keyturn, await whoActs(keyturn, by), async (signer) => signer);
  if (agentKey === undefined) return undefined;
  return by === undefined ? ownerOf(keyturn, agentKey) : Keyturn.agentSigner(by, agentKey);
}

function requireOneSource(options: Options): void {
  const { tool, plan, config, envelope, arg, goal, by, ttl, replaces, agentKey, sign } = options;
  if ([tool, plan, envelope].filter((source) => source !== undefined).length !== 1)
    refuse('USAGE', 'Name one of --tool, --plan and --envelope.');
  if (config !== undefined && plan === undefined) refuse('USAGE', '--config goes with --plan.');
  if (plan !== undefined && arg !== undefined) refuse('USAGE', 'A plan takes no --arg.');
  if (replaces !== undefined && !isUuid(replaces)) refuse('ID_MALFORMED');
  if (sign && agentKey !== undefined) refuse('USAGE', '--sign is for a human, --agent-key for an agent.');
  if (envelope === undefined && agentKey !== undefined && by === undefined)
    refuse('USAGE', '--agent-key signs in the name of --by: name who proposes.');
  if (envelope !== undefined && [arg, goal, by, ttl, replaces].some((option) => option !== undefined))
    refuse(
      'USAGE',
      'An envelope says everything itself: --arg, --goal, --by, --ttl and --replaces do not go with it.',
    );
}

async function draftOf(keyturn: Keyturn, options: Options): Promise<object> {
  const { tool = '', plan, arg = [], goal, by, ttl, replaces } = options;
  return {
    declared_goal: goal ?? (plan === undefined ? `Run ${tool}.` : `Carry out ${plan}.`),
    effect:
      plan === undefined
        ? { kind: 'tool', tool, arguments: keyturn.argumentsOf(tool, pairsOf(arg)) }
        : { kind: 'plan', ...(await planFrom(keyturn, plan, options)) },
    ...(by === undefined ? {} : { issuer: by }),
    ...(replaces === undefined ? {} : { replaces }),
    ...(ttl === undefined ? {} : { expiry: new Date(Date.now() + parseDuration(ttl) * 1000).toISOString() }),
  };
}

function pairsOf(words: readonly string[]): ReadonlyMap<string, string> {
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

function told({ intent_id, hash, tool, proposer, expires_at }: Result<'propose'>): string[] {
  return [
    `[OK] ${proposer} proposes ${tool}. Nothing runs until a human approves it`,
    ...fields([
      ['ID', intent_id],
      ['Hash', hash],
      ['Expires', expires_at],
    ]),
  ];
}
