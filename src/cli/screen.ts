import { visible } from '../canonical/visible.ts';
import type { ToolEffect as Effect, PlanEffect, Review } from '../keyturn.ts';
import { argument } from '../lane/visible.ts';
import type { Paint } from './paint.ts';
import { painted, standingOf } from './standing.ts';
import { fields } from './table.ts';

type Field = readonly [name: string, value: string];

/**
 * What a person sees before turning the key: the exact effect, read from the bytes that the hash covers. Whatever an
 * agent chose (goal, arguments) is made harmless first: it could otherwise paint another screen over this one.
 */
export function reviewScreen(
  { state, envelope, effect, preview }: Review,
  paint: Paint,
  now: Date,
): string[] {
  return [
    ...fields([
      ['Intent', paint('bold', state.intent_id)],
      ['Hash', state.hash],
      ['Status', painted(standingOf(state, now), paint)],
      ['Asked by', `${state.proposer} (${state.proposer_kind})`],
      ['Why', visible(envelope.declared_goal)],
      ['Expires', expiry(state.expires_at, now)],
      ...constraintFields(envelope.constraints),
      ...(effect.kind === 'tool'
        ? effectFields(effect, paint)
        : planFields(effect, state.approvals_needed, paint)),
    ]),
    ...(effect.kind === 'tool' && effect.sandbox === 'none' ? [paint('alarm', NO_SANDBOX)] : []),
    ...(preview === null ? [] : ['', ...preview.trimEnd().split('\n')]),
  ];
}

const NO_SANDBOX = '!!! NO SANDBOX: this tool can reach everything that you can reach !!!';

function planFields(effect: PlanEffect, approvals_needed: number, paint: Paint): Field[] {
  const paths = new Set(effect.actions.flatMap(({ changes }) => changes.map(({ path }) => path)));
  const fixed = effect.actions.filter(({ undo }) => undo === 'none').map(({ action_id }) => action_id);
  const found: Field[] = [
    ['Plan', visible(effect.plan_id)],
    ['Actions', `${effect.actions.length} on ${paths.size} path(s)`],
  ];
  if (effect.elevated.length > 0) {
    found.push(['Protected', paint('yellow', effect.elevated.map(visible).join(' '))]);
    found.push(['Approvers', `${approvals_needed} different humans`]);
  }
  found.push([
    'Undo',
    fixed.length > 0 ? paint('alarm', `NOT FOR ${fixed.map(visible).join(', ')}`) : 'exact',
  ]);
  return found;
}

function effectFields(effect: Effect, paint: Paint): Field[] {
  const [program, ...interpreters] = effect.executables;
  return [
    ['Tool', effect.tool],
    ['Runs', paint('bold', effect.argv.map(argument).join(' '))],
    ['Executable', visible(program!.path)],
    ['SHA-256', program!.sha256],
    ...interpreters.flatMap((interpreter): Field[] => [
      ['Interpreter', visible(interpreter.path)],
      ['SHA-256', interpreter.sha256],
    ]),
    ['Folder', visible(effect.cwd)],
    ['Environment', environment(effect)],
    ['Sandbox', sandbox(effect, paint)],
    ['Limits', `${effect.timeout_ms / 1000} s${limits(effect)}`],
    ['Undo', effect.undo],
  ];
}

function constraintFields({ scope, limits, prohibitions }: Review['envelope']['constraints']): Field[] {
  const found: Field[] = [];
  if (scope.length > 0) found.push(['Scope', scope.map(visible).join('; ')]);
  if (Object.keys(limits).length > 0) found.push(['Asked limits', visible(JSON.stringify(limits))]);
  if (prohibitions.length > 0) found.push(['Prohibited', prohibitions.map(visible).join('; ')]);
  return found;
}

function environment({ env, env_pass }: Effect): string {
  const fixed = Object.entries(env).map(([name, value]) => `${name}=${argument(value)}`);
  return [...fixed, ...env_pass.map((name) => `${name} (from yours)`)].join(' ');
}

function sandbox(effect: Effect, paint: Paint): string {
  if (effect.sandbox === 'none') return paint('alarm', 'NONE');
  const { network, read, write } = effect.sandbox;
  const parts = [network ? paint('yellow', 'NETWORK') : 'no network'];
  parts.push(read.length > 0 ? `reads ${read.map(argument).join(' ')}` : 'reads only the system');
  parts.push(
    write.length > 0 ? paint('yellow', `WRITES ${write.map(argument).join(' ')}`) : 'writes nothing',
  );
  return parts.join(', ');
}

function limits({ limits: kernel }: Effect): string {
  if (kernel === null) return '';
  const memory = kernel.memory_mb === null ? '' : `, ${kernel.memory_mb} MB memory`;
  return `, ${kernel.cpu_s} s CPU, files of ${kernel.file_mb} MB${memory}`;
}

function expiry(time: string, now: Date): string {
  const minutes = Math.floor((Date.parse(time) - now.getTime()) / 60_000);
  if (minutes < 0) return `${time} (it has expired)`;
  return `${time} (in ${minutes < 120 ? `${minutes} min` : `${Math.floor(minutes / 60)} h`})`;
}
