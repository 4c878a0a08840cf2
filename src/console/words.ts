import type { McpEffect } from '../mcp-call/effect.ts';
import type { ActionEffect, PlanEffect } from '../plan/model.ts';
import type { ToolEffect } from '../tool/effect.ts';
import { isOpenWord } from './order.ts';
import { countsOf } from './part/hunks.ts';
import type { Intent, ShownEffect } from './types.ts';

export type EffectToDraw = ToolEffect | PlanEffect | McpEffect;
type Tone = 'danger' | 'warn' | 'ok' | 'plain';

export interface Fact {
  readonly label: string;
  readonly value: string;
  readonly tone: Tone;
  readonly why: string;
}

/** A whole number with its thousands apart. Not by the browser: to load what it knows of languages takes longer than a screen. */
export const grouped = (count: number) => String(count).replace(/\B(?=(\d{3})+$)/g, ',');

export const plural = (count: number, one: string, many = `${one}s`) =>
  `${grouped(count)} ${count === 1 ? one : many}`;

/** Which servers are in shadow mode, and with how many tools. */
export const shadowWords = (servers: readonly { readonly server: string; readonly tools: number }[]) =>
  `${servers.map(({ server, tools }) => `${plural(tools, 'tool')} of ${server}`).join(', ')}.`;

/** What an effect does, without who wants it: made from the effect, and never from the goal. `target` is what the agent chose. */
export interface Deed {
  readonly verb: string;
  readonly target: string | null;
}

const FILES: Readonly<Record<string, string>> = {
  FILE_CREATE: 'create',
  FILE_MODIFY: 'change',
  SCHEMA_UPDATE: 'change',
  FILE_DELETE: 'delete',
  FILE_RENAME: 'move',
};

export function deedOf(effect: EffectToDraw): Deed {
  if (effect.kind === 'tool') {
    const first = effect.chosen[0];
    const target = first ? (effect.argv[first.element] ?? '').slice(first.start, first.end) : null;
    return { verb: `run ${effect.tool}`, target: target === '' ? null : target };
  }
  if (effect.kind === 'mcp') {
    return { verb: `call ${effect.called}`, target: targetOf(effect) };
  }
  const { actions } = effect;
  if (actions.length === 1) {
    const [only] = actions as [ActionEffect];
    return { verb: FILES[only.action_type] ?? OTHER[only.action_type] ?? 'change', target: only.target };
  }
  const counted = new Map<string, number>();
  for (const { action_type } of actions) {
    const word = FILES[action_type] ?? OTHER[action_type] ?? 'change';
    counted.set(word, (counted.get(word) ?? 0) + 1);
  }
  const said = [...counted].map(([word, count], i) =>
    i === 0 && !word.startsWith('run') ? `${word} ${plural(count, 'file')}` : `${word} ${count}`,
  );
  return {
    verb: said.length > 1 ? `${said.slice(0, -1).join(', ')} and ${said.at(-1)}` : said[0]!,
    target: null,
  };
}

/**
 * The first argument that the accepted definition asks for and that fits into a line. An argument that it does not name is never the target: an
 * agent could add one to have the headline say something else.
 */
function targetOf({ definition, arguments: values }: Extract<EffectToDraw, { kind: 'mcp' }>): string | null {
  const { inputSchema } = definition as { inputSchema?: unknown };
  const { required, properties } = (inputSchema ?? {}) as { required?: unknown; properties?: object };
  const asked = [...(Array.isArray(required) ? required : []), ...Object.keys(properties ?? {})];
  const fits = (value: unknown) => typeof value === 'string' && value !== '' && !value.includes('\n');
  const name = asked.find((one) => Object.hasOwn(values, one) && fits(values[one]));
  return name === undefined ? null : (values[name] as string);
}

const OTHER: Readonly<Record<string, string>> = { SQL_EXECUTE: 'run SQL on', PIPELINE_RUN: 'run pipeline' };

