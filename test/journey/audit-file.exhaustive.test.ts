import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { contentsOf } from '../../src/journey/contents.ts';
import {
  auditProof,
  excerptOfExportFile,
  excerptOfProof,
  storyInFile,
  verifyExportFile,
} from '../../src/keyturn.ts';
import { limits } from '../../src/limits.ts';
import type { ReasonCode } from '../../src/refusal.ts';
import { readOutput } from '../../src/story/tell.ts';
import { openSqliteStore } from '../store/open.ts';
import { exported, proofOf } from '../support/ledger.ts';
import type { Project } from '../support/project.ts';
import { expectRefusal } from '../support/refusal.ts';
import { scratch } from '../support/scratch.ts';
import { runSeen } from '../support/seen.ts';
import { authority, call, granted, yes } from './authority.ts';

/** A run with an output, a second intent that replaces it, and an output that was erased. */
async function lived(p: Project) {
  const first = await granted(p, { declared_goal: 'A first goal.' });
  await runSeen(p.keyturn, { ...first, confirm: yes });
  const over = { declared_goal: 'Another goal.', replaces: first.intent_id, ...call('say', { word: 'bye' }) };
  const second = await granted(p, over);
  await runSeen(p.keyturn, { ...second, confirm: yes });
  const { outputs } = await p.keyturn.intents.story({ intent_id: second.intent_id });
  const erased = outputs[0]!.stdout!;
  await p.keyturn.ledger.erase({ digest: erased, reason: 'a secret', signer: p.ada });
  const { key } = await p.keyturn.ledger.head();
  return { first, second, erased, key };
}

async function exportTo({ keyturn }: Project, options = { with_objects: true }): Promise<string> {
  const path = join(scratch(), 'ledger.jsonl');
  writeFileSync(path, await exported(keyturn, options));
  return path;
}

const asked = (subject: string, key: string) => ({ subjects: [subject], limit: 5, key });

describe('a story from a file', () => {
  it('is the one of the project, also of what was replaced and what was erased', async () => {
    const p = await authority();
    const { second, first, erased, key } = await lived(p);
    const path = await exportTo(p);
    const here = await p.keyturn.intents.story({ intent_id: second.intent_id, with_output: true });
    expect(here.changes).toContain('goal: "A first goal." before, "Another goal." now');
    const found = await excerptOfExportFile(path, asked(second.intent_id, key));
    const before = await excerptOfExportFile(path, asked(first.intent_id, key));
    const read = async (digest: string) => {
      const bytes = await found.read(digest);
      return bytes === 'left out' ? before.read(digest) : bytes;
    };
    const view = { now: new Date(), with_output: true };
    const told = await storyInFile({
      ...{ ...found, before: before.entries },
      read,
      ...view,
    });
    expect(told).toEqual(here);
    expect(told.output).toEqual({ absent: 'erased' });
    expect(await readOutput({ stdout: erased, stderr: null }, found.read)).toEqual({ absent: 'erased' });
    expect(found.verified.objects).toMatchObject({ erased: 1 });

    const bundle = auditProof(await proofOf(p.keyturn, second.intent_id, { with_objects: true }), {
      key,
    });
    const proven = excerptOfProof(bundle);
    const story = await storyInFile({ ...proven, ...view });
    expect({ ...story, changes: here.changes }).toEqual(here);
    expect(story.changes).toBeNull();
    expect(await readOutput({ stdout: null, stderr: erased }, proven.read)).toEqual({ absent: 'erased' });
  });

  it('says what is left out where a file has no objects', async () => {
    const p = await authority();
    const { second, key } = await lived(p);
    const path = await exportTo(p, { with_objects: false });
    const found = await excerptOfExportFile(path, asked(second.intent_id, key));
    expect(found.verified.objects).toBeNull();
    expect(await storyInFile({ ...found, now: new Date() })).toMatchObject({
      absent: 'left out',
      intent: { status: 'succeeded' },
      changes: null,
    });
    const newest = await excerptOfExportFile(path, { subjects: [], limit: 3, key });
    expect(newest.entries.map(({ kind }) => kind).at(-1)).toBe('object.erased');
    expect(newest.entries).toHaveLength(3);
  });

  it('never holds a capability, which a bearer could use', async () => {
    const p = await authority();
    const { intent_id, token } = await granted(p);
    const path = await exportTo(p);
    const hidden = Buffer.from(token).toString('base64');
    expect(readFileSync(path, 'utf8')).not.toContain(hidden);
    const bundle = await proofOf(p.keyturn, intent_id, { with_objects: true });
    expect(Buffer.from(bundle).toString()).not.toContain(hidden);
  });
});

const joined = (lines: readonly string[]) => `${lines.join('\n')}\n`;
const digestIn = (line: string) => /([0-9a-f]{64})"\}$/.exec(line)![1]!;
/** Its digest is 2d71…, and nothing names it. */
const OTHER = `{"object":"eA==","sha256":"2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"}`;
const HUGE = `{"object":"${'A'.repeat(4 * Math.ceil(limits.object_bytes / 3) + 400_000)}","sha256":"${'f'.repeat(64)}"}`;
/** One byte more than an object may have. */
const LARGE = `{"object":"${'A'.repeat(4 * Math.ceil((limits.object_bytes + 1) / 3))}","sha256":"${'f'.repeat(64)}"}`;

