import { unmixed } from '../canonical/alphabet.ts';
import { CODE_TYPED, codeOf } from '../canonical/code.ts';
import { visible } from '../canonical/visible.ts';
import {
  type Account,
  type Alarm,
  type IntentState,
  identifiedBy,
  type Result,
  type Shown,
  type StatusWord,
} from '../keyturn.ts';
import { BREAK_GLASS_LINE, capabilityFields } from './capability-lines.ts';
import { drawAlarms, drawContents, drawShown, fieldOf, headlineOf } from './draw.ts';
import { COLUMNS, type Drawing, type Field, fieldLines, fieldWidth, type Span } from './fold.ts';
import { type Paint, stdoutPainter } from './paint.ts';
import { styleOf } from './status-word.ts';

/** What a review shows. */
export type ShownReview = Pick<Result<'intents.review'>, 'envelope' | 'shown' | 'alternates'> & {
  /** Left out where it is not known. */
  readonly frozen?: string | null;
  readonly intent: IntentState & {
    readonly reviewers?: readonly string[] | null;
    readonly status_word: StatusWord;
  };
};

/** Where a screen is shown. */
interface Look {
  readonly paint: Paint;
  readonly now: Date;
  readonly columns: number;
}

/** What goes to standard output, wherever that is. */
export function stdoutLook(now: Date): Look {
  return { paint: stdoutPainter(), now, columns: process.stdout.columns || COLUMNS };
}

/**
 * What a person sees before turning the key: what would run, its alarms, why and who asks for it, then everything else,
 * read from the bytes that the hash covers, and last the ids: a person decides by the tool and its arguments. Whatever an agent chose (goal, arguments) is made harmless first: it could
 * otherwise paint another screen over this one.
 */
export function reviewScreen(
  { intent, envelope, shown, alternates, frozen = null }: ShownReview,
  look: Look,
): string[] {
  const { paint, now, columns } = look;
  const drawing: Drawing = { paint, columns };
  const claims = claimFields(envelope.constraints);
  const first = headlineOf(shown);
  const rest: Field[] = [
    ['Why', [['bold', unmixed(visible(envelope.declared_goal))]]],
    ['Asked by', askedBy(intent)],
    ['Status', statusOf(intent)],
    ['Expires', expiry(intent.expires_at, now)],
    ...namedFields(intent, envelope),
    ...shown.fields.map(fieldOf),
    ['Intent', intent.intent_id],
    ['Hash', [['dim', intent.hash]]],
    ['Code', codeSpans(intent.hash)],
  ];
  const width = fieldWidth([first, ...rest]);
  return [
    ...fieldLines([first], drawing, '', width),
    ...drawAlarms([...frozenAlarms(frozen), ...shown.alarms], drawing),
    ...fieldLines(rest, drawing, '', width),
    ...(claims.length === 0 ? [] : ['Constraints:', ...fieldLines(claims, drawing, '  ')]),
    ...drawContents(shown, drawing),
    ...alternates.flatMap((alternate, i) => [
      '',
      `Alternate ${i + 1}, if a run fails and a human turns to it:`,
      ...drawShown(alternate, drawing, '  '),
    ]),
  ];
}

function frozenAlarms(frozen: string | null): Pick<Alarm, 'weight' | 'words' | 'about'>[] {
  return frozen === null ? [] : [{ weight: 'alarm', words: `FROZEN: ${visible(frozen)}`, about: [] }];
}

/** The characters that are typed stand out. */
function codeSpans(hash: string): Span[] {
  const code = codeOf(hash);
  const end = CODE_TYPED + Math.floor(CODE_TYPED / 5);
  return [['bold', code.slice(0, end)], code.slice(end)];
}

/** What a yes covers beside the effect: what it replaces, what it requests, and how many must say yes. */
function namedFields(
  { actions, replaces, approvals_needed, reviewers }: ShownReview['intent'],
  { effect, undoes }: ShownReview['envelope'],
): Field[] {
  const plain = actions.length === 1 && (effect.kind !== 'tool' || actions[0] === `tool:${effect.tool}`);
  return [
    ...(replaces === null ? [] : ([['Replaces', replaces]] as const)),
    ...(undoes === null ? [] : ([['Undoes', `the run of ${undoes}`]] as const)),
    ...(plain ? [] : ([['Requests', actions.map(visible).join(', ')]] as const)),
    ...(reviewers ? ([['Asked to look', reviewers.map(visible).join(', ')]] as const) : []),
    ...(approvals_needed === 1 ? [] : ([['Approvers', `${approvals_needed} different humans`]] as const)),
  ];
}

/** A name that is not proven: a process that can write to the project can propose in any name. */
export function askedBy({
  proposer,
  proposer_kind,
  proposer_verified,
  on_behalf_of,
  account,
}: Pick<
  IntentState,
  'proposer' | 'proposer_kind' | 'proposer_verified' | 'on_behalf_of' | 'account'
>): string {
  const wish = on_behalf_of === null ? '' : `, asked for by ${on_behalf_of}`;
  const from = account === null ? '' : `, ${cameFrom(account)}`;
  if (proposer_verified) return `${proposer} (${proposer_kind}, signed with its key)${wish}${from}`;
  const claim =
    proposer_kind === 'human' ? `says it is ${proposer} (human)` : `${proposer} (agent, by name only)`;
  return `${claim}${from}`;
}

function cameFrom(account: Account): string {
  const by = identifiedBy(account);
  if (by === 'host') return `from the account ${visible(account.user)} on ${visible(account.host)}`;
  return by === 'token' ? 'with its token' : 'in a request to the service, signed with that key';
}

/** What the screen of 001 leaves out and a yes at the run depends on. The lane knows no capability. */
export function confinementLines(
  shown: Shown,
  { paint, columns }: Pick<Look, 'paint' | 'columns'>,
  capability: Result<'runs.preview'>['capability'] | null = null,
): string[] {
  const drawing: Drawing = { paint, columns };
  return [
    ...(capability?.break_glass ? [paint('alarm', BREAK_GLASS_LINE)] : []),
    ...drawShown(shown, drawing),
    ...(capability ? fieldLines(capabilityFields(capability), drawing) : []),
    '',
  ];
}

function statusOf({ status_word }: ShownReview['intent']): Span[] {
  const style = styleOf(status_word);
  return [style === null ? status_word : [style, status_word]];
}

/** What the intent bounds itself to. It is held when it is proposed, approved, granted and run. */
function claimFields({ scope, limits, prohibitions }: ShownReview['envelope']['constraints']): Field[] {
  const found: Field[] = [];
  if (scope.length > 0) found.push(['Scope', scope.map(visible).join('; ')]);
  if (Object.keys(limits).length > 0) found.push(['Limits', visible(JSON.stringify(limits))]);
  if (prohibitions.length > 0) found.push(['Prohibited', prohibitions.map(visible).join('; ')]);
  return found;
}

function expiry(time: string, now: Date): string {
  const minutes = Math.floor((Date.parse(time) - now.getTime()) / 60_000);
  if (minutes < 0) return `${time} (it has expired)`;
  return `${time} (in ${minutes < 120 ? `${minutes} min` : `${Math.floor(minutes / 60)} h`})`;
}
