import { execFileSync } from 'node:child_process';
import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { granted, yes } from '../journey/authority.ts';
import { type Project, project } from '../support/project.ts';
import { runSeen } from '../support/seen.ts';

const FORBID = `
@id("nothing-runs") @version("1") @scope("emergency") @rationale("Everything stands still.")
forbid (principal, action, resource);
`;

const CAT = `version: 1
tools:
  - name: hold
    summary: Reads until somebody writes.
    executable: /usr/bin/cat
    args: ["hold"]
    cwd: .
    sandbox: none
    undo: none
`;

const starter = ({ root }: Project) => join(root, 'policies', 'keyturn.cedar');

describe('S11: a policy file that was saved changes nothing until a human activates it', () => {
  it('does not stop what is running', async () => {
    let looks = 0;
    const p = await project(CAT, () => {
      looks += 1;
      return new Date();
    });
    const hold = join(p.root, 'hold');
    execFileSync('/usr/bin/mkfifo', [hold]);
    const intent = await granted(p, { effect: { kind: 'tool', tool: 'hold', arguments: {} } });
    let ended = false;
    const running = runSeen(p.keyturn, { ...intent, confirm: yes }).finally(() => {
      ended = true;
    });
    while ((await p.keyturn.intents.get({ intent_id: intent.intent_id })).status !== 'claimed')
      await new Promise(setImmediate);
    appendFileSync(starter(p), FORBID);
    // The watch asks for the time twice at each look: these looks came after the file was saved.
    const seen = looks + 6;
    while (looks < seen && !ended) await new Promise(setImmediate);
    if (!ended) writeFileSync(hold, 'go\n');
    expect((await running).result).toBe('success');
  });
});