/** Every way in which the objects of a file can be wrong, and what it is called. */
function spoiled(
  lines: readonly string[],
  malformed: ReasonCode,
): readonly (readonly [ReasonCode, readonly string[]])[] {
  const objects = lines.map((line, i) => (/^\{"(object|erased)":/.test(line) ? i : -1)).filter((i) => i >= 0);
  const stored = lines.findIndex((line) => line.startsWith('{"object":'));
  const mark = lines.findIndex((line) => line.startsWith('{"erased":'));
  const end = objects.at(-1)! + 1;
  const added = [...objects.map((i) => lines[i]!), OTHER].sort((a, b) =>
    digestIn(a) < digestIn(b) ? -1 : 1,
  );
  const changed = lines[stored]!.replace(/^\{"object":"..../, '{"object":"AAAA');
  return [
    ['OBJECT_CORRUPT', lines.with(stored, changed)],
    ['OBJECT_MISSING', lines.toSpliced(stored, 1)],
    ['OBJECT_MISSING', lines.toSpliced(mark, 1)],
    ['OBJECT_MISSING', lines.with(stored, `{"erased":"${digestIn(lines[stored]!)}"}`)],
    ['OBJECT_UNEXPECTED', lines.toSpliced(objects[0]!, objects.length, ...added)],
    [malformed, lines.toSpliced(end, 0, lines[end - 1]!)],
    [malformed, lines.toSpliced(objects[0]!, 2, lines[objects[1]!]!, lines[objects[0]!]!)],
    [malformed, lines.toSpliced(end, 0, HUGE)],
    [malformed, lines.toSpliced(end, 0, LARGE)],
    [malformed, lines.toSpliced(end, 0, '{"object":"eA==","sha256":"x"}')],
    [malformed, lines.with(stored, lines[stored]!.replace('{"object":"', '{"object":" '))],
    [malformed, lines.toSpliced(end, 0, `{"erased":"${'F'.repeat(64)}"}`)],
  ];
}

describe('a file whose objects are not those that its entries name', () => {
  it('is refused as a proof', async () => {
    const p = await authority();
    const { second, key } = await lived(p);
    const bytes = await proofOf(p.keyturn, second.intent_id, { with_objects: true });
    const lines = Buffer.from(bytes).toString().split('\n').slice(0, -1);
    const verify = (text: string) => auditProof(Buffer.from(text), { key });
    verify(joined(lines));
    for (const [code, wrong] of spoiled(lines, 'BUNDLE_MALFORMED'))
      await expectRefusal(code, () => verify(joined(wrong)));
    await expectRefusal('OBJECT_MISSING', () => verify(joined(lines.slice(0, -1))));
    await expectRefusal('BUNDLE_MALFORMED', () => verify(joined(lines).slice(0, -9)));
    // Without the word that objects follow, none may.
    const plain = await proofOf(p.keyturn, second.intent_id);
    await expectRefusal('BUNDLE_MALFORMED', () =>
      verify(`${Buffer.from(plain).toString()}${joined(lines.slice(1))}`),
    );
    verify(Buffer.from(plain).toString());
  });

  it('is refused as an export, deep or not', async () => {
    const p = await authority();
    const { key } = await lived(p);
    const path = await exportTo(p);
    const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1);
    const verify = async (text: string) => {
      const file = join(scratch(), 'ledger.jsonl');
      writeFileSync(file, text);
      return verifyExportFile(file, { key });
    };
    expect(await verify(joined(lines))).toMatchObject({ objects: { erased: 1 } });
    for (const [code, wrong] of spoiled(lines, 'EXPORT_MALFORMED'))
      await expectRefusal(code, () => verify(joined(wrong)));
    // Cut off: within a line, after an entry, and after an object.
    for (const cut of [joined(lines).slice(0, -9), joined(lines.slice(0, 5)), joined(lines.slice(0, -1))])
      await expectRefusal('EXPORT_MALFORMED', () => verify(cut));
    const entry = lines.findLastIndex((line) => line.startsWith('{"entry":'));
    await expectRefusal('EXPORT_MALFORMED', () => verify(joined(lines.toSpliced(-1, 0, lines[entry]!))));
    const header = lines[0]!.replace('"objects":true', '"objects":false');
    await expectRefusal('EXPORT_MALFORMED', () => verify(joined(lines.with(0, header))));
  });

  it('is written in the same order, however many times the ledger is read for it', async () => {
    const p = await authority();
    await lived(p);
    const { layout } = p.keyturn;
    const options = { path: layout.store, tenant: 'default', clock: () => new Date(), mode: 'read' } as const;
    const store = await openSqliteStore(options);
    const { size } = await store.tip();
    const all = async (together?: number) => {
      const found = [];
      for await (const { digest } of contentsOf(store, size, together)) found.push(digest);
      return found;
    };
    expect(await all(2)).toEqual(await all());
    await store.close();
  });

  it('is not written when an object of the store is lost', async () => {
    const p = await authority();
    const { first } = await lived(p);
    const { outputs } = await p.keyturn.intents.story({ intent_id: first.intent_id });
    const { DatabaseSync } = await import('@photostructure/sqlite');
    const db = new DatabaseSync(p.keyturn.layout.store);
    db.exec(`DELETE FROM object WHERE digest = '${outputs[0]!.stdout}'`);
    db.close();
    await expectRefusal('OBJECT_MISSING', () => exportTo(p));
    await expectRefusal('OBJECT_MISSING', () => proofOf(p.keyturn, first.intent_id, { with_objects: true }));
    const { execution_id } = outputs[0]!;
    expect(await p.keyturn.runs.output({ execution_id })).toEqual({ absent: 'missing' });
  });
});
