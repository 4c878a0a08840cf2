import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sha256 } from '../../src/canonical/digest.ts';
import { archive } from '../../src/journey/archive.ts';
import {
  excerptOfExportFile,
  rehearseAct,
  storyInFile,
  verifyExportFile,
  verifySegmentFiles,
} from '../../src/keyturn.ts';
import { readConfig } from '../../src/project/config.ts';
import { journeyContext } from '../../src/project/context.ts';
import { readLedgerKey } from '../../src/project/keys.ts';
import { openLedger } from '../../src/project/open.ts';
import { type ReasonCode, refuse } from '../../src/refusal.ts';
import type { Store } from '../../src/store/store.ts';
import { SILENT } from '../../src/telemetry.ts';
import { sqlite } from '../store/sqlite-file.ts';
import type { Project } from '../support/project.ts';
import { expectRefusal } from '../support/refusal.ts';
import { scratch } from '../support/scratch.ts';
import { agent, authority, elsewhere, lastBody, proposeSay } from './authority.ts';

const DAY_MS = 86_400_000;
const HOUR_S = 3_600;

interface Aged extends Project {
  /** Lets a day go by. */
  readonly later: () => void;
}

/** A project whose clock a test sets. */
async function aged(): Promise<Aged> {
  let now = Date.parse('2026-01-01T12:00:00.000Z');
  const p = await authority(() => new Date(now));
  return {
    ...p,
    later: () => {
      now += DAY_MS;
    },
  };
}

interface Segment {
  readonly path: string;
  readonly from: number;
  readonly to: number;
}

async function archived({ keyturn, ada }: Project, path = join(scratch(), 'old.jsonl')): Promise<Segment> {
  const request = { older_than_s: HOUR_S, out: path, reason: 'old', signer: ada };
  const { from, to } = await keyturn.ledger.archive(request);
  return { path, from, to };
}

/** Three segments, one a day. */
async function threeDays(p: Aged): Promise<Segment[]> {
  const segments: Segment[] = [];
  for (let day = 0; day < 3; day++) {
    await proposeSay(p);
    await proposeSay(p);
    p.later();
    // Too new: the head knows it, and the segment does not hold it.
    await proposeSay(p);
    segments.push(await archived(p));
  }
  return segments;
}

const keyOf = async ({ keyturn }: Project) => (await keyturn.ledger.head()).key;

/** The lines of the file, changed, in another file. */
function changed({ path }: Segment, change: (lines: string[]) => string[]): string {
  const out = join(scratch(), 'changed.jsonl');
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
  writeFileSync(out, `${change(lines).join('\n')}\n`);
  return out;
}

