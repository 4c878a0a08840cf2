import { argument, visible } from '../canonical/visible.ts';
import type { Conditions, ResourceScope, Result } from '../keyturn.ts';
import type { Field, Span } from './fold.ts';

/** What a capability lets a run reach, in words. */
export function scopeWords({ unconfined, network, read, write, pipelines }: ResourceScope): Span[] {
  const runs = pipelines.length > 0 ? `, runs ${pipelines.map(argument).join(' ')}` : '';
  if (unconfined) return [['alarm', 'EVERYTHING, without a sandbox'], runs];
  return [
    network ? ['yellow', 'NETWORK'] : 'no network',
    read.length > 0 ? `, reads ${read.map(argument).join(' ')}` : '',
    ', ',
    write.length > 0 ? ['yellow', `WRITES ${write.map(argument).join(' ')}`] : 'writes nothing',
    runs,
  ];
}

export function plainScope(scope: ResourceScope): string {
  return scopeWords(scope)
    .map((span) => (typeof span === 'string' ? span : span[1]))
    .join('');
}

/** What must hold when it runs, in words; empty when nothing was asked for. */
export function conditionWords({ not_before, environment, host, hours, files = {} }: Conditions): string {
  const found = [
    ...(not_before === undefined ? [] : [`not before ${not_before}`]),
    ...(environment === undefined ? [] : [`in the environment ${argument(environment)}`]),
    ...(host === undefined ? [] : [`on the host ${argument(host)}`]),
    ...(hours === undefined ? [] : [`from ${hours.from} to ${hours.to} o'clock UTC`]),
    ...Object.entries(files).map(([path, digest]) =>
      digest === null ? `no file ${argument(path)}` : `${argument(path)} is ${digest}`,
    ),
  ];
  return visible(found.join('; '));
}

export function conditionFields(conditions: Conditions | undefined): Field[] {
  const words = conditionWords(conditions ?? {});
  return words === '' ? [] : [['Only if', words]];
}

/** What allows this run: which capability, by whose word, until when, and how far it reaches. */
export function capabilityFields(capability: Result<'runs.preview'>['capability']): Field[] {
  const { capability_id, by, scope, conditions, holder, expires_at, depth } = capability;
  const narrowed = depth === 0 ? '' : `, made narrower ${depth === 1 ? 'once' : `${depth} times`}`;
  return [
    ['Capability', `${capability_id}${narrowed}`],
    ['Ordered by', by],
    ['Good until', expires_at],
    ['Scope', scopeWords(scope)],
    ...conditionFields(conditions),
    ...(holder === null ? [] : ([['Holder', holder]] as const)),
  ];
}

/** Loud, because two humans went past a freeze or past the policies. */
export function breakGlassBanner(what: string): string[] {
  const bar = '!'.repeat(72);
  return [
    bar,
    '!!!  BREAK-GLASS',
    `!!!  ${what}`,
    '!!!  It goes past any freeze and what policies forbid. The ledger shows it.',
    bar,
  ];
}

export const BREAK_GLASS_LINE = '!!! BREAK-GLASS: this runs although it is frozen or a policy forbids it !!!';
