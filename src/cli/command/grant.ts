import { codeOf } from '../../canonical/code.ts';
import { visible } from '../../canonical/visible.ts';
import {
  type Request as Asked,
  type Result as Found,
  type IntentState,
  onlyKeyOf,
  parseDuration,
  type Signer,
} from '../../keyturn.ts';
import { refuse } from '../../refusal.ts';
import { delegateOf, namesDelegate } from '../acting.ts';
import type { Answer, Call, Options } from '../answer.ts';
import {
  BREAK_GLASS_LINE,
  conditionFields,
  conditionWords,
  plainScope,
  scopeWords,
} from '../capability-lines.ts';
import { drawAlarms, headlineOf } from '../draw.ts';
import { type Field, fieldLines } from '../fold.ts';
import { actAs, whoActs } from '../human.ts';
import { writeSecret } from '../input.ts';
import { meantBy, requireId } from '../operand.ts';
import { painter, stdoutPainter } from '../paint.ts';
import { nextAt, type Opened, writing } from '../project.ts';
import type { MadeHere } from '../schema.ts';
import { fields } from '../table.ts';
import { conditionsOf, publicKeyIn, scopeOf } from '../terms.ts';

type GrantRequest = Asked<'intents.grant'>;
type Granted = Found<'intents.grant'>;
type Offer = Found<'intents.offer'>;
/** What is asked for, without who asks and for which intent. */
type Terms = Pick<
  GrantRequest,
  'action' | 'scope' | 'tool_category' | 'conditions' | 'ttl_s' | 'audience' | 'holder' | 'is_issued'
>;

/** Steps 3 and 4 of 002: a request that names what it wants, and a capability or a denial. */
export function grant(call: Call): Promise<Answer> {
  const typed = requireId(call);
  const { options } = call;
  const wanted = termsIn(options);
  namesDelegate(options);
  return writing(call, async (keyturn) => {
    const intent_id = await meantBy(keyturn, 'intent', typed);
    const { hash, effect } = await keyturn.intents.get({ intent_id });
    const is_issued = options.out !== undefined;
    const terms = { ...wanted, is_issued, ...(await holderIn(keyturn, options.holder)) };
    const delegate = await delegateOf(keyturn, options);
    const by = delegate?.signer.name ?? (await whoActs(keyturn, options.as));
    requireItsPaths(effect, terms);
    const offer = await keyturn.intents.offer({ intent_id, hash, by, ...terms });
    const { attempt, effect_digest } = offer.intent;
    const ask = (signer: Signer) =>
      keyturn.intents.grant({
        ...terms,
        intent_id,
        hash,
        shown: { attempt, effect_digest },
        signer,
        ...(delegate && { delegation: delegate.delegation }),
      });
    const issue = () =>
      delegate
        ? ask(delegate.signer)
        : actAs(keyturn, by, ask, (columns) => grantScreen(offer, terms, options, columns));
    const result = await kept(options.out, issue);
    const here: MadeHere<'grant'> = { file: options.out ?? null };
    return { result, here, lines: grantedLines(keyturn, result, here) };
  });
}

function termsIn(options: Options): Terms {
  const { action = [], category, audience } = options;
  if (action.length > 1) refuse('USAGE', 'A capability is for one action: name one.');
  const scope = scopeOf(options.scope);
  const conditions = conditionsOf(options.condition);
  return {
    ...(action[0] === undefined ? {} : { action: action[0] }),
    ...(scope && { scope }),
    ...(conditions && { conditions }),
    ...(category === undefined ? {} : { tool_category: category }),
    ...(audience === undefined ? {} : { audience }),
    ...(options.ttl === undefined ? {} : { ttl_s: parseDuration(options.ttl) }),
  };
}

/** An enrolled agent, or a key. A human's key is locked away and cannot be shown at a run. */
async function holderIn(keyturn: Opened, who: string | undefined): Promise<Pick<Terms, 'holder'>> {
  if (who === undefined) return {};
  const typed = publicKeyIn(who);
  if (typed !== null) return { holder: typed };
  const found = (await keyturn.people.list()).principals.find(({ name }) => name === who);
  if (!found) refuse('PRINCIPAL_UNKNOWN', `"${who.slice(0, 64)}" is not enrolled, and not a public key.`);
  if (found.kind !== 'agent')
    refuse('USAGE', `"${who}" is a human. A capability is bound to an agent's key.`);
  if (found.status === 'revoked') refuse('KEY_REVOKED', `"${who}" was revoked.`);
  return { holder: onlyKeyOf(found) };
}

