import { sha256 } from '../canonical/digest.ts';
import { canonicalBytes } from '../canonical/json.ts';
import { visible } from '../canonical/visible.ts';
import type { ToolEffect as Effect, IntentState, PlanEffect, Review, UsableCapability } from '../keyturn.ts';
import { argument } from '../lane/visible.ts';
import { capabilityFields, GLASS_LINE } from './capability-lines.ts';
import { COLUMNS, type Field, fieldLines, folded, type Sheet, type Span } from './fold.ts';
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
 * What a person sees before turning the key: the exact effect, read from the bytes that the hash covers. Whatever an
 * agent chose (goal, arguments) is made harmless first: it could otherwise paint another screen over this one.
 */
export function reviewScreen({ state, envelope, effect, preview }: Review, look: Look): string[] {
  const { paint, now, columns } = look;
  const sheet: Sheet = { paint, columns, whole: `keyturn show --json ${state.intent_id} shows all` };
  const claims = claimFields(envelope.constraints);
  return [
    ...fieldLines(
      [
        ['Intent', [['bold', state.intent_id]]],
        ['Hash', state.hash],
        ['Status', standing(state, now)],
        ['Asked by', askedBy(state)],
        ['Why', visible(envelope.declared_goal)],
        ['Expires', expiry(state.expires_at, now)],
        ...namedFields(state, envelope),
        ...(effect.kind === 'tool' ? effectFields(effect) : planFields(effect, state.approvals_needed)),
      ],
      sheet,
    ),
    ...(effect.kind === 'tool' ? alarm(effect, paint) : []),
    ...(claims.length === 0 ? [] : ['Constraints:', ...fieldLines(claims, sheet, '  ')]),
    ...(preview === null
      ? []
      : [
          '',
          ...preview
            .trimEnd()
            .split('\n')
            .flatMap((line) => folded(line, columns)),
        ]),
  ];
}

