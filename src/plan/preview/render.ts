import { visible } from '../../canonical/visible.ts';
import type { Finding } from '../input/content.ts';
import { planLimits } from '../limits.ts';
import type { ActionEffect, FileState, PathChange, PlanEffect, ValidationRule } from '../model.ts';
import { hunkLines } from '../report/diff.ts';
import { isPin } from '../state/see.ts';
import type { Collector, SeenChange } from './collect.ts';
import { type Paint, painter } from './paint.ts';

export interface PreviewOptions {
  /** Escape sequences for a terminal. Off unless somebody asks. */
  readonly colour?: boolean;
}

/**
 * What a person reads before turning the key: every change as a diff, what can be undone and what cannot, what is unusual. Everything that
 * comes from the plan or from a file is made visible first: a file must not be able to paint over its own diff.
 */
export function renderPreview(
  effect: PlanEffect,
  collector: Collector,
  options: PreviewOptions = {},
): string {
  const paint = painter(options.colour ?? false);
  const lines = [
    ...headingLines(effect, paint),
    ...effect.actions.flatMap((action, i) => actionLines(action, i, effect, collector, paint)),
    ...folderLines(effect, paint),
    ...ruleLines(effect.validation, paint),
    ...undoLines(effect, paint),
    ...elevatedLines(effect, paint),
    ...findingLines(collector.findings, paint),
    ...limitLines(effect, paint),
  ];
  return `${lines.join('\n')}\n`;
}

function headingLines({ plan_id, task_id, instructions, actions }: PlanEffect, paint: Paint): string[] {
  const { execution_order, stop_on_error, rollback_on_failure } = instructions;
  const task = task_id === plan_id ? '' : ` for task ${visible(task_id)}`;
  return [
    paint('heading', `Plan ${visible(plan_id)}${task}: ${actions.length} action(s), ${execution_order}`),
    paint(
      rollback_on_failure ? 'quiet' : 'alarm',
      rollback_on_failure
        ? 'On a failure everything is rolled back.'
        : 'On a failure NOTHING IS ROLLED BACK.',
    ),
    ...(stop_on_error ? [] : [paint('warning', 'After a failure the other actions go on.')]),
  ];
}

function actionLines(
  action: ActionEffect,
  index: number,
  effect: PlanEffect,
  collector: Collector,
  paint: Paint,
): string[] {
  const { action_id, action_type, target, depends_on } = action;
  const after = depends_on.length > 0 ? ` after ${depends_on.map(visible).join(', ')}` : '';
  const number = `[${index + 1}/${effect.actions.length}]`;
  return [
    '',
    paint('heading', `${number} ${visible(action_id)} ${action_type} ${visible(target)}${after}`),
    ...sqlLines(action, paint),
    ...pipelineLines(action, paint),
    ...changeLines(action, collector, paint),
  ];
}

function changeLines(action: ActionEffect, collector: Collector, paint: Paint): string[] {
  const changes = action.changes.filter((change) => !isPin(change));
  const reads = action.changes.filter(isPin).map(({ path }) => paint('quiet', `reads ${visible(path)}`));
  const [from, to] = changes;
  if (action.action_type === 'FILE_RENAME' && from && to)
    return [paint('removed', `--- ${visible(from.path)}`), paint('added', `+++ ${visible(to.path)}`)];
  return [
    ...reads,
    ...changes.flatMap((change) =>
      diffLines(change, collector.changeOf(action.action_id, change.path), paint),
    ),
  ];
}

function diffLines(change: PathChange, seen: SeenChange | null, paint: Paint): string[] {
  const { path, before, after } = change;
  return [
    paint('removed', `--- ${before === null ? '/dev/null' : `a/${visible(path)}`}`),
    paint('added', `+++ ${after === null ? '/dev/null' : `b/${visible(path)}`}`),
    ...modeLines(before, after, paint),
    ...(seen === null
      ? [paint('warning', 'Its content is known only after the run.')]
      : contentLines(seen, paint)),
  ];
}

function modeLines(before: PathChange['before'], after: PathChange['after'], paint: Paint): string[] {
  if (before === 'unknown' || after === 'unknown' || after === null) return [];
  const old_mode = before === null ? null : octal(before);
  if (old_mode === octal(after)) return [];
  return [paint('warning', `mode ${old_mode === null ? '' : `${old_mode} → `}${octal(after)}`)];
}

function octal({ mode }: FileState): string {
  return mode.toString(8).padStart(4, '0');
}

function contentLines({ diff, lines_left_out }: SeenChange, paint: Paint): string[] {
  if (diff.kind === 'binary')
    return [paint('warning', 'The file is binary. Its hashes are part of the approval.')];
  if (diff.hunks === null) {
    const { lines_added, lines_removed } = diff;
    const size = `about ${lines_removed} line(s) become ${lines_added}`;
    return [paint('alarm', `The difference is too large to show: ${size}. Look at the file itself.`)];
  }
  const lines = hunkLines(diff.hunks).map((line) => paintLine(line, paint));
  if (lines_left_out > 0)
    lines.push(paint('alarm', `${lines_left_out} more line(s) of the diff are NOT SHOWN.`));
  return lines;
}

