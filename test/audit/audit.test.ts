import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import * as audit from '../../src/audit/index.ts';
import { chunksOf } from '../ledger/sample.ts';
import { scratch } from '../support/scratch.ts';
import { auditorsFiles, type Files } from './files.ts';
import { AGAIN, answers } from './in-page.ts';

const SCRIPT: string = resolve(import.meta.dirname, '../../scripts/build.mjs');
interface Builder {
  bundleForBrowser(outfile: string): Promise<{ reached: string[]; used: string[] }>;
}
const { bundleForBrowser } = (await import(SCRIPT)) as Builder;

/** Small chunks, so that lines are cut anywhere. */
const opened =
  ({ bytes }: Files) =>
  async (name: string) =>
    chunksOf(bytes.get(name)!, 4096);

/** What is wrong with each file, as the code of the fold, or that of the file itself. */
const REFUSED = {
  'one bit.jsonl': 'LEDGER_BROKEN',
  'no head.jsonl': 'EXPORT_MALFORMED',
  'cut.jsonl': 'EXPORT_MALFORMED',
  'key file.jsonl': 'SIGNATURE_INVALID',
  'passkey.jsonl': 'SIGNATURE_INVALID',
  'control key.jsonl': 'SIGNATURE_INVALID',
  'executor.jsonl': 'SIGNATURE_INVALID',
  'proposer.jsonl': 'SIGNATURE_INVALID',
  'left out.jsonl': 'TRANSITION_ILLEGAL',
  'no claim.jsonl': 'LEDGER_BROKEN',
  'unknown.jsonl': 'SHAPE_INVALID',
  'another key': 'HEAD_SIGNATURE_INVALID',
  'another key, export': 'HEAD_SIGNATURE_INVALID',
  'another founder': 'LEDGER_FOREIGN',
  'another founder, export': 'LEDGER_FOREIGN',
  empty: 'EXPORT_MALFORMED',
};

describe('keyturn/audit', () => {
  it('says the same from its sources and from the one file for browsers', async () => {
    const files = await auditorsFiles(['ES256']);
    const found = await answers(audit, files.asked, opened(files));
    for (const [name, code] of Object.entries(REFUSED))
      expect({ name, code: found[name].reason_code ?? found[name].code }).toEqual({ name, code });
    for (const name of AGAIN) expect(found[`${name}, again`]).toEqual(found[name]);
    expect(found['good.jsonl']).toMatchObject({ founder: { name: 'ada' }, objects: null });
    expect(found['objects.jsonl'].objects.stored).toBeGreaterThan(3);
    expect(found['good.jsonl'].root).toBe(found['objects.jsonl'].root);
    expect(found.story.intent.status).toBe('succeeded');
    expect(found.story.asked.envelope.declared_goal).toBe('Say hello.');
    expect(found.proven_story.map(({ words }: { words: string }) => words)).toEqual(
      found.story.told.map(({ words }: { words: string }) => words),
    );
    const outfile = join(scratch(), 'audit.browser.mjs');
    await bundleForBrowser(outfile);
    const bundled = (await import(outfile)) as typeof audit;
    expect(await answers(bundled, files.asked, opened(files))).toEqual(found);
  });

  it('reaches no store, no engine of policies, no file and no module of Node', async () => {
    const outfile = join(scratch(), 'audit.browser.mjs');
    const { reached, used } = await bundleForBrowser(outfile);
    const sources = reached.filter((path) => path.startsWith('src/'));
    const folders = new Set(sources.map((path) => path.split('/')[1]!));
    for (const folder of ['store', 'effect', 'tool', 'plan', 'journey', 'project', 'durable', 'cli'])
      expect([...folders]).not.toContain(folder);
    // The record of a decision is read, and nothing is decided.
    expect(sources.filter((path) => path.startsWith('src/policy/')).sort()).toEqual([
      'src/policy/replay.ts',
      'src/policy/request.ts',
      'src/policy/shape.ts',
    ]);
    const packages = used.flatMap((path) => /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? []);
    expect([...new Set(packages)].sort()).toEqual(['@noble/curves', '@noble/hashes', 'zod']);
    expect(readFileSync(outfile, 'utf8')).not.toMatch(/node:|\brequire\(/);
  });

  it('is in a browser no larger than docs/audit.md says', async () => {
    const outfile = join(scratch(), 'audit.browser.mjs');
    await bundleForBrowser(outfile);
    const text = readFileSync(outfile);
    const [bytes, gzip] = [text.length, gzipSync(text).length];
    console.info(`keyturn/audit for browsers: ${bytes} bytes, ${gzip} with gzip`);
    const page = readFileSync(join(import.meta.dirname, '../../docs/audit.md'), 'utf8');
    const [most, most_gzip] = /at most (\d+) kB, or (\d+) kB with gzip/.exec(page)!.slice(1).map(Number);
    expect(bytes).toBeLessThanOrEqual(most! * 1000);
    expect(gzip).toBeLessThanOrEqual(most_gzip! * 1000);
    // The page is not far from the truth either.
    expect(bytes).toBeGreaterThan(most! * 900);
  });
});
