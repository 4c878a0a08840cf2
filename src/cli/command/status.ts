import { counted } from '../../canonical/counted.ts';
import { visible } from '../../canonical/visible.ts';
import { type Freeze, freezeWords, hasNoExecutor, isUnserved, type Result } from '../../keyturn.ts';
import { cliLimits, journeyLimits } from '../../limits.ts';
import { explain, type ReasonCode } from '../../refusal.ts';
import type { Answer, Call } from '../answer.ts';
import { afterApproval, resumeCommand } from '../conversation.ts';
import { inColumn } from '../fold.ts';
import { onlyHere } from '../human.ts';
import { intentLines, shortIds, type TableLook } from '../list-table.ts';
import type { Paint } from '../paint.ts';
import { nextAt, type Opened, reading } from '../project.ts';
import { ageOf } from '../status-word.ts';
import { stdoutTable } from './list.ts';

type Status = Result<'system.status'>;

/** One more than is printed: whether there are more. */
const ASKED = cliLimits.status_rows + 1;

/**
 * What needs a human. A wrong clock, what is frozen and what is in doubt come first and loudly: nothing goes on, or something
 * may have happened without a record.
 */
export function status(call: Call): Promise<Answer> {
  return reading(call, statusIn);
}

/** The same for `keyturn` alone: before it, what waits for the human who has a key here. */
export function home(call: Call): Promise<Answer> {
  return reading(call, async (keyturn) => {
    const name = await onlyHere(keyturn);
    const yours = name === null ? [] : [await yoursLine(keyturn, name)];
    const answer = await statusIn(keyturn);
    return { ...answer, lines: [...yours, ...answer.lines] };
  });
}

async function yoursLine(keyturn: Opened, needs: string): Promise<string> {
  const { intent_id, more } = await keyturn.intents.next({ needs });
  if (intent_id === null) return `For ${visible(needs)}: nothing waits`;
  const { proposed_at } = await keyturn.intents.get({ intent_id });
  const many =
    more === journeyLimits.more_counted ? `more than ${more} proposals` : counted(more + 1, 'proposal');
  const turn = nextAt(keyturn, 'keyturn turn');
  return `For ${visible(needs)}: ${many}, the oldest ${ageOf(proposed_at, new Date())} old; \`${turn}\` takes it`;
}

async function statusIn(keyturn: Opened): Promise<Answer> {
  const result = await keyturn.system.status({ limit: ASKED });
  const short = shortIds(idsIn(result));
  const ungranted: Ungranted[] = [];
  for (const one of result.ungranted)
    ungranted.push({ one, next: await nextOf(keyturn, one, short(one.intent_id)) });
  return { result, lines: told(keyturn, result, ungranted, short) };
}

type Short = (id: string) => string;

/** What is approved and not ordered, with the command that leads on, or why none does. */
interface Ungranted {
  readonly one: Status['ungranted'][number];
  readonly next: string;
}

/** Those that are told outside of tables. */
function idsIn({ in_doubt, stuck, waiting, ungranted, approved }: Status): string[] {
  return [
    ...in_doubt.flatMap(({ execution_id, intent_id }) => [execution_id, intent_id]),
    ...stuck.map(({ execution_id }) => execution_id),
    ...[...waiting, ...ungranted, ...approved].map(({ intent_id }) => intent_id),
  ];
}

/** No run is ordered, or what was ordered can be used no more: a human orders it again. Anything else stands in the way by itself. */
const TO_ORDER: ReadonlySet<ReasonCode> = new Set<ReasonCode>([
  'ORDER_MISSING',
  'ORDER_LAPSED',
  'CAPABILITY_EXPIRED',
  'CAPABILITY_REVOKED',
  'APPROVER_REVOKED',
  'AGENT_TRANSITION_ILLEGAL',
]);

async function nextOf(keyturn: Opened, one: Status['ungranted'][number], id: string): Promise<string> {
  return TO_ORDER.has(one.code) ? afterApproval(keyturn, one, id) : explain(one.code).meaning;
}

