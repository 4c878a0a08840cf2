import { isUtf8 } from '../canonical/primitive.ts';
import type { ActionEffect, FileState, PathChange } from '../plan/model.ts';
import type { Collector, SeenChange } from '../plan/preview/collect.ts';
import { isPin } from '../plan/state/pin.ts';
import { type DiffRoom, diffBlock } from './diff.ts';
import {
  type Alarm,
  agent,
  type Block,
  block,
  derived,
  type Line,
  line,
  ordered,
  type Piece,
  type Shown,
  spaced,
  valued,
  worded,
  words,
} from './shown.ts';
import { showSqlStep, sqlAlarms } from './sql.ts';
import { alarm, showTool } from './tool.ts';

/** What was seen of the files while a plan was derived: diffs, and what is odd about their contents. */
export type SeenFiles = Pick<Collector, 'changeOf' | 'findings'> & {
  /** Where there is one, diffs that do not fit in it are told without their lines. */
  readonly diff_room?: DiffRoom;
};

/** One action of a plan. A pipeline has its steps as parts, each a tool call or SQL. */
export function showAction(action: ActionEffect, seen: SeenFiles | null): Shown {
  const steps = action.steps.map((step) => (step.kind === 'tool' ? showTool(step) : showSqlStep(step)));
  const blocks = blocksOf(action, seen);
  return {
    kind: 'action',
    headline: line('Action', headline(action)),
    alarms: ordered([...actionAlarms(action), ...binaryAlarms(action, seen), ...unseenAlarms(blocks)]),
    fields: Object.values(FIELDS).flatMap((fieldsOf) => fieldsOf(action)),
    blocks,
    parts: steps,
  };
}

/** `FILE_RENAME a.txt to b.txt (move-it)`. */
function headline(action: ActionEffect): Piece[] {
  const { action_id, action_type, target } = action;
  const to = action.action_type === 'FILE_RENAME' ? action.operation.destination : null;
  return [
    agent(action_type),
    derived(' '),
    worded(target, 'agent'),
    ...(to === null ? [] : [derived(' to '), worded(to, 'agent')]),
    derived(' ('),
    agent(action_id),
    derived(')'),
  ];
}

function actionAlarms(action: ActionEffect): Alarm[] {
  const { action_type, target, undo } = action;
  const found: Alarm[] = [];
  if (action_type === 'FILE_DELETE') found.push(alarm('delete', 'DELETES', [worded(target, 'agent')]));
  const sql = sqlOf(action);
  if (sql !== null) found.push(...sqlAlarms(sql));
  if (undo === 'none') found.push(alarm('no-undo', 'NO UNDO: what it does stays done'));
  return found;
}

/** The attacker is a plan that writes one odd byte behind a script, so that it is not shown as text. */
function binaryAlarms(action: ActionEffect, seen: SeenFiles | null): Alarm[] {
  if (action.action_type === 'FILE_RENAME') return [];
  const odd = action.changes.filter((change) => change.after !== null && isBinary(action, change, seen));
  if (odd.length === 0) return [];
  const paths = odd.map(({ path }) => path);
  return [
    alarm('binary', 'NOT TEXT: a program may read its bytes otherwise than you', words(paths, 'agent')),
  ];
}

function isBinary({ action_id }: ActionEffect, { path }: PathChange, seen: SeenFiles | null): boolean {
  return seen?.changeOf(action_id, path)?.diff.kind === 'binary';
}

function unseenAlarms(blocks: readonly Block[]): Alarm[] {
  const cut = blocks.filter(({ left_out }) => left_out > 0);
  return cut.map(({ title, left_out }) =>
    alarm('unseen', 'NOT ALL IS SHOWN', [...title, derived(`, ${left_out} more lines`)]),
  );
}

function sqlOf(action: ActionEffect): string | null {
  return (action.action_type === 'SQL_EXECUTE' ? action.operation.query : null) ?? action.query_text;
}

/** Every field of an action has its lines here, or in its headline, blocks and parts. */
const FIELDS: { readonly [K in keyof ActionEffect]: (action: ActionEffect) => Line[] } = {
  action_id: () => [],
  action_type: () => [],
  target: () => [],
  depends_on: ({ depends_on }) =>
    depends_on.length === 0
      ? []
      : [
          line(
            'After',
            spaced(
              depends_on.map((id) => [agent(id)]),
              ', ',
            ),
          ),
        ],
  operation: operationLines,
  changes: ({ changes }) => changes.map(changeLine),
  statements: ({ statements }) =>
    statements.length === 0 ? [] : [line('Statements', [derived(statements.join(', '))])],
  query_text: () => [],
  steps: ({ steps }) => (steps.length === 0 ? [] : [line('Steps', [derived(String(steps.length))], 'warn')]),
  undo: ({ undo }) => [line('Undo', [derived(undo)], undo === 'none' ? 'alarm' : 'dim')],
  timeout_ms: ({ timeout_ms }) => [line('Time', [agent(`at most ${timeout_ms / 1000} s`)], 'dim')],
};

