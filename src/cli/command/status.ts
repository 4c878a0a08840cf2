import { visible } from '../../canonical/visible.ts';
import { type Freeze, freezeWords, type InDoubt, type IntentState, type Keyturn } from '../../keyturn.ts';
import type { Answer, Call } from '../answer.ts';
import { wrongClock } from '../clock.ts';
import { afterApproval, resumeCommand } from '../conversation.ts';
import { type Paint, stdoutPainter } from '../paint.ts';
import { reading } from '../project.ts';
import type { Result } from '../schema.ts';
import { standingOf } from '../standing.ts';

const MOST = 1000;

/**
 * What needs a human. A wrong clock, what is frozen and what is in doubt come first and loudly: nothing goes on, or something
 * may have happened without a record. With a wrong clock the rest is judged by it.
 */
export function status(call: Call): Promise<Answer> {
  return reading(call, async (keyturn) => {
    const now = new Date();
    const clock = await wrongClock(keyturn);
    const doubts = await keyturn.inDoubt();
    const approved = await intents(keyturn, 'approved');
    const proposed = await intents(keyturn, 'proposed');
    const standing = (wanted: string) => (state: IntentState) => standingOf(state, now) === wanted;
    const ready = approved.filter(standing('approved'));
    const result: Result<'status'> = {
      clock: clock && { code: clock.code, words: clock.message },
      frozen: (await keyturn.system()).freezes.map((freeze) => ({ ...freeze })),
      in_doubt: doubts.map(doubtOf),
      stuck: [...(await intents(keyturn, 'stuck')), ...(await intents(keyturn, 'rolling_back'))].map(
        executionOf,
      ),
      failed: (await intents(keyturn, 'failed')).map(({ intent_id }) => intent_id),
      waiting: proposed.filter(standing('waiting')).map(({ intent_id }) => intent_id),
      approval_expired: approved.filter(standing('approval expired')).map(({ intent_id }) => intent_id),
      ungranted: ready.filter((state) => !isGranted(state, now)).map(nameOf),
      approved: ready.filter((state) => isGranted(state, now)).map(nameOf),
      policies: await keyturn.policyFiles(),
    };
    const ungranted: string[] = [];
    for (const state of ready.filter((one) => !isGranted(one, now)))
      ungranted.push(await afterApproval(keyturn, state));
    return { result, lines: told(result, ungranted, stdoutPainter()) };
  });
}

function intents(keyturn: Keyturn, wanted: IntentState['status']): Promise<IntentState[]> {
  return keyturn.list({ status: wanted, limit: MOST });
}

function nameOf({ intent_id, hash }: IntentState): { intent_id: string; hash: string } {
  return { intent_id, hash };
}

/** Whether a capability is there that could be used now, by the clock of this machine. */
function isGranted({ capabilities, attempt }: IntentState, now: Date): boolean {
  return capabilities.some(
    (one) => one.attempt === attempt && one.status === 'issued' && Date.parse(one.expires_at) > now.getTime(),
  );
}

function executionOf({ runs }: IntentState): string {
  return runs.at(-1)?.execution_id ?? '';
}

function doubtOf({ state, run, life }: InDoubt): Result<'status'>['in_doubt'][number] {
  return {
    execution_id: run.execution_id,
    intent_id: state.intent_id,
    tool: state.tool,
    since: run.claimed_at,
    host: run.executor.host,
    pid: run.executor.pid,
    state: state.status === 'partial' ? 'killed' : life,
  };
}

const RESUME = resumeCommand('');

function told(result: Result<'status'>, ungranted: readonly string[], paint: Paint): string[] {
  const { clock, frozen, in_doubt, stuck, failed, waiting, approval_expired, approved, policies } = result;
  const lines = [
    ...(clock === null ? [] : clockLines(clock, paint)),
    ...frozen.flatMap((freeze) => frozenLines(freeze, paint)),
    ...in_doubt.flatMap((doubt) => doubtLines(doubt, paint)),
    ...section(
      paint('alarm', 'STUCK: a rollback is not complete; follow its report, then roll back again'),
      stuck.map((id) => `keyturn rollback ${id} --reason …`),
    ),
    ...section('Failed; a human may authorise one more attempt with `keyturn retry`', failed),
    ...section('Waiting for a human; see `keyturn review`', waiting),
    ...section('Approved too long ago; see `keyturn review`', approval_expired),
    ...section(
      'Approved; a human has to grant a capability',
      ungranted.filter((next) => !next.startsWith(RESUME)),
    ),
    ...section(
      'Approved; the conversation goes on with',
      ungranted.filter((next) => next.startsWith(RESUME)),
    ),
    ...section(
      'Granted and ready',
      approved.map(({ intent_id, hash }) => `keyturn run ${intent_id} ${hash}`),
    ),
    ...(policies.words === null
      ? []
      : [paint('yellow', policies.words), '  keyturn policy diff, then keyturn policy activate --reason …']),
  ];
  return lines.length === 0 ? ['[OK] Nothing needs a human'] : lines;
}

function clockLines({ code, words }: NonNullable<Result<'status'>['clock']>, paint: Paint): string[] {
  return [
    paint('alarm', visible(`!!! THE CLOCK IS WRONG (${code}): ${words} !!!`)),
    '  Set the clock. If it is right, a human says so: keyturn clock accept --reason …',
  ];
}

function frozenLines(freeze: Freeze, paint: Paint): string[] {
  const { scope, name } = freeze;
  const target = { system: '', tenant: ' --tenant', agent: ` --agent ${name}`, tool: ` --tool ${name}` };
  return [
    paint('alarm', visible(`!!! FROZEN: ${freezeWords(freeze)} !!!`)),
    visible(`  A human lets it go: keyturn unfreeze${target[scope]} --reason …`),
  ];
}

function doubtLines(doubt: Result<'status'>['in_doubt'][number], paint: Paint): string[] {
  const { execution_id, intent_id, tool, since, host, pid } = doubt;
  if (doubt.state === 'alive')
    return [
      paint('yellow', `RUNNING ${execution_id}`),
      `  ${tool} for ${intent_id}, since ${since}, as process ${pid}`,
    ];
  const why = {
    killed: 'it was killed half way',
    dead: 'its process is gone',
    'other-host': `it ran on ${host}`,
  };
  return [
    paint('alarm', `!!! IN DOUBT ${execution_id}: the effect may have happened !!!`),
    `  ${tool} for ${intent_id}, since ${since}: ${why[doubt.state]}`,
    '  Find out what happened, then: ' +
      `keyturn resolve ${execution_id} --outcome happened|did-not-happen --reason …`,
  ];
}

function section(title: string, items: readonly string[]): string[] {
  if (items.length === 0) return [];
  const count = items.length === MOST ? `${MOST} or more` : String(items.length);
  const shown = items.slice(0, 20).map((item) => `  ${item}`);
  return [`${title} (${count}):`, ...shown, ...(items.length > 20 ? ['  …'] : [])];
}
