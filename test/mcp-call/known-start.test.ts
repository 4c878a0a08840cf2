import { appendFileSync, chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createDigests } from '../../src/effect/program.ts';
import { type ServerEntry, serverEntrySchema } from '../../src/mcp-call/entry.ts';
import { isStillStart, type KnownStart, knownStart } from '../../src/mcp-call/known-start.ts';
import { startedBy } from '../../src/mcp-call/start.ts';
import { scratch } from '../support/scratch.ts';

/** So much later nothing has just changed. */
const LATER_MS = 60_000;

describe('how a server is started', () => {
  const digests = createDigests();

  function known(given: object = {}) {
    const root = scratch();
    const place = (name: string) => join(root, name);
    for (const name of ['one', 'two']) mkdirSync(place(name));
    symlinkSync(place('one'), place('data'));
    writeFileSync(place('server.mjs'), '// as accepted\n');
    const raw = {
      executable: process.execPath,
      args: ['server.mjs', place('data')],
      run_as: 'root',
      ...given,
    };
    const entry: ServerEntry = serverEntrySchema.parse({ sandbox: { write: ['data'] }, ...raw });
    const configured = () => startedBy('own', entry, { root, digests });
    const at = (later_ms: number, between: () => void = () => {}) => {
      const before = configured();
      between();
      return knownStart(entry, before, { root, again: configured }, Date.now() + later_ms);
    };
    const isStill = (start: KnownStart, now = entry) => isStillStart(start, now, Date.now() + LATER_MS);
    return { place, entry, at, isStill };
  }

  it('is not remembered while a file has just changed, nor where more than files decides', () => {
    expect(known().at(0)).toBeNull();
    expect(known({ covers: ['*.mjs'] }).at(LATER_MS)).toBeNull();
    expect(known().at(LATER_MS)).not.toBeNull();
  });

  it('is not remembered where a file or a link was replaced after its bytes were hashed', () => {
    const { place, at } = known();
    expect(at(LATER_MS, () => writeFileSync(place('server.mjs'), '// another\n'))).toBeNull();
    expect(at(LATER_MS)).not.toBeNull();
  });

  it('is remembered until the entry, a file, a link or the rights to a folder are others', () => {
    const { place, entry, at, isStill } = known();
    const before = at(LATER_MS)!;
    expect(isStill(before)).toBe(true);
    expect(isStill(before, { ...entry })).toBe(false);
    writeFileSync(place('one/a.txt'), 'what a server writes is none of it');
    expect(isStill(before)).toBe(true);
    chmodSync(place('one'), 0o700);
    expect(isStill(before)).toBe(false);
    chmodSync(place('one'), 0o777);
    rmSync(place('data'));
    symlinkSync(place('two'), place('data'));
    expect(isStill(before)).toBe(false);
    const linked = at(LATER_MS)!;
    expect(isStill(linked)).toBe(true);
    appendFileSync(place('server.mjs'), '// changed\n');
    expect(isStill(linked)).toBe(false);
  });
});