const RESUME = resumeCommand('');
const GRANT = 'keyturn grant ';

function told(keyturn: Opened, result: Status, ungranted: readonly Ungranted[], short: Short): string[] {
  const { clock, frozen, shadow, in_doubt, stuck, failed, waiting, approval_expired, approved, policies } =
    result;
  const look = stdoutTable(new Date());
  const next = (command: string) => nextAt(keyturn, command);
  const { paint } = look;
  const isResume = ({ next }: Ungranted) => next.startsWith(RESUME);
  const isGrant = ({ next }: Ungranted) => next.startsWith(GRANT);
  const approvedLines = (title: string, found: readonly Ungranted[]) =>
    ungrantedLines(title, found, look, short);
  const lines = [
    ...(clock === null ? [] : clockLines(clock, paint)),
    ...frozen.flatMap((freeze) => frozenLines(freeze, next, paint)),
    ...shadow.map(({ server, tools }) =>
      paint(
        'alarm',
        `SHADOW MODE: ${counted(tools, 'tool')} of the MCP server ${server} ${tools === 1 ? 'passes' : 'pass'} WITHOUT AN APPROVAL`,
      ),
    ),
    ...in_doubt.flatMap((doubt) => doubtLines(doubt, { short, next, paint })),
    ...section(
      paint('alarm', 'STUCK: a rollback is not complete; follow its report, then roll back again'),
      stuck.map(({ execution_id }) => next(`keyturn rollback ${short(execution_id)} --reason …`)),
    ),
    ...listed(
      `Failed; a human may authorise one more attempt with \`${next('keyturn retry ID')}\``,
      failed,
      look,
    ),
    ...listed(
      `Waiting for a human; \`${next('keyturn turn')}\` takes the oldest that nothing stops, \`${next('keyturn review')}\` walks through all`,
      waiting,
      look,
    ),
    ...section(
      'Asked to look, by the policies',
      waiting.flatMap(({ intent_id, reviewers }) =>
        reviewers ? [`${short(intent_id)}: ${reviewers.map(visible).join(', ')}`] : [],
      ),
    ),
    ...listed(
      `Approved, and not by enough approvals that still count; see \`${next('keyturn review')}\``,
      approval_expired,
      look,
    ),
    ...approvedLines('Approved; a human has to order the run', ungranted.filter(isGrant)),
    ...approvedLines('Approved; the conversation goes on with', ungranted.filter(isResume)),
    ...approvedLines(
      'Approved, and may not run now',
      ungranted.filter((one) => !isGrant(one) && !isResume(one)),
    ),
    ...section(
      'Ordered and ready to run',
      approved.map(({ intent_id, hash }) =>
        keyturn.service === undefined
          ? `keyturn run ${intent_id} ${hash}`
          : next(`keyturn wait ${intent_id}`),
      ),
    ),
    ...section(
      paint('yellow', 'Ordered, but no executor is enrolled that could take it; the order will lapse'),
      approved
        .filter(({ waits_for }) => hasNoExecutor(waits_for))
        .map(({ intent_id, waits_for }) => `${short(intent_id)} waits for ${visible(waits_for.executor)}`),
    ),
    ...section(
      paint('yellow', 'Ordered, but no executor that could take it is running; the order will lapse'),
      approved
        .filter(({ waits_for }) => isUnserved(waits_for))
        .map(({ intent_id, waits_for }) => `${short(intent_id)} waits for ${visible(waits_for.executor)}`),
    ),
    ...(policies.words === null
      ? []
      : [
          paint('yellow', policies.words),
          `  ${next('keyturn policy diff')}, then ${next('keyturn policy activate --reason …')}`,
        ]),
  ];
  return lines.length === 0 ? ['[OK] Nothing needs a human'] : lines;
}

