import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { canonicalBytes } from '../../src/canonical/json.ts';
import { FoldedLedger } from '../../src/fold/ledger.ts';
import { claimsOf } from '../../src/gate/claims.ts';
import { signAct } from '../../src/identity/act.ts';
import { keyCredential } from '../../src/identity/credential.ts';
import { auditProof } from '../../src/keyturn.ts';
import type { Entry } from '../../src/ledger/entry.ts';
import type { Refusal } from '../../src/refusal.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { freshSigner } from '../support/keys.ts';
import { entriesAbout, objectOf, proofOf } from '../support/ledger.ts';
import { elapsed, until } from '../support/processes.ts';
import { type Project, project, ready, TOOLS } from '../support/project.ts';
import { keyturn } from '../support/pty.ts';
import { racer } from '../support/racers.ts';
import { expectRefusal } from '../support/refusal.ts';
import { runSeen } from '../support/seen.ts';
import { decidedIn } from '../support/signed.ts';

const yes = async () => true;
const say = (word: string) => ({
  declared_goal: 'Say a word',
  effect: { kind: 'tool' as const, tool: 'say', arguments: { word } },
});

/** Proposed, approved and granted. */
async function runnable(p: Project) {
  const { intent_id, hash } = await p.keyturn.intents.propose(say('x'));
  await ready(p, { intent_id, hash });
  return { intent_id, hash };
}

describe('an attacker who can call the library', () => {
  it('brings a signature from another project, and is refused', async () => {
    const one = await project(TOOLS);
    const other = await project(TOOLS);
    const { intent_id, hash } = await one.keyturn.intents.propose(say('x'));
    await expectRefusal('KEY_FILE_INVALID', () =>
      one.keyturn.intents.approve({ intent_id, hash, signer: freshSigner('ada') }),
    );
    // The same key in both: what it signed there says nothing here.
    const { effect_digest, expires_at } = await one.keyturn.intents.get({ intent_id });
    const facts = { hash, effect_digest, expires_at, account: null, decision: hash };
    const { origin } = await other.keyturn.system.get();
    const act = await decidedIn(
      one,
      await signAct(origin, 'approval.granted', intent_id, facts, one.ada, new Date()),
    );
    const { store: path } = one.keyturn.layout;
    const store = await openSqliteStore({ path, tenant: 'default', clock: () => new Date(), mode: 'write' });
    await expectRefusal('SIGNATURE_INVALID', () => store.commit({ events: [act] }));
    await store.close();
  });
});

describe('a revoked key', () => {
  it('takes its approvals with it', async () => {
    const p = await project(TOOLS);
    const { keyturn, ada } = p;
    const bob = freshSigner('bob');
    await keyturn.people.enrol({ name: 'bob', principal: 'human', public_key: bob.public_key, signer: ada });
    const { intent_id, hash } = await keyturn.intents.propose({ ...say('x'), issuer: 'ada', signer: ada });
    await ready(p, { intent_id, hash }, bob);
    expect(await keyturn.intents.check({ intent_id, hash })).toMatchObject({ eligible: true });
    await keyturn.people.revoke({ name: 'bob', reason: 'the key was stolen', signer: ada });
    expect(await keyturn.intents.check({ intent_id, hash })).toMatchObject({
      eligible: false,
      code: 'APPROVER_REVOKED',
    });
    await expectRefusal('APPROVER_REVOKED', () => runSeen(keyturn, { intent_id, hash, confirm: yes }));
  });

  it('is noticed even when it is revoked after the y', async () => {
    const p = await project(TOOLS);
    const { keyturn, ada } = p;
    const bob = freshSigner('bob');
    await keyturn.people.enrol({ name: 'bob', principal: 'human', public_key: bob.public_key, signer: ada });
    const { intent_id, hash } = await keyturn.intents.propose({ ...say('x'), issuer: 'ada', signer: ada });
    await ready(p, { intent_id, hash }, bob);
    const confirm = async () => {
      await keyturn.people.revoke({ name: 'bob', reason: 'the key was stolen', signer: ada });
      return true;
    };
    await expectRefusal('APPROVER_REVOKED', () => runSeen(keyturn, { intent_id, hash, confirm }));
  });
});

