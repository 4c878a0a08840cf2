import { parseJson } from '../../canonical/json.ts';
import { type Keyturn, parseDuration } from '../../keyturn.ts';
import { limits } from '../../limits.ts';
import { refuse } from '../../refusal.ts';
import type { Answer, Call, Options } from '../answer.ts';
import { readInput } from '../input.ts';
import { writing } from '../project.ts';
import type { Result } from '../schema.ts';
import { fields } from '../table.ts';

export function propose(call: Call): Promise<Answer> {
  const { options } = call;
  requireOneSource(options);
  // An envelope is read before the store is opened: malformed input leaves no trace.
  const envelope =
    options.envelope === undefined ? null : parseJson(readInput(options.envelope, limits.json_bytes));
  return writing(call, async (keyturn) => {
    const {
      intent_id,
      hash,
      envelope: frozen,
    } = await keyturn.propose(envelope ?? draftOf(keyturn, options));
    const result: Result<'propose'> = {
      intent_id,
      hash,
      tool: frozen.effect.tool,
      effect_digest: frozen.effect.digest,
      proposer: frozen.issuer,
      expires_at: frozen.expiry,
    };
    return { result, lines: told(result) };
  });
}

function requireOneSource({ tool, envelope, arg, goal, by, ttl }: Options): void {
  if ((tool === undefined) === (envelope === undefined)) refuse('USAGE', 'Name either --tool or --envelope.');
  if (envelope !== undefined && [arg, goal, by, ttl].some((option) => option !== undefined))
    refuse('USAGE', 'An envelope says everything itself: --arg, --goal, --by and --ttl do not go with it.');
}

function draftOf(keyturn: Keyturn, { tool = '', arg = [], goal, by, ttl }: Options): object {
  return {
    declared_goal: goal ?? `Run ${tool}.`,
    effect: { kind: 'tool', tool, arguments: keyturn.argumentsOf(tool, pairsOf(arg)) },
    ...(by === undefined ? {} : { issuer: by }),
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
