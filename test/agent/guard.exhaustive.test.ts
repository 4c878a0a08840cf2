import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Plant, VIOLATIONS } from './guard-violations.ts';

/** 003 section 14: the build fails on each of seven conditions. Each violation is planted in a copy of the source. */

const ROOT = resolve(import.meta.dirname, '..', '..');
const GUARD = join(ROOT, 'scripts', 'check_agent_execution_core.sh');

let copy: string;
beforeAll(() => {
  copy = mkdtempSync(join(realpathSync(tmpdir()), 'keyturn-guard-'));
  for (const part of ['src', 'package.json', 'test/agent/corpus/simulations'])
    cpSync(join(ROOT, part), join(copy, part), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
});
afterAll(() => rmSync(copy, { recursive: true, force: true }));

function guard(...words: string[]): Promise<{ code: number; lines: string[] }> {
  return new Promise((done) => {
    execFile(GUARD, words, { cwd: tmpdir() }, (error, stdout, stderr) => {
      const lines = `${stdout}${stderr}`.trimEnd().split('\n');
      done({ code: error ? Number(error.code) : 0, lines });
    });
  });
}

/** Changes the copy, looks, and puts it back. A plant that changes nothing would prove nothing. */
async function planted(...plants: readonly Plant[]): Promise<{ code: number; lines: string[] }> {
  const before = new Map<string, string>();
  try {
    for (const [file, from, to] of plants) {
      const path = join(copy, file);
      const text = readFileSync(path, 'utf8');
      if (!before.has(path)) before.set(path, text);
      const changed = text.replace(from, () => to);
      expect(changed, `${file} has no ${from}`).not.toBe(text);
      writeFileSync(path, changed);
    }
    return await guard(copy);
  } finally {
    for (const [path, text] of before) writeFileSync(path, text);
  }
}

/** Plants them together, since the guard takes a second, and sees each one caught by its own line. */
async function caught(condition: number, violations = VIOLATIONS[condition - 1]!): Promise<void> {
  const { code, lines } = await planted(...violations.flatMap(([, , plants]) => plants));
  expect(code, lines.join('\n')).toBe(1);
  const errors = lines.filter((line) => line.startsWith(`[ERROR] ${condition}. `));
  for (const [words, about] of violations)
    expect(
      errors.some((line) => about.test(line)),
      `${words}\n${lines.join('\n')}`,
    ).toBe(true);
}

describe('the guard of the agent core', () => {
  it('passes the source as it is, and its copy', async () => {
    const holds = { code: 0, lines: ['[OK] All seven conditions hold'] };
    expect(await guard()).toEqual(holds);
    expect(await guard(copy)).toEqual(holds);
  });

  it('a tree without an agent core does not pass', async () => {
    expect((await guard(join(copy, 'src'))).code).not.toBe(0);
  });
});

describe('the build fails when', () => {
  it('the agent bypasses SimulationExecutor', () => caught(1));

  it('the agent writes business state directly', () => caught(2));

  it('the agent dispatches a tool as a simulation', () => caught(3));

  it('an impactful simulation has no rollback reference', () => caught(4));

  it('a missing simulation leads to a dispatch', async () => {
    // They change the same lines.
    for (const one of VIOLATIONS[4]) await caught(5, [one]);
  });

  it('a finder packet may lack a proof or an idempotency field', () => caught(6));

  it('a step may lack its policy snapshot or artifact fingerprint', () => caught(7));
});