function paintLine(line: string, paint: Paint): string {
  const text = visible(line);
  if (line.startsWith('+')) return paint('added', text);
  if (line.startsWith('-')) return paint('removed', text);
  return line.startsWith('@@') || line.startsWith('\\') ? paint('place', text) : text;
}

function sqlLines({ action_type, statements, operation }: ActionEffect, paint: Paint): string[] {
  if (action_type !== 'SQL_EXECUTE') return [];
  const kinds = new Map<string, number>();
  for (const kind of statements) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  const counted = [...kinds].map(([kind, count]) => `${count} ${visible(kind)}`).join(', ');
  const parameters = Object.entries((operation.parameters ?? {}) as Record<string, unknown>);
  const query = typeof operation.query === 'string' ? operation.query.split('\n') : [];
  return [
    paint('warning', `SQL: ${counted === '' ? 'no statement' : counted}`),
    ...query.map((line) => `  ${visible(line)}`),
    ...parameters.map(([name, value]) =>
      paint('quiet', `  $${visible(name)} = ${visible(JSON.stringify(value))}`),
    ),
  ];
}

function pipelineLines({ action_type, steps, operation }: ActionEffect, paint: Paint): string[] {
  if (action_type !== 'PIPELINE_RUN') return [];
  return [
    paint('warning', `Pipeline ${visible(String(operation.pipeline))}, ${steps.length} step(s)`),
    paint('quiet', `  arguments ${visible(JSON.stringify(operation.arguments ?? {}))}`),
    ...steps.map((digest, i) => paint('quiet', `  step ${i + 1}: ${digest}`)),
  ];
}

function folderLines({ folders }: PlanEffect, paint: Paint): string[] {
  if (folders.length === 0) return [];
  return ['', paint('heading', 'New folders'), ...folders.map((folder) => `  ${visible(folder)}`)];
}

function ruleLines(rules: readonly ValidationRule[], paint: Paint): string[] {
  if (rules.length === 0) return [];
  return [
    '',
    paint('heading', 'Must hold afterwards'),
    ...rules.map((rule) => `  ${rule.type} ${visible(rule.path)}`),
  ];
}

function undoLines({ actions }: PlanEffect, paint: Paint): string[] {
  const lasting = actions.filter(({ undo }) => undo === 'none').map(({ action_id }) => visible(action_id));
  const partly = actions
    .filter(({ undo }) => undo === 'compensating')
    .map(({ action_id }) => visible(action_id));
  const exact = actions.length - lasting.length - partly.length;
  return [
    '',
    paint('heading', 'Undo'),
    `  ${exact} of ${actions.length} action(s) can be undone exactly.`,
    ...(partly.length > 0 ? [paint('warning', `  Undone by a counter-action: ${partly.join(', ')}`)] : []),
    ...(lasting.length > 0 ? [paint('alarm', `  CANNOT BE UNDONE: ${lasting.join(', ')}`)] : []),
  ];
}

function elevatedLines({ elevated }: PlanEffect, paint: Paint): string[] {
  if (elevated.length === 0) return [];
  return [
    '',
    paint('alarm', 'Protected files: a second approver is needed'),
    ...elevated.map((path) => paint('alarm', `  ${visible(path)}`)),
  ];
}

function findingLines(findings: readonly Finding[], paint: Paint): string[] {
  if (findings.length === 0) return [];
  return [
    '',
    paint('heading', 'Content checks'),
    ...findings.map(({ severity, path, line, message, code }) => {
      const text = `${visible(path)}:${line}: ${visible(message)}`;
      return severity === 'refuse'
        ? paint('alarm', `  REFUSED ${text} (${code})`)
        : paint('warning', `  warning ${text}`);
    }),
  ];
}

function limitLines({ actions, instructions }: PlanEffect, paint: Paint): string[] {
  const first = new Map<string, PathChange['before']>();
  const sizes: number[] = [0];
  for (const { path, before, after } of actions.flatMap((action) =>
    action.changes.filter((c) => !isPin(c)),
  )) {
    if (!first.has(path)) first.set(path, before);
    for (const state of [before, after]) if (state !== null && state !== 'unknown') sizes.push(state.size);
  }
  const backup = [...first.values()].reduce(
    (sum, state) => sum + (state === null || state === 'unknown' ? 0 : state.size),
    0,
  );
  return [
    '',
    paint('heading', 'Limits'),
    `  files ${first.size} of ${planLimits.files}`,
    `  largest file ${bytes(Math.max(...sizes))} of ${bytes(planLimits.file_bytes)}`,
    `  backups ${bytes(backup)} of ${bytes(planLimits.backup_bytes)}`,
    `  time at most ${instructions.timeout_ms / 1000} s`,
  ];
}

function bytes(count: number): string {
  if (count < 1024) return `${count} B`;
  return count < 1024 ** 2 ? `${(count / 1024).toFixed(1)} KB` : `${(count / 1024 ** 2).toFixed(1)} MB`;
}