/** What a yes covers beside the effect: what it replaces, what it requests, and what a human may turn to afterwards. */
function namedFields(
  { actions, replaces }: IntentState,
  { effect, alternates }: Review['envelope'],
): Field[] {
  const plain = actions.length === 1 && (effect.kind === 'plan' || actions[0] === `tool:${effect.tool}`);
  return [
    ...(replaces === null ? [] : ([['Replaces', replaces]] as const)),
    ...(plain ? [] : ([['Requests', actions.map(visible).join(', ')]] as const)),
    ...alternates.map(
      (call): Field => ['Alternate', [['yellow', call.tool], ` ${visible(JSON.stringify(call.arguments))}`]],
    ),
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
  effect: Effect,
  { paint, columns }: Pick<Look, 'paint' | 'columns'>,
  capability: UsableCapability | null = null,
): string[] {
  const sheet: Sheet = { paint, columns, whole: 'the registry has all of it' };
  const found: Field[] = [
    ...programFields(effect),
    ...coversFields(effect),
    ['Folder', visible(effect.cwd)],
    ...(capability ? capabilityFields(capability) : []),
    ['Sandbox', sandbox(capability ? confinedBy(effect, capability) : effect)],
    ['Runs as', runsAs(effect)],
  ];
  return [...glassLines(capability, paint), ...fieldLines(found, sheet), ...alarm(effect, paint), ''];
}

/** For a plan, which has no sandbox of its own. */
export function capabilityLines(
  capability: UsableCapability,
  { paint, columns }: Pick<Look, 'paint' | 'columns'>,
): string[] {
  const sheet: Sheet = { paint, columns, whole: 'the capability has all of it' };
  return [...glassLines(capability, paint), ...fieldLines(capabilityFields(capability), sheet), ''];
}

function glassLines(capability: UsableCapability | null, paint: Paint): string[] {
  return capability?.recorded.glass ? [paint('alarm', GLASS_LINE)] : [];
}

/** The sandbox that the run will get: it is made from the scope of the capability. */
function confinedBy(effect: Effect, { held }: UsableCapability): Effect {
  if (effect.sandbox === 'none') return effect;
  const { network, read, write } = held.claims.scope;
  return { ...effect, sandbox: { network, read: [...read], write: [...write] } };
}

const NO_SANDBOX = '!!! NO SANDBOX: this tool can reach everything that its user can reach !!!';
const AS_ROOT = '!!! RUNS AS ROOT: what a file grants to root, it grants to this tool !!!';

function alarm({ sandbox, run_as }: Effect, paint: Paint): string[] {
  return [
    ...(sandbox === 'none' ? [paint('alarm', NO_SANDBOX)] : []),
    ...(run_as === 'root' ? [paint('alarm', AS_ROOT)] : []),
  ];
}

function runsAs({ run_as }: Effect): string | Span[] {
  if (run_as === null) return 'the user of Keyturn, or nobody where that is root';
  return run_as === 'root' ? [['alarm', 'ROOT']] : visible(run_as);
}

function standing(state: IntentState, now: Date): Span[] {
  const found = standingOf(state, now);
  const style = styleOf(found);
  return [style === null ? found : [style, found]];
}

function planFields(effect: PlanEffect, approvals_needed: number): Field[] {
  const paths = new Set(effect.actions.flatMap(({ changes }) => changes.map(({ path }) => path)));
  const fixed = effect.actions.filter(({ undo }) => undo === 'none').map(({ action_id }) => action_id);
  const found: Field[] = [
    ['Plan', visible(effect.plan_id)],
    ['Actions', `${effect.actions.length} on ${paths.size} path(s)`],
    ...effect.actions.map(
      ({ action_id, action_type, target }): Field => [
        'Action',
        visible(`${action_id} ${action_type} ${target}`),
      ],
    ),
  ];
  if (effect.elevated.length > 0) {
    found.push(['Protected', [['yellow', effect.elevated.map(visible).join(' ')]]]);
    found.push(['Approvers', `${approvals_needed} different humans`]);
  }
  found.push(['Undo', fixed.length > 0 ? [['alarm', `NOT FOR ${fixed.map(visible).join(', ')}`]] : 'exact']);
  return found;
}

export function effectFields(effect: Effect): Field[] {
  return [
    ['Tool', effect.tool],
    ['Runs', [['bold', effect.argv.map(argument).join(' ')]]],
    ...programFields(effect),
    ...coversFields(effect),
    ['Folder', visible(effect.cwd)],
    ['Environment', environment(effect)],
    ['Sandbox', sandbox(effect)],
    ['Limits', `${effect.timeout_ms / 1000} s${limits(effect)}`],
    ['Runs as', runsAs(effect)],
    ['Undo', effect.undo],
  ];
}

function programFields({ executables }: Effect): Field[] {
  return executables.flatMap(({ path, sha256 }, i): Field[] => [
    [i === 0 ? 'Executable' : 'Interpreter', visible(path)],
    ['SHA-256', sha256],
  ]);
}

/** One digest over all of them: any other file, name or content is another digest. The effect itself lists them. */
function coversFields({ covers }: Effect): Field[] {
  if (covers === null) return [];
  const { files, root } = covers;
  const named = files.slice(0, 3).map(([path]) => visible(path));
  const more = files.length > named.length ? `, … (${files.length} files)` : '';
  return [
    ['Covers', `${named.join(', ')}${more} in ${visible(root)}`],
    ['SHA-256', sha256(canonicalBytes(files))],
  ];
}

/** What the intent bounds itself to. It is held when it is proposed, approved, granted and run. */
function claimFields({ scope, limits, prohibitions }: Review['envelope']['constraints']): Field[] {
  const found: Field[] = [];
  if (scope.length > 0) found.push(['Scope', scope.map(visible).join('; ')]);
  if (Object.keys(limits).length > 0) found.push(['Limits', visible(JSON.stringify(limits))]);
  if (prohibitions.length > 0) found.push(['Prohibited', prohibitions.map(visible).join('; ')]);
  return found;
}

function environment({ env, env_pass }: Effect): string {
  const fixed = Object.entries(env).map(([name, value]) => `${name}=${argument(value)}`);
  return [...fixed, ...env_pass.map((name) => `${name} (from yours)`)].join(' ');
}

function sandbox(effect: Effect): Span[] {
  if (effect.sandbox === 'none') return [['alarm', 'NONE']];
  const { network, read, write } = effect.sandbox;
  return [
    network ? ['yellow', 'NETWORK'] : 'no network',
    read.length > 0 ? `, reads ${read.map(argument).join(' ')}` : ', reads only the system',
    ', ',
    write.length > 0 ? ['yellow', `WRITES ${write.map(argument).join(' ')}`] : 'writes nothing',
  ];
}

function limits({ limits: kernel }: Effect): string {
  if (kernel === null) return '';
  const memory = kernel.memory_mb === null ? '' : `, ${kernel.memory_mb} MB memory`;
  const processes = kernel.processes === null ? '' : `, ${kernel.processes} processes`;
  const tmp = kernel.tmp_mb === null ? '' : `, /tmp of ${kernel.tmp_mb} MB`;
  return `, ${kernel.cpu_s} s CPU, files of ${kernel.file_mb} MB, ${kernel.open_files} open files${processes}${memory}${tmp}`;
}

function expiry(time: string, now: Date): string {
  const minutes = Math.floor((Date.parse(time) - now.getTime()) / 60_000);
  if (minutes < 0) return `${time} (it has expired)`;
  return `${time} (in ${minutes < 120 ? `${minutes} min` : `${Math.floor(minutes / 60)} h`})`;
}