/** Shown as a block or in the headline, not as a line. */
const IN_BLOCKS: { readonly [T in ActionEffect['action_type']]?: readonly string[] } = {
  FILE_CREATE: ['content'],
  FILE_RENAME: ['destination'],
  SQL_EXECUTE: ['query'],
};

const LABELS: Readonly<Record<string, string>> = {
  type: 'Operation',
  readable: 'Reads',
  query_file: 'Query file',
  content_file: 'Content file',
  save_results_to: 'Saves to',
  mode: 'Mode',
};

function operationLines({ action_type, operation }: ActionEffect): Line[] {
  return Object.entries(operation)
    .filter(([key]) => !IN_BLOCKS[action_type]?.includes(key))
    .filter(([, value]) => !isEmpty(value))
    .map(([key, value]) => line(LABELS[key] ?? 'With', operationPieces(key, value), weightOf(key)));
}

/** An empty list or record says nothing: the default of the schema. */
function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

function weightOf(key: string): Line['weight'] {
  return key === 'readable' || key === 'content_file' || key === 'save_results_to' ? 'warn' : 'plain';
}

function operationPieces(key: string, value: unknown): Piece[] {
  if (key === 'mode' && typeof value === 'number') return [agent(octal(value))];
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) {
    const list = words(value, 'agent');
    return key in LABELS ? list : [agent(key), derived(' = '), ...list];
  }
  return key in LABELS ? [valued(value, 'agent')] : [agent(key), derived(' = '), valued(value, 'agent')];
}

function changeLine({ path, before, after }: PathChange): Line {
  const pin = isPin({ path, before, after });
  return line(pin ? 'Reads' : 'Changes', [
    worded(path, 'agent'),
    derived(pin ? `, ${stateWords(before)}` : `, ${stateWords(before)} → ${stateWords(after)}`),
  ]);
}

function stateWords(state: PathChange['before']): string {
  if (state === null) return 'nothing';
  if (state === 'unknown') return 'known only after the run';
  const { size, mode, sha256, attributes } = state;
  const more = attributes === undefined ? '' : `, attributes ${attributes.slice(0, 12)}`;
  return `${size} bytes, mode ${octal(mode)}, ${sha256.slice(0, 12)}${more}`;
}

function octal(mode: FileState['mode']): string {
  return mode.toString(8).padStart(4, '0');
}

function blocksOf(action: ActionEffect, seen: SeenFiles | null): Block[] {
  const { action_id, changes, query_text } = action;
  const sql = sqlOf(action);
  const diffs = changes
    .filter((change) => !isPin(change))
    .map((change) => [change, seen?.changeOf(action_id, change.path) ?? null] as const);
  const found = diffs.flatMap(([change, one]) =>
    one === null ? [] : [changeBlock(change, one, seen?.diff_room)],
  );
  return [
    ...(sql === null ? [] : [block('sql', [derived('SQL')], sql, query_text === null ? 'agent' : 'derived')]),
    // A diff of a new file is its content, so that it is not shown twice. Of what is no text there is no diff.
    ...(action.action_type === 'FILE_CREATE' &&
    'content' in action.operation &&
    diffs.every(([, one]) => one?.diff.kind !== 'text')
      ? [block('text', [derived('Content')], textIn(action.operation), 'agent')]
      : []),
    // A file that is only renamed brings nothing new.
    ...(action.action_type === 'FILE_RENAME' ? [] : found),
  ];
}

/** Every byte can be told: those that are no text are escaped. Base64 in any other form than its one exact one decodes to less. */
function textIn({ content, encoding }: CreateOperation): string {
  const bytes = Buffer.from(content, 'base64');
  if (encoding !== 'base64' || bytes.toString('base64') !== content) return content;
  if (isUtf8(bytes)) return bytes.toString('utf8');
  return bytes.toString('latin1').replace(/[\x80-\xff]/g, (byte) => `\\x${byte.charCodeAt(0).toString(16)}`);
}

type CreateOperation = Extract<
  Extract<ActionEffect, { action_type: 'FILE_CREATE' }>['operation'],
  { content: string }
>;

function changeBlock(
  { path, before, after }: PathChange,
  { diff, lines_left_out }: SeenChange,
  room?: DiffRoom,
): Block {
  return diffBlock(
    { path, from: 'agent', was: before !== null, will_be: after !== null },
    diff,
    lines_left_out,
    room,
  );
}
