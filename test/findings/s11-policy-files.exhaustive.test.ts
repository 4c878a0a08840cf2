import { appendFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { authority, granted, proposeSay, yes } from '../journey/authority.ts';
import type { Project } from '../support/project.ts';
import { keyturn as command } from '../support/pty.ts';
import { expectRefusal } from '../support/refusal.ts';
import { runSeen } from '../support/seen.ts';

const FORBID = `
@id("nothing-runs") @version("1") @scope("emergency") @rationale("Everything stands still.")
forbid (principal, action, resource);
`;

const starter = ({ root }: Project) => join(root, 'policies', 'keyturn.cedar');

async function decideEverything(p: Project): Promise<string> {
  const intent = await granted(p);
  return (await runSeen(p.keyturn, { ...intent, confirm: yes })).result;
}

describe('S11: a policy file that was saved changes nothing until a human activates it', () => {
  it.each<[string, (p: Project) => void]>([
    ['a comment', (p) => appendFileSync(starter(p), '// later\n')],
    ['a new rule', (p) => appendFileSync(starter(p), FORBID)],
    ['half a rule', (p) => appendFileSync(starter(p), 'forbid (principal,')],
    ['an empty file', (p) => writeFileSync(starter(p), '')],
    ['bytes that are no text', (p) => writeFileSync(starter(p), Buffer.from([0xff, 0xfe]))],
    ['another quorum', (p) => writeFileSync(join(p.root, 'policies', 'quorums.yaml'), 'x: { any: 1 }\n')],
    ['no folder', (p) => rmSync(join(p.root, 'policies'), { recursive: true })],
    [
      'a file for a folder',
      (p) => {
        renameSync(join(p.root, 'policies'), join(p.root, 'policies.old'));
        writeFileSync(join(p.root, 'policies'), '');
      },
    ],
  ])('%s: approval, grant and run are decided by the activated snapshot', async (_, save) => {
    const p = await authority();
    save(p);
    expect(await decideEverything(p)).toBe('success');
  });

  it('decides by what was saved once it is activated', async () => {
    const p = await authority();
    const intent = await granted(p);
    appendFileSync(starter(p), FORBID);
    writeFileSync(join(p.root, 'policies', 'tests.yaml'), '[]\n');
    await p.keyturn.policies.activate({ reason: 'an incident', signer: p.ada });
    await expectRefusal('POLICY_DENIED', () => runSeen(p.keyturn, { ...intent, confirm: yes }));
    const next = await proposeSay(p);
    await expectRefusal('POLICY_DENIED', () => p.keyturn.intents.approve({ ...next, signer: p.ada }));
  });

  it('status and doctor say that the files differ, and what decides', async () => {
    const p = await authority();
    const where = { cwd: p.root };
    expect((await command(['status'], where)).stdout).toBe('[OK] Nothing needs a human\n');
    expect((await command(['doctor'], where)).stdout).toMatch(
      /^ok {3}policies: active, snapshot [0-9a-f]{12}$/m,
    );
    appendFileSync(starter(p), '// later\n');
    const differs = /The files in policies\/ are not the active policies/;
    expect((await command(['status'], where)).stdout).toMatch(differs);
    expect((await command(['doctor'], where)).stdout).toMatch(
      /^BAD {2}policies: The files in policies\/ are not the active policies/m,
    );
    rmSync(join(p.root, 'policies'), { recursive: true });
    expect((await command(['status'], where)).stdout).toMatch(/The files in policies\/ cannot be read/);
    const json = JSON.parse((await command(['status', '--json'], where)).stdout);
    expect(json).toMatchObject({ ok: true, result: { policies: { same: false, files: null } } });
  });
});
