import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { build, transformSync } from 'esbuild';
import { chromium, type Page } from 'playwright-core';
import { describe, expect, it, onTestFinished } from 'vitest';
import * as audit from '../../src/audit/index.ts';
import * as primitive from '../../src/canonical/primitive.ts';
import { chunksOf } from '../ledger/sample.ts';
import { scratch } from '../support/scratch.ts';
import { auditorsFiles } from './files.ts';
import { answers, answerTo } from './in-page.ts';
import { CASES } from './signatures.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const SCRIPT: string = join(ROOT, 'scripts/build.mjs');
interface Builder {
  bundleForBrowser(outfile: string): Promise<unknown>;
}

/** A page in Debian's Chromium that is served these files, and nothing else. */
async function pageWith(files: ReadonlyMap<string, Uint8Array>): Promise<Page> {
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox'],
  });
  onTestFinished(() => browser.close());
  const page = await browser.newPage();
  await page.route('**/*', (route) => {
    const name = decodeURIComponent(new URL(route.request().url()).pathname.slice(1));
    const body = files.get(name);
    const contentType = /\.m?js$/.test(name) ? 'text/javascript' : name === '' ? 'text/html' : 'text/plain';
    return body ? route.fulfill({ body: Buffer.from(body), contentType }) : route.abort();
  });
  await page.goto('http://localhost/');
  return page;
}

const EMPTY_PAGE = Buffer.from('<!doctype html><title>audit</title>');
const SOURCE = readFileSync(join(import.meta.dirname, 'in-page.ts'), 'utf8');
const IN_PAGE = Buffer.from(transformSync(SOURCE, { loader: 'ts' }).code);

describe('keyturn/audit in Chromium', () => {
  it('says of every file what it says in Node', async () => {
    const { bytes, asked } = await auditorsFiles(['ES256', 'EdDSA', 'RS256']);
    const outfile = join(scratch(), 'audit.browser.js');
    await ((await import(SCRIPT)) as Builder).bundleForBrowser(outfile);
    const page = await pageWith(
      new Map([
        ...bytes,
        ['', EMPTY_PAGE],
        ['in-page.mjs', IN_PAGE],
        ['audit.browser.js', readFileSync(outfile)],
      ]),
    );
    const found = await page.evaluate(
      `(async () => {
        const { answers } = await import('/in-page.mjs');
        const audit = await import('/audit.browser.js');
        const open = async (name) => (await fetch('/' + encodeURIComponent(name))).body;
        return answers(audit, ${JSON.stringify(asked)}, open);
      })()`,
    );
    const expected = await answers(audit, asked, async (name: string) => chunksOf(bytes.get(name)!));
    expect(found).toEqual(expected);
    expect(expected['good.jsonl'].size).toBeGreaterThan(15);
  });

  it('gives the answers of Node to every signature of the table', async () => {
    const { outputFiles } = await build({
      entryPoints: [join(ROOT, 'src/audit/browser/primitive.ts')],
      bundle: true,
      format: 'esm',
      write: false,
    });
    const page = await pageWith(
      new Map([
        ['', EMPTY_PAGE],
        ['in-page.mjs', IN_PAGE],
        ['primitive.js', outputFiles[0]!.contents],
      ]),
    );
    const found = await page.evaluate(
      `(async () => {
        const { answerTo } = await import('/in-page.mjs');
        const primitive = await import('/primitive.js');
        return ${JSON.stringify(CASES)}.map((one) => answerTo(primitive, one));
      })()`,
    );
    expect(found).toEqual(CASES.map((one) => answerTo(primitive, one)));
  });
});