/** Cut in the middle: the whole stands below. */
export function cut(text: string, most = 64): string {
  const all = [...text];
  return all.length <= most
    ? text
    : `${all.slice(0, Math.ceil(most / 2) - 1).join('')}…${all.slice(-(Math.floor(most / 2) - 1)).join('')}`;
}

const HIGH: ReadonlySet<string> = new Set([
  'no-sandbox',
  'root',
  'network',
  'secret',
  'protected',
  'drop',
  'truncate',
  'delete-all',
  'update-all',
  'unseen',
  'policy-removed',
  'quorum-lowered',
]);

/** From the alarms, worst first. They come from the effect. */
export function riskOf(shown: ShownEffect): Fact {
  const [worst] = shown.alarms.filter(({ alarm }) => HIGH.has(alarm));
  if (worst) return { label: 'Risk', value: 'High', tone: 'danger', why: aboutOf(worst) };
  const [other] = shown.alarms;
  if (other) return { label: 'Risk', value: 'Medium', tone: 'warn', why: aboutOf(other) };
  return { label: 'Risk', value: 'Low', tone: 'plain', why: 'Nothing about it raises an alarm.' };
}

function aboutOf({ words, about }: ShownEffect['alarms'][number]): string {
  const on = about.map(({ text }) => text).join('');
  return words.includes(':') || on === ''
    ? sentence(words)
    : `${sentence(words).slice(0, -1)}: ${cut(on, 48)}.`;
}

/** `NO SANDBOX: this tool can …` as a sentence; the head alone where nothing follows it. */
export function sentence(words: string): string {
  const [, head = words, rest = ''] = /^([A-Z0-9 ()_]+)(?:: (.*))?$/s.exec(words) ?? [];
  const text = rest === '' ? (head === words.toUpperCase() ? head.toLowerCase() : head) : rest;
  return `${text[0]?.toUpperCase() ?? ''}${text.slice(1)}.`;
}

/** Where it must run, if the registry says so: the name or a label of executors. */
export function calledExecutor(effect: EffectToDraw): string | null {
  const started =
    effect.kind === 'plan'
      ? effect.actions.flatMap(({ steps }) => steps)
      : [effect.kind === 'mcp' ? effect.start : effect];
  for (const one of started) if (one.kind === 'tool' && one.executor !== null) return one.executor;
  return null;
}

export function undoFact(effect: EffectToDraw): Fact {
  const label = 'Undo';
  if (effect.kind === 'mcp')
    return { label, value: 'Not possible', tone: 'danger', why: 'An MCP server declares no undo.' };
  if (effect.kind === 'tool') {
    if (effect.undo === 'none')
      return { label, value: 'Not possible', tone: 'danger', why: 'What it does stays done.' };
    if (effect.undo === 'exact')
      return { label, value: 'Exact', tone: 'ok', why: 'The registry says that it can be undone exactly.' };
    const by = effect.undone_by?.tool;
    return {
      label,
      value: 'By another call',
      tone: 'warn',
      why: by ? `${by} makes up for it, as the registry says.` : 'Another call makes up for it.',
    };
  }
  const all = effect.actions.length;
  const exact = effect.actions.filter(({ undo }) => undo === 'exact').length;
  if (exact === all)
    return {
      label,
      value: `Exact, ${exact} of ${all}`,
      tone: 'ok',
      why: 'Backups are made before the first byte changes.',
    };
  if (exact === 0)
    return {
      label,
      value: 'Not possible',
      tone: 'danger',
      why: 'None of its actions can be undone exactly.',
    };
  return {
    label,
    value: `${exact} of ${all} exact`,
    tone: 'warn',
    why: 'The others cannot be undone exactly.',
  };
}

/** Added and removed lines of all diffs. */
function linesOf(shown: ShownEffect): { readonly added: number; readonly removed: number } {
  return countsOf([shown, ...shown.parts].flatMap(({ blocks }) => blocks.flatMap(({ hunks }) => hunks)));
}