describe('a proof', () => {
  it('from which an entry was taken is refused', async () => {
    const p = await project(TOOLS);
    const { intent_id, hash } = await runnable(p);
    await p.keyturn.intents.reject({ intent_id, hash, reason: 'no', signer: p.ada });
    const { key } = await p.keyturn.ledger.head();
    const bundle = JSON.parse(Buffer.from(await proofOf(p.keyturn, intent_id)).toString());
    const kept = bundle.entries.filter(
      ({ entry }: { entry: { kind: string } }) => entry.kind !== 'approval.denied',
    );
    const bytes = Buffer.concat([canonicalBytes({ ...bundle, entries: kept }), Buffer.from('\n')]);
    await expectRefusal('PROOF_INVALID', () => auditProof(bytes, { key }));
  });

  it('in which a later key vouches for itself is refused', async () => {
    const p = await project(TOOLS);
    const { intent_id } = await runnable(p);
    const { entries } = auditProof(await proofOf(p.keyturn, intent_id), {
      key: (await p.keyturn.ledger.head()).key,
    });
    const folded = new FoldedLedger({ is_whole: true });
    folded.take(entries[0]!);
    const forged = await signAct(
      folded.origin,
      'key.enrolled',
      'ada',
      { principal: 'human', credential: keyCredential(p.ada.public_key), own: null, roles: [] },
      p.ada,
      new Date(),
    );
    const { kind, subject, body } = forged;
    const claims = claimsOf(forged);
    await expectRefusal('PRINCIPAL_UNKNOWN', () =>
      folded.take({ ...entries[1]!, seq: 9, kind, subject, body, claims }),
    );
  });
});

describe('a deep verification', () => {
  it('refuses a run that nobody approved or granted, and one that did not take both of its claims', async () => {
    const p = await project(TOOLS);
    const { intent_id, hash } = await runnable(p);
    await runSeen(p.keyturn, { intent_id, hash, confirm: yes });
    const story = await entriesAbout(p.keyturn, intent_id);
    const system = await entriesAbout(p.keyturn, 'system');
    const ada = await entriesAbout(p.keyturn, 'ada');
    const [proposed, submitted, approved, ordered, issued, claimed] = story;
    const before = [...system, ...ada].sort((a, b) => a.seq - b.seq);
    const having = (...entries: (Entry | undefined)[]) => {
      const folded = new FoldedLedger({ is_whole: false });
      for (const entry of [...before, ...entries]) folded.take(entry!);
      return folded;
    };
    await expectRefusal('APPROVAL_MISSING', () => having(proposed).take(issued!));
    await expectRefusal('APPROVAL_MISSING', () => having(proposed).take(claimed!));
    await expectRefusal('CAPABILITY_UNKNOWN', () => having(proposed, submitted, approved).take(claimed!));
    await expectRefusal('CAPABILITY_UNKNOWN', () => having(proposed, submitted, approved).take(issued!));
    const whole = () => having(proposed, submitted, approved, ordered, issued);
    whole().take(claimed!);
    for (const claims of [[], claimed!.claims.slice(0, 1), claimed!.claims.slice(1)])
      await expectRefusal('LEDGER_BROKEN', () => whole().take({ ...claimed!, claims }));
  });
});

describe('an erased argument', () => {
  it('is gone from the envelope and from the effect, and its digest cannot be guessed', async () => {
    const p = await project(TOOLS);
    const { intent_id, hash } = await p.keyturn.intents.propose(say('Xyz'));
    const { effect } = await p.keyturn.intents.review({ intent_id });
    const { effect_digest } = await p.keyturn.intents.get({ intent_id });
    await p.keyturn.ledger.erase({ digest: hash, reason: 'secret', signer: p.ada });
    await expectRefusal('OBJECT_MISSING', () => objectOf(p.keyturn, effect_digest));
    const { sha256 } = await import('../../src/canonical/digest.ts');
    expect(sha256(canonicalBytes(effect))).not.toBe(effect_digest);
    expect(sha256(canonicalBytes({ effect, nonce: '' }))).not.toBe(effect_digest);
    await p.keyturn.ledger.verify({ deep: true });
  });
});

