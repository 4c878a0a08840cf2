import { codeOf } from '../../canonical/code.ts';
import type { JsonObject } from '../../canonical/json.ts';
import { parseDuration, type Request, type Result } from '../../keyturn.ts';
import { refuse } from '../../refusal.ts';
import type { Answer, Call, Options } from '../answer.ts';
import { edited } from '../editor.ts';
import { actAs, possible, whoActs } from '../human.ts';
import { meantBy, requireId } from '../operand.ts';
import { nextAt, type Opened, writing } from '../project.ts';
import { fields } from '../table.ts';
import { planIn } from './plan.ts';
import { pairsOf } from './propose.ts';

/** A human proposes something else in the place of a proposal, in their own name. */
export function edit(call: Call): Promise<Answer> {
  const typed = requireId(call);
  const { arg, plan, config, ttl, as } = call.options;
  if (plan !== undefined && arg !== undefined) refuse('USAGE', 'A plan takes no --arg.');
  if (config !== undefined && plan === undefined) refuse('USAGE', '--config goes with --plan.');
  const ttl_s = ttl === undefined ? null : parseDuration(ttl);
  return writing(call, async (keyturn) => {
    const intent_id = await meantBy(keyturn, 'intent', typed);
    const name = await whoActs(keyturn, as);
    const seen = await keyturn.intents.review({ intent_id });
    const requestOf = (changes: Changes): Edit => ({
      intent_id,
      ...changes,
      ...(ttl_s !== null && { expiry: new Date(Date.now() + ttl_s * 1000).toISOString() }),
    });
    const rehearse = (changes: Changes) =>
      possible(keyturn, name, (signer) => keyturn.intents.edit({ ...requestOf(changes), signer }));
    const request = requestOf(await changesIn(keyturn, seen, call.options, rehearse));
    const { tool, proposer } = seen.intent;
    const result = await actAs(
      keyturn,
      name,
      (signer) => keyturn.intents.edit({ ...request, signer }),
      () => [
        `Edit: ${intent_id}, ${tool}, proposed by ${proposer}. It ends, and what ${name} signs replaces it`,
      ],
    );
    return { result, lines: await editedLines(keyturn, intent_id, result) };
  });
}

type Review = Result<'intents.review'>;
type Edit = Omit<Request<'intents.edit'>, 'signer'>;
type Changes = Pick<Edit, 'arguments' | 'plan' | 'declared_goal'>;

async function changesIn(
  keyturn: Opened,
  seen: Review,
  options: Options,
  rehearse: (changes: Changes) => Promise<unknown>,
): Promise<Changes> {
  const { arg, plan, goal } = options;
  if ([arg, plan, goal].every((one) => one === undefined)) return inEditor(seen, rehearse);
  return {
    ...(arg !== undefined && { arguments: await argumentsWith(keyturn, seen, arg) }),
    ...(plan !== undefined && { plan: await planIn(keyturn, plan, options) }),
    ...(goal !== undefined && { declared_goal: goal }),
  };
}

async function argumentsWith(keyturn: Opened, { envelope: { effect } }: Review, words: readonly string[]) {
  if (effect.kind === 'mcp')
    return { ...effect.arguments, ...Object.fromEntries(pairsOf(words)) } as NonNullable<Edit['arguments']>;
  if (effect.kind !== 'tool')
    refuse('USAGE', 'It is a plan, which has no arguments: name another with --plan.');
  const texts = Object.fromEntries(pairsOf(words));
  const { arguments: changed } = await keyturn.tools.arguments({ tool: effect.tool, texts });
  return { ...effect.arguments, ...changed } as NonNullable<Edit['arguments']>;
}

/** What would be refused is found out while the text is there to be mended. */
function inEditor(
  { envelope: { declared_goal, effect } }: Review,
  rehearse: (changes: Changes) => Promise<unknown>,
): Promise<Changes> {
  const given: JsonObject =
    effect.kind === 'plan'
      ? { declared_goal, plan: effect.plan, config: effect.config }
      : { declared_goal, arguments: effect.arguments };
  return edited(given, async (made) => {
    const changes = changesMade(made, given, effect);
    await rehearse(changes);
    return changes;
  });
}

/** Whatever else is in it was written there by hand, and is refused rather than left out. */
function changesMade(made: JsonObject, given: JsonObject, effect: Review['envelope']['effect']): Changes {
  const other = [...Object.keys(made), ...Object.keys(given)].find((key) => !(key in given && key in made));
  if (other !== undefined)
    refuse('SHAPE_INVALID', `What was saved has to have just: ${Object.keys(given).join(', ')}.`);
  if (effect.kind !== 'plan') return made as Changes;
  const { task_id } = effect;
  return {
    declared_goal: made.declared_goal,
    plan: { plan: made.plan, config: made.config, task_id },
  } as Changes;
}

async function editedLines(
  keyturn: Opened,
  before: string,
  { intent_id, hash, proposer, expires_at }: Result<'intents.edit'>,
): Promise<string[]> {
  const humans = (await keyturn.people.list()).principals.filter(
    ({ kind, status }) => kind === 'human' && status === 'active',
  );
  return [
    `[OK] ${proposer} replaced ${before}. That one cannot be approved any more`,
    ...fields([
      ['ID', intent_id],
      ['Hash', hash],
      ['Code', codeOf(hash)],
      ['Expires', expires_at],
      [
        'Next',
        humans.length > 1 ? 'another human approves it' : nextAt(keyturn, `keyturn turn ${intent_id}`),
      ],
    ]),
  ];
}
