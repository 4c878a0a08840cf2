import { canonicalText } from '../canonical/json.ts';
import { diffOf } from '../plan/report/diff.ts';
import type { Quorum, Seats } from '../policy/quorum.ts';
import type { PolicySet } from '../policy/set.ts';
import { changedTexts } from '../policy/source.ts';
import { rowsOf } from '../policy/table.ts';
import { Refusal } from '../refusal.ts';
import { diffBlock } from './diff.ts';
import { type Alarm, derived, line, ordered, type Shown, worded, words } from './shown.ts';
import { alarm } from './tool.ts';

/** What a human must see before other policies become the rules: every text that differs, and what is lost. */
export function showPolicies(before: PolicySet | null, next: PolicySet): Shown {
  const diffs = changedTexts(before?.source ?? null, next.source).map(([name, old, now]) => {
    const diff = diffOf(bytesOf(old), bytesOf(now));
    return { name, old, now, diff };
  });
  const count = (which: 'lines_added' | 'lines_removed') =>
    diffs.reduce((sum, { diff }) => sum + (diff.kind === 'text' ? diff[which] : 0), 0);
  const ids = changedIds(before, next);
  return {
    kind: 'policies',
    headline: line('Policies', [
      derived(
        `${counted(diffs.length, 'file')} changed, ${counted(count('lines_added'), 'line')} added, ` +
          `${counted(count('lines_removed'), 'line')} removed`,
      ),
    ]),
    alarms: ordered([
      ...ids.removed.map((id) => alarm('policy-removed', 'POLICY REMOVED', [worded(id, 'derived')])),
      ...quorumAlarms(before?.quorums ?? [], next.quorums),
      ...testAlarms(before?.source.tests ?? null, next.source.tests),
    ]),
    fields: [
      ...(ids.added.length > 0 ? [line('Added', words(ids.added, 'derived'))] : []),
      ...(ids.removed.length > 0 ? [line('Removed', words(ids.removed, 'derived'), 'alarm')] : []),
      ...(ids.changed.length > 0 ? [line('Changed', words(ids.changed, 'derived'), 'warn')] : []),
    ],
    blocks: diffs.map(({ name, old, now, diff }) =>
      diffBlock(
        { path: `policies/${name}`, from: 'derived', was: old !== null, will_be: now !== null },
        diff,
      ),
    ),
    parts: [],
  };
}

function counted(count: number, thing: string): string {
  return `${count} ${count === 1 ? thing : `${thing}s`}`;
}

/** The ids of policies, by what becomes of them. */
export function changedIds(before: PolicySet | null, next: PolicySet) {
  const old = new Map((before?.policies ?? []).map(({ id, text }) => [id, text]));
  const now = new Map(next.policies.map(({ id, text }) => [id, text]));
  return {
    added: [...now.keys()].filter((id) => !old.has(id)).sort(),
    removed: [...old.keys()].filter((id) => !now.has(id)).sort(),
    changed: [...now].flatMap(([id, text]) => (old.has(id) && old.get(id) !== text ? [id] : [])).sort(),
  };
}

function bytesOf(text: string | null): Uint8Array | null {
  return text === null ? null : Buffer.from(text, 'utf8');
}

/** Each quorum that changes has a line of its own, and one that asks for fewer people says so. */
function quorumAlarms(before: readonly Quorum[], after: readonly Quorum[]): Alarm[] {
  const [old, now] = [seatsByName(before), seatsByName(after)];
  return [...old].flatMap(([name, was]): Alarm[] => {
    const becomes = now.get(name);
    if (becomes !== undefined && canonicalText(was) === canonicalText(becomes)) return [];
    const about = [
      worded(name, 'derived'),
      derived(`, ${seatWords(was)} → ${becomes === undefined ? 'gone' : seatWords(becomes)}`),
    ];
    return becomes === undefined || peopleIn(becomes) < peopleIn(was)
      ? [alarm('quorum-lowered', 'QUORUM LOWERED', about)]
      : [{ ...alarm('quorum-changed', 'QUORUM CHANGED', about), weight: 'warn' }];
  });
}

function seatsByName(quorums: readonly Quorum[]): Map<string, readonly Seats[]> {
  return new Map(quorums.map(({ name, each }) => [name, each]));
}

function peopleIn(each: readonly Seats[]): number {
  return each.reduce((sum, { any }) => sum + any, 0);
}

/** `2 of alice, bob, carol and 1 with the role ops`. */
function seatWords(each: readonly Seats[]): string {
  return each
    .map(({ any, of, role }) =>
      [
        any,
        ...(of === undefined ? [] : [`of ${of.join(', ')}`]),
        ...(role === undefined ? [] : [`with the role ${role}`]),
      ].join(' '),
    )
    .join(' and ');
}

/** Rows of the table that are gone, or that expect something else. */
function testAlarms(before: string | null, after: string | null): Alarm[] {
  const [old, now] = [rowsIn(before), rowsIn(after)];
  return [...old].flatMap(([name, row]): Alarm[] => {
    const becomes = now.get(name);
    const about = [worded(name, 'derived')];
    if (becomes === undefined) return [alarm('test-removed', 'TEST REMOVED', about)];
    return becomes === row ? [] : [{ ...alarm('test-changed', 'TEST CHANGED', about), weight: 'warn' }];
  });
}

/** A table that cannot be read has no rows to compare; its text is compared all the same. */
function rowsIn(text: string | null): Map<string, string> {
  if (text === null) return new Map();
  try {
    return new Map(rowsOf(text).map((row) => [row.name, canonicalText(row)]));
  } catch (error) {
    if (error instanceof Refusal) return new Map();
    throw error;
  }
}