function clockLines({ code, words }: NonNullable<Status['clock']>, paint: Paint): string[] {
  return [
    paint('alarm', visible(`!!! THE CLOCK IS WRONG (${code}): ${words} !!!`)),
    '  Set the clock. If it is right, a human says so: keyturn clock accept --reason …',
  ];
}

type Next = (command: string) => string;

function frozenLines(freeze: Freeze, next: Next, paint: Paint): string[] {
  const { scope, name } = freeze;
  const target = { system: '', tenant: ' --tenant', agent: ` --agent ${name}`, tool: ` --tool ${name}` };
  return [
    paint('alarm', visible(`!!! FROZEN: ${freezeWords(freeze)} !!!`)),
    visible(`  A human lets it go: ${next(`keyturn unfreeze${target[scope]} --reason …`)}`),
  ];
}

function doubtLines(
  doubt: Status['in_doubt'][number],
  { short, next, paint }: { readonly short: Short; readonly next: Next; readonly paint: Paint },
): string[] {
  const { tool, since, pid } = doubt;
  const host = visible(doubt.host);
  const [execution_id, intent_id] = [short(doubt.execution_id), short(doubt.intent_id)];
  if (doubt.status_word === 'running')
    return [
      paint('yellow', `running ${execution_id}`),
      `  ${tool} for ${intent_id}, since ${since}, as process ${pid}${doubt.state === 'other-host' ? ` on ${host}` : ''}`,
    ];
  const why = {
    alive: 'its process is gone, and what it started still runs',
    killed: 'it was killed half way',
    dead: 'its process is gone',
    'other-host': `it ran on ${host}`,
  };
  return [
    paint('alarm', `!!! IN DOUBT ${execution_id}: the effect may have happened !!!`),
    `  ${tool} for ${intent_id}, since ${since}: ${why[doubt.state]}`,
    `  ${doubt.state === 'alive' ? 'Wait until that has ended, find' : 'Find'} out what happened, then: ` +
      next(`keyturn resolve ${execution_id} --outcome happened|did-not-happen --reason …`),
  ];
}

/** Each with its tool and goal, and beneath it what leads on. */
function ungrantedLines(
  title: string,
  found: readonly Ungranted[],
  { columns }: TableLook,
  short: Short,
): string[] {
  if (found.length === 0) return [];
  // A goal is told as far as it fits, as in a table; a command and a reason are told whole.
  const fitted = (text: string) => (columns === undefined ? text : inColumn(text, columns - 1).trimEnd());
  const lines = found.slice(0, cliLimits.status_rows).flatMap(({ one, next }) => {
    const goal = one.goal === null ? '(not readable)' : visible(one.goal);
    const about = `  ${short(one.intent_id)}  ${visible(one.tool)}: ${goal}`;
    return [fitted(about), `    ${next}`];
  });
  return [heading(title, found), ...lines, ...(found.length > cliLimits.status_rows ? ['  …'] : [])];
}

/** Newest first, with goals. */
function listed(title: string, intents: Status['failed'], look: TableLook): string[] {
  if (intents.length === 0) return [];
  const columns = look.columns === undefined ? undefined : look.columns - 2;
  const shown = intentLines(intents.slice(0, cliLimits.status_rows).map(withAge), { ...look, columns });
  return [heading(title, intents), ...indented(shown, intents)];
}

const withAge = (one: Status['failed'][number]) => ({ ...one, proposed_at: one.since });

function section(title: string, items: readonly string[]): string[] {
  if (items.length === 0) return [];
  return [heading(title, items), ...indented(items.slice(0, cliLimits.status_rows), items)];
}

function heading(title: string, { length }: readonly unknown[]): string {
  return `${title} (${length > cliLimits.status_rows ? `more than ${cliLimits.status_rows}` : length}):`;
}

function indented(lines: readonly string[], { length }: readonly unknown[]): string[] {
  return [...lines.map((line) => `  ${line}`), ...(length > cliLimits.status_rows ? ['  …'] : [])];
}
