import { visible } from '../../canonical/visible.ts';
import { copyStore, migrateStore, repairStore } from '../../keyturn.ts';
import { cliLimits } from '../../limits.ts';
import { refuse } from '../../refusal.ts';
import type { Answer, Call } from '../answer.ts';
import { folderOf, reading } from '../project.ts';
import { say } from '../say.ts';
import type { Result } from '../schema.ts';
import { fields } from '../table.ts';
import { readText } from './ledger.ts';

/** No place is ever shown as it was typed: it may hold a password. */
export async function copy(call: Call): Promise<Answer> {
  const [from, to] = call.operands as [string, string];
  const { tenant, json } = call.options;
  const copied = await copyStore({
    at: folderOf(call),
    from,
    to,
    ...(typeof tenant === 'string' ? { tenant } : {}),
    ...(json ? {} : { onProgress: progress() }),
  });
  const { size, last } = copied.tip;
  const result: Result<'store copy'> = {
    from: copied.from,
    to: copied.to,
    tenant: copied.tenant,
    entries: size,
    last,
    resumed_at: copied.resumed_at,
    objects: copied.objects,
  };
  return { result, lines: copiedLines(result) };
}

function copiedLines({
  from,
  to,
  tenant,
  entries,
  last,
  resumed_at,
  objects,
}: Result<'store copy'>): string[] {
  return [
    `[OK] Both stores end with the same entry`,
    ...fields([
      ['From', from],
      ['To', to],
      ['Tenant', tenant],
      ['Entries', `${entries}${resumed_at === 0 ? '' : `, ${resumed_at} of them from an earlier copy`}`],
      ['Last', last],
      ['Objects', `${objects} copied`],
    ]),
    'Next: name the new store in keyturn.yaml on every host, and use the old one no more.',
  ];
}

export async function migrate(call: Call): Promise<Answer> {
  // It needs no project, and a service is refused.
  folderOf(call);
  const [url] = call.operands as [string];
  const { application } = call.options;
  const result: Result<'store migrate'> = await migrateStore({
    url,
    ...(application !== undefined && { application }),
  });
  const { store, from, version } = result;
  return {
    result,
    lines: [
      from === version ? '[OK] The tables have the newest form' : '[OK] The tables were made or updated',
      ...fields([
        ['Store', store],
        ['Version', `${version}${from === version ? '' : from === null ? ', new' : `, before ${from}`}`],
        ['Application', result.application ?? 'none: no role was granted anything'],
      ]),
    ],
  };
}

export async function repair(call: Call): Promise<Answer> {
  const [url] = call.operands as [string];
  const { tenant, head = [], keep, readableToo = false } = call.options;
  const { first, ...repaired } = await repairStore({
    at: folderOf(call),
    url,
    kept: head.map(readText),
    readable_too: readableToo,
    ...(typeof tenant === 'string' && { tenant }),
    ...(keep !== undefined && { keep: entriesOf(keep) }),
  });
  const result: Result<'store repair'> = { ...repaired, first: [...first] };
  return { result, lines: [...repairLines(result), ...pastLines(result)] };
}

function entriesOf(text: string): number {
  if (!/^[1-9][0-9]{0,14}$/.test(text))
    refuse('USAGE', '--keep takes the number of entries that the look named.');
  return Number(text);
}

function repairLines(result: Result<'store repair'>): string[] {
  const { store, tenant, entries, stored_size, problem, set_aside, written } = result;
  if (set_aside === 0 && stored_size === entries)
    return [`[OK] Nothing to repair: ${entries} entries verify, and the store says that there are as many`];
  return [
    written
      ? `[OK] The ledger ends after ${entries} entries, and what is stored beside it was made again`
      : `Nothing was changed. To end the ledger after ${entries} entries, repeat with --keep ${entries}`,
    ...fields([
      ['Store', store],
      ['Tenant', tenant],
      ['Entries', `${entries} verify; the store said ${stored_size}`],
      ['Problem', problem ?? 'the end was moved back'],
      ['Set aside', `${set_aside} rows${written ? ', now in keyturn.set_aside' : ''}`],
    ]),
  ];
}

function pastLines({ first, set_aside }: Result<'store repair'>): string[] {
  const lines = first.map(({ seq, at, kind, subject }) =>
    kind === null ? `  ${seq}  cannot be read` : `  ${seq}  ${at}  ${kind}  ${visible(subject ?? '')}`,
  );
  return set_aside > first.length ? [...lines, `  and ${set_aside - first.length} more`] : lines;
}

/** A line for a person now and then, beside the answer. */
function progress(): (progress: { entries: number; of_entries: number; objects: number }) => void {
  let told_ms = -cliLimits.progress_ms;
  return ({ entries, of_entries, objects }) => {
    if (performance.now() - told_ms < cliLimits.progress_ms) return;
    told_ms = performance.now();
    say(2, `${entries} of ${of_entries} entries, ${objects} objects`);
  };
}

export function verify(call: Call): Promise<Answer> {
  const { key, deep = false, head = [] } = call.options;
  const kept = head.map(readText);
  return reading(call, async (keyturn) => {
    const result = await keyturn.ledger.verifyStore({ kept, deep, key });
    const { store, size, root, rows, objects } = result;
    return {
      result,
      lines: [
        `[OK] The ledger of ${size} entries verifies, and all that is stored beside it follows from it`,
        ...fields([
          ['Store', store],
          ['Root', root],
          ['State', `${rows} rows`],
          ['Objects', `${objects}`],
        ]),
      ],
    };
  });
}