/** A tool has the paths of the machine, a plan those of the project. Which one was meant is not guessed. */
function requireItsPaths(effect: IntentState['effect'], { scope }: Terms): void {
  const paths = [...(scope?.read ?? []), ...(scope?.write ?? [])];
  const odd = paths.find((path) => path.startsWith('/') !== (effect === 'tool'));
  if (odd === undefined) return;
  const wanted = effect === 'tool' ? 'absolute paths for a tool' : 'paths of the project for a plan';
  refuse('USAGE', `"${visible(odd)}" is no such path: --scope takes ${wanted}.`);
}

/** The capability goes to the file that was asked for, and is not printed. */
async function kept(out: string | undefined, issue: () => Promise<Granted>): Promise<Granted> {
  if (out === undefined) return issue();
  return writeSecret(out, async () => {
    const granted = await issue();
    return [`${granted.token!}\n`, { ...granted, token: null }];
  });
}

/** On the terminal, before the passphrase: what exactly is about to be allowed. */
function grantScreen(offer: Offer, terms: Terms, options: Options, columns: number): string[] {
  const { intent, needs, audience, ttl_s } = offer;
  const drawing = { paint: painter(true), columns };
  const found: Field[] = [
    ['Grant', [['bold', terms.action ?? intent.actions.join(' or ')]]],
    headlineOf(offer.shown),
    ['Scope', scopeWords(terms.scope ?? needs)],
    ...conditionFields(terms.conditions),
    ...(terms.tool_category === undefined ? [] : ([['Category', visible(terms.tool_category)]] as const)),
    ['Lives', `${terms.ttl_s ?? ttl_s} s, for one run`],
    ['For', visible(terms.audience ?? audience)],
    ['Holder', terms.holder === undefined ? 'any bearer' : visible(options.holder ?? terms.holder)],
    ['Intent', intent.intent_id],
    ['Hash', [['dim', intent.hash]]],
    ['Code', codeOf(intent.hash)],
  ];
  const loud =
    new Set(intent.break_glass.map(({ by }) => by)).size > 1
      ? [drawing.paint('alarm', BREAK_GLASS_LINE)]
      : [];
  return [...loud, ...drawAlarms(offer.shown.alarms, drawing), ...fieldLines(found, drawing)];
}

function grantedLines(keyturn: Opened, result: Granted, { file }: MadeHere<'grant'>): string[] {
  const { break_glass, issued } = result;
  return [
    ...(break_glass ? [stdoutPainter()('alarm', BREAK_GLASS_LINE)] : []),
    ...orderLines(result, issued, [
      ...(file === null ? [] : ([['File', visible(file)]] as const)),
      ['Next', afterGrant(keyturn, { ...result, file })],
    ]),
  ];
}

/** At a service its executors run what was ordered. What needs the file or the key of a holder is run by hand, on a host. */
function afterGrant(
  keyturn: Opened,
  { intent_id, hash, file, holder }: Pick<Granted, 'intent_id' | 'hash' | 'holder'> & MadeHere<'grant'>,
): string {
  const is_by_hand = file !== null || holder !== null;
  if (keyturn.service !== undefined && !is_by_hand) return nextAt(keyturn, `keyturn wait ${intent_id}`);
  const words = [
    `keyturn run ${intent_id} ${hash}`,
    ...(file === null ? [] : [`--capability ${visible(file)}`]),
    ...(holder === null ? [] : ['--holder-key FILE']),
  ].join(' ');
  return keyturn.service === undefined ? words : `on the host: ${words}`;
}

/** What was ordered: how far it reaches and until when. */
export function orderLines(
  order: Omit<Found<'intents.turn'>, 'approved_until'>,
  issued: boolean,
  more: readonly (readonly [string, string])[],
): string[] {
  const { by, action, capability_id, scope, conditions, lapses_at, expires_at } = order;
  const only_if = conditionWords(conditions);
  return [
    `[OK] ${by} ${issued ? 'granted a capability for' : 'ordered one run of'} ${visible(action)}`,
    ...fields([
      ['Capability', capability_id],
      ['Scope', plainScope(scope)],
      ...(only_if === '' ? [] : ([['Only if', only_if]] as const)),
      ...(issued ? [] : ([['Begin by', lapses_at]] as const)),
      ['Until', expires_at],
      ...more,
    ]),
  ];
}
