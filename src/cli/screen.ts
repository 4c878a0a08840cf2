import { visible } from '../canonical/visible.ts';
import type { IntentState, Review, Shown, UsableCapability } from '../keyturn.ts';
import { capabilityFields, GLASS_LINE } from './capability-lines.ts';
import { drawAlarms, drawContents, drawShown, fieldOf } from './draw.ts';
import { COLUMNS, type Field, fieldLines, fieldWidth, type Sheet, type Span } from './fold.ts';
import { type Paint, stdoutPainter } from './paint.ts';
import { standingOf, styleOf } from './standing.ts';

/** Where a screen is shown. */
export interface Look {
  readonly paint: Paint;
  readonly now: Date;
  readonly columns: number;
}

/** What goes to standard output, wherever that is. */
export function stdoutLook(now: Date): Look {
  return { paint: stdoutPainter(), now, columns: process.stdout.columns || COLUMNS };
}

/**
 * What a person sees before turning the key: what would run, its alarms, who asks for it and why, then everything else,
 * read from the bytes that the hash covers. Whatever an agent chose (goal, arguments) is made harmless first: it could
 * otherwise paint another screen over this one.
 */
export function reviewScreen(
  { state, envelope, shown, alternates }: Omit<Review, 'effect'>,
  look: Look,
): string[] {
  const { paint, now, columns } = look;
  const sheet: Sheet = { paint, columns };
  const claims = claimFields(envelope.constraints);
  const first: Field = [shown.headline.label, bold(fieldOf(shown.headline)[1])];
  const rest: Field[] = [
    ['Intent', [['bold', state.intent_id]]],
    ['Hash', state.hash],
    ['Status', standing(state, now)],
    ['Asked by', askedBy(state)],
    ['Why', visible(envelope.declared_goal)],
    ['Expires', expiry(state.expires_at, now)],
    ...namedFields(state, envelope),
    ...shown.fields.map(fieldOf),
  ];
  const width = fieldWidth([first, ...rest]);
  return [
    ...fieldLines([first], sheet, '', width),
    ...drawAlarms(shown.alarms, sheet),
    ...fieldLines(rest, sheet, '', width),
    ...(claims.length === 0 ? [] : ['Constraints:', ...fieldLines(claims, sheet, '  ')]),
    ...drawContents(shown, sheet),
    ...alternates.flatMap((alternate, i) => [
      '',
      `Alternate ${i + 1}, if a run fails and a human turns to it:`,
      ...drawShown(alternate, sheet, '  '),
    ]),
  ];
}

function bold(value: Field[1]): Field[1] {
  return typeof value === 'string'
    ? [['bold', value]]
    : value.map((span) => (typeof span === 'string' ? ['bold', span] : span));
}

/** What a yes covers beside the effect: what it replaces, what it requests, and how many must say yes. */
function namedFields(
  { actions, replaces, approvals_needed }: IntentState,
  { effect }: Review['envelope'],
): Field[] {
  const plain = actions.length === 1 && (effect.kind === 'plan' || actions[0] === `tool:${effect.tool}`);
  return [
    ...(replaces === null ? [] : ([['Replaces', replaces]] as const)),
    ...(plain ? [] : ([['Requests', actions.map(visible).join(', ')]] as const)),
    ...(approvals_needed === 1 ? [] : ([['Approvers', `${approvals_needed} different humans`]] as const)),
  ];
}

/** A name that nobody proved: whoever can write to the project can propose in any name. */
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
  const from =
    account === null ? '' : `, from the account ${visible(account.user)} on ${visible(account.host)}`;
  if (proposer_verified) return `${proposer} (${proposer_kind}, signed with its key)${wish}${from}`;
  const claim =
    proposer_kind === 'human' ? `says it is ${proposer} (human)` : `${proposer} (agent, by name only)`;
  return `${claim}${from}`;
}

/** What the screen of 001 leaves out and a yes at the run depends on. The lane knows no capability. */
export function confinementLines(
  shown: Shown,
  { paint, columns }: Pick<Look, 'paint' | 'columns'>,
  capability: UsableCapability | null = null,
): string[] {
  const sheet: Sheet = { paint, columns };
  return [
    ...(capability?.recorded.glass ? [paint('alarm', GLASS_LINE)] : []),
    ...drawShown(shown, sheet),
    ...(capability ? fieldLines(capabilityFields(capability), sheet) : []),
    '',
  ];
}

function standing(state: IntentState, now: Date): Span[] {
  const found = standingOf(state, now);
  const style = styleOf(found);
  return [style === null ? found : [style, found]];
}

/** What the intent bounds itself to. It is held when it is proposed, approved, granted and run. */
function claimFields({ scope, limits, prohibitions }: Review['envelope']['constraints']): Field[] {
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