describe('an archive', () => {
  it('holds the entries that are old and not archived yet, and verifies alone', async () => {
    const p = await aged();
    const segments = await threeDays(p);
    const key = await keyOf(p);
    expect(segments[0]!.from).toBe(0);
    expect(segments[1]!.from).toBe(segments[0]!.to);
    for (const { path, from, to } of segments) {
      const verified = await verifyExportFile(path, { key });
      expect(verified).toMatchObject({ from, size: to });
      expect(verified.objects!.stored).toBeGreaterThan(2);
      expect(statSync(path).mode & 0o777).toBe(0o600);
    }
    expect((await verifyExportFile(segments[0]!.path, { key, deep: true })).founder!.name).toBe('ada');
    await p.keyturn.ledger.verify({ deep: true });
    expect((await p.keyturn.ledger.rebuild({ write: false })).differences).toEqual([]);
  });

  it('is recorded with its digest, signed by a human', async () => {
    const p = await aged();
    p.later();
    const { path, from, to } = await archived(p);
    expect(await lastBody(p, 'system')).toMatchObject({
      ...{ from, to, file: basename(path), by: 'ada', reason: 'old' },
      sha256: sha256(readFileSync(path)),
      bytes: statSync(path).size,
    });
  });

  it('of nothing is not written, nor over a file, nor for an agent', async () => {
    const p = await aged();
    const out = join(scratch(), 'old.jsonl');
    await expectRefusal('SEGMENT_EMPTY', () => archived(p, out));
    p.later();
    await archived(p, out);
    await proposeSay(p);
    p.later();
    const before = readFileSync(out);
    await expectRefusal('FILE_EXISTS', () => archived(p, out));
    expect(readFileSync(out).equals(before)).toBe(true);
    const scout = await agent(p, 'scout');
    const other = join(scratch(), 'other.jsonl');
    await expectRefusal('NOT_HUMAN', () => archived({ ...p, ada: scout }, other));
    expect(existsSync(other)).toBe(false);
  });

  it('is rehearsed without a file: what would refuse it is asked, and nothing is written', async () => {
    const p = await aged();
    p.later();
    const folder = scratch();
    const rehearsed = (out: string) =>
      rehearseAct(p.ada, (signer) =>
        p.keyturn.ledger.archive({ older_than_s: HOUR_S, out, reason: 'old', signer }),
      );
    const { mtimeNs } = statSync(folder, { bigint: true });
    await rehearsed(join(folder, 'old.jsonl'));
    expect(statSync(folder, { bigint: true }).mtimeNs).toBe(mtimeNs);
    await expectRefusal('WRITE_FAILED', () => rehearsed(join(folder, 'missing', 'old.jsonl')));
    writeFileSync(join(folder, 'old.jsonl'), '');
    await expectRefusal('FILE_EXISTS', () => rehearsed(join(folder, 'old.jsonl')));
  });

  it('is not written where an object is lost that no entry removed', async () => {
    const p = await aged();
    const { hash } = await proposeSay(p);
    p.later();
    sqlite(p.keyturn.layout.store, (db) => db.prepare('DELETE FROM object WHERE digest = ?').run(hash));
    const out = join(scratch(), 'old.jsonl');
    const { facts } = await expectRefusal('OBJECT_MISSING', () => archived(p, out));
    expect(facts).toMatchObject({ digest: hash });
    expect(existsSync(out)).toBe(false);
  });

  it('stays where it is unknown whether its entry was written', async () => {
    const { keyturn, ada } = await authority();
    const { layout } = keyturn;
    const [config, clock, out] = [readConfig(layout), () => new Date(), join(scratch(), 'old.jsonl')];
    const opened = await openLedger(layout, config, { clock, mode: 'write' });
    // As a server does that is gone before it answers.
    const commit: Store['commit'] = async (batch) => {
      await opened.store.commit(batch);
      return refuse('WRITE_FAILED');
    };
    const ledger = { ...opened, store: { ...opened.store, commit } };
    const context = journeyContext(layout, config, ledger, clock, SILENT, null);
    const request = { older_than_s: 0, out, reason: 'old', signer: ada };
    await expectRefusal('WRITE_FAILED', () => archive(context, readLedgerKey(layout), request));
    await opened.store.close();
    expect(await lastBody({ keyturn } as Project, 'system')).toMatchObject({
      sha256: sha256(readFileSync(out)),
    });
  });

  it('tells the story of an intent in it, also where it begins later', async () => {
    const p = await aged();
    await threeDays(p);
    const { intent_id } = await proposeSay(p, { declared_goal: 'Found in a file.' });
    p.later();
    const { path } = await archived(p);
    const request = { subjects: [intent_id], limit: 5, key: await keyOf(p), kept: [] };
    await expectRefusal('SEGMENT_MISSING', () => excerptOfExportFile(path, request));
    const found = await excerptOfExportFile(path, { ...request, deep: false });
    const story = await storyInFile({ ...found, before: [], now: new Date() });
    expect(story).toMatchObject({ envelope: { declared_goal: 'Found in a file.' }, signers_known: false });
    expect(story.intent).toMatchObject({ approvers: [], missing: 0, ordered_until: null });
  });
});

describe('what was archived and then removed by gc', () => {
  it('is told with the file that it is in, and is in that file', async () => {
    const p = await aged();
    const long = `Say it. ${'x'.repeat(2_000)}`;
    const intent = await proposeSay(p, { declared_goal: long });
    await p.keyturn.intents.reject({ ...intent, reason: 'no', signer: p.ada });
    p.later();
    const { path } = await archived(p);
    const { objects } = await p.keyturn.system.previewGc({ keep_bytes: 0 });
    const given = { runs: [], objects: objects.removes, reason: 'full', signer: p.ada };
    expect((await p.keyturn.system.gc(given)).objects.objects).toBeGreaterThan(0);
    const { absent } = await p.keyturn.intents.story({ intent_id: intent.intent_id });
    const archive = { file: basename(path), sha256: sha256(readFileSync(path)) };
    expect(absent).toMatchObject({ expired: { by: 'ada', archive } });
    const request = { subjects: [intent.intent_id], limit: 5, key: await keyOf(p) };
    const found = await excerptOfExportFile(path, request);
    const story = await storyInFile({ ...found, before: [], now: new Date() });
    expect(story).toMatchObject({ envelope: { declared_goal: long } });
    await p.keyturn.ledger.verify({ deep: true });
  });

  it('and was not archived is told without a file', async () => {
    const p = await aged();
    const intent = await proposeSay(p, { declared_goal: 'x'.repeat(2_000) });
    await p.keyturn.intents.reject({ ...intent, reason: 'no', signer: p.ada });
    const { objects } = await p.keyturn.system.previewGc({ keep_bytes: 0 });
    await p.keyturn.system.gc({ runs: [], objects: objects.removes, reason: 'full', signer: p.ada });
    p.later();
    await archived(p);
    const { absent } = await p.keyturn.intents.story({ intent_id: intent.intent_id });
    expect(absent).toMatchObject({ expired: { by: 'ada' } });
    expect(absent).not.toHaveProperty('expired.archive');
  });
});

