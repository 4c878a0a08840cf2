import { visible } from '../../canonical/visible.ts';
import { attenuate as attenuateCapability, type Narrower, openChain, parseDuration } from '../../keyturn.ts';
import { refuse } from '../../refusal.ts';
import type { Answer, Call, Options } from '../answer.ts';
import { conditionWords, plainScope } from '../capability-lines.ts';
import { writeSecret } from '../input.ts';
import { readCapability, readHolderKey } from '../presented.ts';
import type { Result } from '../schema.ts';
import { fields } from '../table.ts';
import { conditionsOf, publicKeyIn, scopeOf } from '../terms.ts';

/** Makes a capability narrower for another holder. Needs no project and no control plane, only the holder's key. */
export async function attenuate(call: Call): Promise<Answer> {
  const { options } = call;
  const now = new Date();
  const narrower = narrowerIn(options, now);
  const text = readCapability(options.capability!);
  const holder = readHolderKey(options.holderKey!);
  const file = options.out!;
  const result = await writeSecret(file, async () => {
    const narrow = attenuateCapability(text, holder, narrower, now);
    return [`${narrow}\n`, toldOf(narrow, file)];
  });
  return { result, lines: toldLines(result) };
}

function narrowerIn(options: Options, now: Date): Narrower {
  const { scope, condition, ttl, holder } = options;
  if ([scope, condition, ttl, holder].every((option) => option === undefined))
    refuse('USAGE', 'Say what shall be less: --scope, --condition, --ttl or --holder.');
  return {
    scope: scopeOf(scope),
    conditions: conditionsOf(condition),
    expires_at: ttl === undefined ? undefined : endOf(parseDuration(ttl), now),
    holder: holder === undefined ? undefined : keyOf(holder),
  };
}

function keyOf(text: string): string {
  return publicKeyIn(text) ?? refuse('USAGE', '--holder takes the public key of who shall present it.');
}

/** Whole seconds, because a token knows no smaller ones. */
function endOf(ttl_s: number, now: Date): string {
  return new Date((Math.floor(now.getTime() / 1000) + ttl_s) * 1000).toISOString();
}

/** That the control plane signed it is the executor's to verify. */
function toldOf(text: string, file: string): Result<'attenuate'> {
  const { claims, depth } = openChain(text, null);
  const { jti: capability_id, intent_id, action, conditions, holder, expires_at } = claims;
  return {
    capability_id,
    intent_id,
    action,
    scope: claims.scope,
    conditions,
    holder,
    expires_at,
    depth,
    file,
  };
}

function toldLines(result: Result<'attenuate'>): string[] {
  const only_if = conditionWords(result.conditions);
  return [
    '[OK] The capability is narrower',
    ...fields([
      ['Capability', result.capability_id],
      ['Action', visible(result.action)],
      ['Scope', plainScope(result.scope)],
      ...(only_if === '' ? [] : ([['Only if', only_if]] as const)),
      ['Until', result.expires_at],
      ['Holder', result.holder ?? 'any bearer'],
      ['File', visible(result.file)],
    ]),
  ];
}
