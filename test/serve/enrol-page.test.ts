import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ENROL_FILES, FOUNDING_FILES } from '../../src/serve/enrol-page.ts';
import { call, service } from './service.ts';

const CONSOLE = readFileSync(resolve(import.meta.dirname, '../../src/console/style.css'), 'utf8');

/** `--name: value;`, with the spaces that only align. */
const tokensIn = (css: string) =>
  new Map([...css.matchAll(/(--[\w-]+):\s*([^;]+);/g)].map(([, name, value]) => [name!, value!]));

describe('the page that the link of an enrolment opens', () => {
  it('has the tokens of the console', () => {
    const style = ENROL_FILES.find(({ path }) => path === '/enrol.css')!.text;
    const theirs = tokensIn(CONSOLE);
    const own = tokensIn(style);
    expect(own.size).toBeGreaterThan(10);
    for (const [name, value] of own) expect([name, value]).toEqual([name, theirs.get(name)]);
    for (const [, used] of style.matchAll(/var\((--[\w-]+)\)/g)) expect(own.has(used!)).toBe(true);
  });

  it('is served with its style and its script alone, and has nothing inline', async () => {
    const s = await service();
    for (const { path, type, text } of ENROL_FILES) {
      const { status, text: told, headers } = await call(s, path);
      expect([status, told, headers.get('content-type')]).toEqual([200, text, type]);
    }
    for (const [page] of [ENROL_FILES, FOUNDING_FILES])
      expect(page!.text).not.toMatch(/ style=|<style| on\w+=|<script>|https?:/);
  });
});