describe('archives together', () => {
  it('verify as the whole, with every signature, and through a head that was kept', async () => {
    const p = await aged();
    const heads: string[] = [];
    const segments: Segment[] = [];
    for (let day = 0; day < 3; day++) {
      await proposeSay(p);
      heads.push((await p.keyturn.ledger.head()).text);
      p.later();
      segments.push(await archived(p));
    }
    const key = await keyOf(p);
    const paths = segments.map(({ path }) => path);
    const options = { key, deep: true, kept: heads };
    expect(await verifySegmentFiles(paths, options)).toMatchObject({ from: 0, size: segments[2]!.to });
    await expectRefusal('SEGMENT_MISSING', () => verifySegmentFiles(paths.slice(0, 2), options));
    // Not deep, a run of them need not begin with the first.
    const later = await verifySegmentFiles(paths.slice(1), { key });
    expect(later).toMatchObject({ from: segments[1]!.from, size: segments[2]!.to });
    await expectRefusal('SEGMENT_MISSING', () => verifySegmentFiles(paths.slice(1), { key, deep: true }));
  });

  it('are refused where one is missing, twice there, out of order, or of another ledger', async () => {
    const p = await aged();
    const [first, second, third] = (await threeDays(p)).map(({ path }) => path) as [string, string, string];
    const key = await keyOf(p);
    const other = await elsewhere();
    await proposeSay(other);
    const foreign = join(scratch(), 'foreign.jsonl');
    await other.keyturn.ledger.archive({ older_than_s: 0, out: foreign, reason: 'x', signer: other.ada });
    const cases: readonly (readonly [ReasonCode, readonly string[]])[] = [
      ['SEGMENT_MISSING', [first, third]],
      ['SEGMENT_ORDER', [second, first]],
      ['SEGMENT_ORDER', [first, first]],
      ['SEGMENT_ORDER', [first, second, third, second]],
      ['EXPORT_MALFORMED', []],
    ];
    for (const [code, paths] of cases) await expectRefusal(code, () => verifySegmentFiles(paths, { key }));
    await expectRefusal('LEDGER_FOREIGN', () => verifySegmentFiles([first, foreign], {}));
    await expectRefusal('HEAD_SIGNATURE_INVALID', () => verifySegmentFiles([foreign], { key }));
  });
});

describe('an archive that was changed', () => {
  it('is refused, whatever was changed', async () => {
    const p = await aged();
    const [, segment] = await threeDays(p);
    const key = await keyOf(p);
    const entries = segment!.to - segment!.from;
    const [header, ...others] = readFileSync(segment!.path, 'utf8').split('\n');
    expect(others.length).toBeGreaterThan(entries + 1);
    const edit = (index: number, from: RegExp | string, to: string) => (lines: string[]) =>
      lines.map((line, i) => (i === index ? line.replace(from, to) : line));
    const { from, to, frontier } = JSON.parse(header!);
    const swapped = (lines: string[]) => [lines[0]!, lines[2]!, lines[1]!, ...lines.slice(3)];
    const object = entries + 1;
    const cases: readonly (readonly [ReasonCode, (lines: string[]) => string[]])[] = [
      ['LEDGER_BROKEN', edit(1, '"at":"2026', '"at":"2025')],
      ['LEDGER_BROKEN', edit(1, /"hash":"[0-9a-f]{64}"\}$/, `"hash":"${'0'.repeat(64)}"}`)],
      ['LEDGER_BROKEN', swapped],
      // The first entry is left out.
      ['LEDGER_BROKEN', (lines) => [lines[0]!, ...lines.slice(2)]],
      // The last entry is left out.
      ['LEDGER_TRUNCATED', (lines) => [...lines.slice(0, entries), lines.at(-1)!]],
      ['LEDGER_FORKED', (lines) => cutTo(lines, entries - 1)],
      ['EXPORT_MALFORMED', (lines) => lines.slice(0, -1)],
      ['EXPORT_MALFORMED', edit(0, `"from":${from}`, `"from":${from + 1}`)],
      ['EXPORT_MALFORMED', edit(0, `"to":${to}`, `"to":${from}`)],
      ['LEDGER_TRUNCATED', edit(0, `"to":${to}`, `"to":${to + 1}`)],
      ['EXPORT_MALFORMED', edit(0, `"to":${to}`, `"to":${to - 1}`)],
      ['LEDGER_FORKED', edit(0, frontier[0], '0'.repeat(64))],
      ['LEDGER_BROKEN', edit(0, /"prev":"[0-9a-f]{64}"/, `"prev":"${'0'.repeat(64)}"`)],
      ['OBJECT_MISSING', (lines) => lines.filter((_, i) => i !== object)],
      ['EXPORT_MALFORMED', (lines) => lines.map((line, i) => (i === object ? `${line} ` : line))],
    ];
    for (const [i, [code, change]] of cases.entries()) {
      const path = changed(segment!, change);
      await expectRefusal(code, () => verifyExportFile(path, { key })).catch((error) => {
        throw new Error(`case ${i}: ${error.message}`);
      });
    }
    expect(
      await verifyExportFile(
        changed(segment!, (lines) => lines),
        { key },
      ),
    ).toMatchObject({ from });
  });

  /** With a first line that fits: only the head tells. */
  function cutTo(lines: string[], count: number): string[] {
    const { from, to } = JSON.parse(lines[0]!);
    const first = lines[0]!.replace(`"to":${to}`, `"to":${from + count}`);
    return [first, ...lines.slice(1, count + 1), lines.at(-1)!];
  }
});
