import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Keyturn } from '../../src/keyturn.ts';
import { agentPlace, askedFor, yes } from './agent-place.ts';

/** A tool that is changed at any moment between the yes and the run: what was activated runs, or nothing does. */

const place = agentPlace();

const SCRIPT = '#!/bin/sh\necho "$1" >> lines\n';
const OTHER = '#!/bin/sh\necho "OTHER $1" >> lines\n';

function replace(text: string): void {
  const { root } = place();
  writeFileSync(join(root, 'note.new'), text, { mode: 0o755 });
  renameSync(join(root, 'note.new'), join(root, 'note.sh'));
}

/** Says yes in a process that asks for the time between its steps; `look` sees how often it did. */
async function yesWith(value: string, look: (moment: number) => void) {
  const { keyturn, root } = place();
  replace(SCRIPT);
  const prompt = await askedFor(keyturn, `append a notebook line "${value}"`);
  let moments = Number.NaN;
  const other = await Keyturn.open({
    at: root,
    clock: () => {
      look(moments);
      moments += 1;
      return new Date();
    },
  });
  moments = 0;
  const { reason_code } = await yes(other, prompt);
  await other.close();
  await keyturn.conversations.replay({ correlation_id: prompt.correlation_id });
  return { reason_code, moments };
}

describe('a script that is another one', () => {
  it.each([
    ['from some moment on', Number.POSITIVE_INFINITY],
    ['for one moment', 1],
    ['for three moments', 3],
  ])('%s never runs', async (_, lasting) => {
    const { moments, reason_code } = await yesWith(`undisturbed, ${lasting}`, () => {});
    expect(reason_code).toBe('STEP_SUCCEEDED');
    const codes = new Set<string>();
    for (let at = 0; at < moments; at += 1) {
      const done = await yesWith(`at ${at} for ${lasting}`, (moment) => {
        if (moment === at) replace(OTHER);
        if (moment === at + lasting) replace(SCRIPT);
      });
      codes.add(done.reason_code);
      expect(place().written().join('\n'), `at ${at}: ${done.reason_code}`).not.toContain('OTHER');
    }
    expect([...codes]).toContain('ACTIVATION_DIFFERS');
  });
});