describe('a tool without a sandbox that outlives its executor', () => {
  it('blocks the settling of its run for as long as it lives', async () => {
    const p = await project(`${TOOLS}  - name: linger
    summary: Ignores signals and stays.
    executable: ./linger.sh
    sandbox: none
    undo: none
`);
    writeFileSync(
      join(p.root, 'linger.sh'),
      '#!/bin/sh\nsetsid sh -c \'trap "" TERM HUP; echo $$ > pid; exec sleep 30\' &\nwait\n',
      { mode: 0o755 },
    );
    const effect = { kind: 'tool' as const, tool: 'linger', arguments: {} };
    const { intent_id, hash } = await p.keyturn.intents.propose({ declared_goal: 'Stay', effect });
    await ready(p, { intent_id, hash });
    const executor = racer(p.root, intent_id, hash);
    await executor.ready;
    executor.go();
    const pid = await pidIn(p);
    executor.child.kill('SIGKILL');
    await executor.answer;
    const { runs } = await p.keyturn.intents.get({ intent_id });
    const settle = {
      execution_id: runs[0]!.execution_id,
      outcome: 'did_not_happen',
      reason: 'it died',
      signer: p.ada,
    } as const;
    await expectRefusal('RUN_STILL_ALIVE', () => p.keyturn.runs.resolve(settle));
    process.kill(Number(pid), 'SIGKILL');
    // The shell that waits for it ends a moment later.
    const settled = () =>
      p.keyturn.runs.resolve(settle).then(
        () => true,
        (error) => (error as Refusal).code !== 'RUN_STILL_ALIVE' && Promise.reject(error),
      );
    await until(settled);
    expect(await p.keyturn.intents.get({ intent_id })).toMatchObject({ status: 'failed' });
  });

  it('a tool that outlives its executor for a moment is alive, and nobody says before its end that nothing happened', async () => {
    const p = await project(`${TOOLS}  - name: late
    summary: Leaves its mark late.
    executable: ./late.sh
    sandbox: none
    undo: none
`);
    // In a session of its own, since what the executor started directly is ended with it.
    const late = 'echo $$ > pid; while [ ! -e go ]; do sleep 0.05; done; echo done > mark';
    const script = `#!/bin/sh\nsetsid sh -c '${late}' &\nwait\n`;
    writeFileSync(join(p.root, 'late.sh'), script, { mode: 0o755 });
    const effect = { kind: 'tool' as const, tool: 'late', arguments: {} };
    const { intent_id, hash } = await p.keyturn.intents.propose({ declared_goal: 'Mark', effect });
    await ready(p, { intent_id, hash });
    const executor = racer(p.root, intent_id, hash);
    await executor.ready;
    executor.go();
    await pidIn(p);
    executor.child.kill('SIGKILL');
    await executor.answer;
    const stateNow = async () => (await p.keyturn.runs.inDoubt()).runs[0]!.state;
    const { runs } = await p.keyturn.intents.get({ intent_id });
    const { execution_id } = runs[0]!;
    const settled = (outcome: 'happened' | 'did_not_happen') =>
      p.keyturn.runs.resolve({ execution_id, outcome, reason: 'I looked.', signer: p.ada });
    expect([existsSync(join(p.root, 'mark')), await stateNow()]).toEqual([false, 'alive']);
    // In one word everywhere: its process is gone.
    expect((await p.keyturn.runs.inDoubt()).runs[0]!.status_word).toBe('IN DOUBT');
    expect((await p.keyturn.intents.get({ intent_id })).status_word).toBe('IN DOUBT');
    const { stdout } = await keyturn(['status'], { cwd: p.root });
    expect(stdout).toMatch(
      /^!!! IN DOUBT [0-9a-f]{8}: .*\n.* its process is gone, and what it started still runs$/m,
    );
    // It ends within the time for which a sandbox that ends would be waited for.
    const going = elapsed(300, 'it ends during the look').then(() => writeFileSync(join(p.root, 'go'), ''));
    await expectRefusal('RUN_STILL_ALIVE', () => settled('did_not_happen'));
    await going;
    await until(async () => (await stateNow()) === 'dead');
    expect(existsSync(join(p.root, 'mark'))).toBe(true);
    await settled('happened');
  });
});

/** What the tool wrote about its process, once it did. */
const pidIn = ({ root }: Project) =>
  until(() => existsSync(join(root, 'pid')) && readFileSync(join(root, 'pid'), 'utf8').trim());