export function changesFact(effect: EffectToDraw, shown: ShownEffect): Fact {
  const label = 'Changes';
  if (effect.kind === 'plan') {
    const paths = new Set(
      effect.actions.flatMap(({ changes }) =>
        changes
          .filter(({ before, after }) => JSON.stringify(before) !== JSON.stringify(after))
          .map(({ path }) => path),
      ),
    );
    const { added, removed } = linesOf(shown);
    const steps = effect.actions.reduce((sum, { steps }) => sum + steps.length, 0);
    const after = effect.instructions.rollback_on_failure
      ? 'A failure rolls everything back.'
      : 'A failure rolls nothing back.';
    return {
      label,
      value: `${plural(paths.size, 'file')}, +${grouped(added)} −${grouped(removed)}`,
      tone: steps > 0 ? 'warn' : 'plain',
      why:
        steps > 0
          ? `Runs ${plural(steps, 'step')}. ${after}`
          : `No network, no secrets, no commands. ${after}`,
    };
  }
  const started = effect.kind === 'mcp' ? effect.start : effect;
  if (started.kind === 'url')
    return {
      label,
      value: 'Another machine',
      tone: 'danger',
      why: `The arguments are sent to ${cut(started.url, 48)}. What runs there is not seen here.`,
    };
  const { sandbox } = started;
  if (sandbox === 'none')
    return {
      label,
      value: 'Anything',
      tone: 'danger',
      why: 'Without a sandbox it can change whatever its user can.',
    };
  const net = sandbox.network ? 'It reaches every host.' : 'No network.';
  if (sandbox.write.length === 0)
    return { label, value: 'No files', tone: 'plain', why: `It writes nothing. ${net}` };
  return {
    label,
    value: plural(sandbox.write.length, 'place'),
    tone: 'warn',
    why: `It may write ${cut(sandbox.write.join(', '), 48)}. ${net}`,
  };
}

/** How many yeses there are, and whether mine is enough. */
export function approvalOf(
  { approvals, approvals_needed, approvers, missing, status_word }: Intent,
  name: string | null,
): Fact {
  const label = 'Approval';
  if (!isOpenWord(status_word)) {
    const signed = [...new Set(approvals.map(({ by }) => by))];
    const why = signed.length === 0 ? 'It was not approved.' : `${signed.join(', ')} approved it.`;
    return { label, value: plural(signed.length, 'human'), tone: 'plain', why };
  }
  const mine = name !== null && approvers.includes(name);
  const left = missing - (mine ? 0 : 1);
  // The policies can ask for more than the effect needs.
  const needed = Math.max(approvals_needed, approvers.length + missing);
  const why = `${approvers.length} of ${needed} approved.`;
  if (mine)
    return {
      label,
      value: left <= 0 ? 'Enough' : `${plural(left, 'more', 'more')} needed`,
      tone: 'plain',
      why: `${why} You approved it.`,
    };
  return left <= 0
    ? { label, value: 'You are enough', tone: 'plain', why }
    : { label, value: `You and ${left} more`, tone: 'plain', why };
}

/** `23 min`, `22 h`, `3 days`. */
export function span(ms: number): string {
  const s = Math.max(0, Math.round(ms / 1000));
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min`;
  return s < 172_800 ? `${Math.floor(s / 3600)} h` : `${Math.floor(s / 86_400)} days`;
}

const two = (value: number) => String(value).padStart(2, '0');

export function clockOf(at: string | number): string {
  const time = new Date(at);
  return [time.getHours(), time.getMinutes(), time.getSeconds()].map(two).join(':');
}

export const dayOf = (at: string | number) =>
  new Date(at).toLocaleDateString('en-GB', { day: 'numeric', month: 'short', year: 'numeric' });

/** What a list shows of an intent whose effect was not asked for. */
export function listedDeed({ effect, tool }: Pick<Intent, 'effect' | 'tool'>): Deed {
  if (effect === 'plan') return { verb: 'Plan', target: tool };
  return { verb: `${effect === 'mcp' ? 'Call' : 'Run'} ${tool}`, target: null };
}

export const capital = (text: string) => `${text[0]?.toUpperCase() ?? ''}${text.slice(1).toLowerCase()}`;
