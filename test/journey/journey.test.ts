import { appendFileSync, chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { auditProof, type Request, verifyExportFile } from '../../src/keyturn.ts';
import type { Entry } from '../../src/ledger/entry.ts';
import { freshSigner } from '../support/keys.ts';
import { entriesAbout, exported, proofOf } from '../support/ledger.ts';
import {
  granted,
  type Project,
  project,
  ready,
  TOOLS,
  writeMark,
  writeRegistry,
} from '../support/project.ts';
import { expectRefusal } from '../support/refusal.ts';
import { runSeen } from '../support/seen.ts';

const yes = async () => true;
const kinds = (entries: readonly Entry[]) => entries.map((entry) => entry.kind);
const lines = (path: string) => (existsSync(path) ? readFileSync(path, 'utf8').split('\n').length - 1 : 0);

function say(word: string) {
  return { declared_goal: 'Say a word', effect: { kind: 'tool' as const, tool: 'say', arguments: { word } } };
}

function mark() {
  return {
    declared_goal: 'Leave a mark',
    effect: { kind: 'tool' as const, tool: 'mark', arguments: { file: 'marks' } },
  };
}

/** Proposed, approved and granted. */
async function runnable(p: Project, draft: Request<'intents.propose'>) {
  const { intent_id, hash } = await p.keyturn.intents.propose(draft);
  await ready(p, { intent_id, hash });
  return { intent_id, hash };
}

describe('the journey of an intent', () => {
  it('goes from a proposal to a provable record', async () => {
    const p = await project(TOOLS);
    const { intent_id, hash } = await runnable(p, say('hello'));
    const report = await runSeen(p.keyturn, { intent_id, hash, confirm: yes });
    expect(report).toMatchObject({ result: 'success', exit_code: 0, reason_code: null });
    expect(report.stdout).toBe('hello\n');
    const entries = await entriesAbout(p.keyturn, intent_id);
    expect(kinds(entries)).toEqual([
      'intent.proposed',
      'intent.submitted',
      'approval.granted',
      'order.given',
      'capability.issued',
      'execution.claimed',
      'execution.finished',
    ]);
    expect(await p.keyturn.ledger.verify({ deep: true })).toMatchObject({ size: 12 });
  });

  it('keeps arguments, output and goal out of the ledger', async () => {
    const p = await project(TOOLS);
    const { intent_id, hash } = await runnable(p, say('swordfish'));
    await runSeen(p.keyturn, { intent_id, hash, confirm: yes });
    const text = JSON.stringify(await entriesAbout(p.keyturn, intent_id));
    expect(text).not.toContain('swordfish');
    expect(text).not.toContain('Say a word');
  });

  it('runs an intent once', async () => {
    const p = await project(TOOLS);
    writeMark(p.root);
    const { intent_id, hash } = await runnable(p, mark());
    await runSeen(p.keyturn, { intent_id, hash, confirm: yes });
    await expectRefusal('ALREADY_EXECUTED', () => runSeen(p.keyturn, { intent_id, hash, confirm: yes }));
    expect(lines(join(p.root, 'marks'))).toBe(1);
    expect(kinds(await entriesAbout(p.keyturn, intent_id)).at(-1)).toBe('execution.refused');
  });

  it('runs once when many ask at the same moment in one process', async () => {
    const p = await project(TOOLS);
    writeMark(p.root);
    const { intent_id, hash } = await runnable(p, mark());
    const asks = Array.from({ length: 12 }, () => runSeen(p.keyturn, { intent_id, hash, confirm: yes }));
    const answers = await Promise.allSettled(asks);
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(lines(join(p.root, 'marks'))).toBe(1);
    const refused = kinds(await entriesAbout(p.keyturn, intent_id)).filter(
      (kind) => kind === 'execution.refused',
    );
    expect(refused).toHaveLength(11);
    await p.keyturn.ledger.verify({ deep: true });
  });
});

describe('nothing runs', () => {
  it('without an approval', async () => {
    const { keyturn } = await project(TOOLS);
    const { intent_id, hash } = await keyturn.intents.propose(say('x'));
    await expectRefusal('APPROVAL_MISSING', () => runSeen(keyturn, { intent_id, hash, confirm: yes }));
  });

  it('without a capability', async () => {
    const { keyturn, ada } = await project(TOOLS);
    const { intent_id, hash } = await keyturn.intents.propose(say('x'));
    await expectRefusal('APPROVAL_MISSING', () => keyturn.intents.grant({ intent_id, hash, signer: ada }));
    await keyturn.intents.approve({ intent_id, hash, signer: ada });
    expect(await keyturn.intents.check({ intent_id, hash })).toMatchObject({
      eligible: false,
      code: 'ORDER_MISSING',
    });
    await expectRefusal('ORDER_MISSING', () => runSeen(keyturn, { intent_id, hash, confirm: yes }));
    await keyturn.intents.grant({ intent_id, hash, signer: ada });
    expect(await keyturn.intents.check({ intent_id, hash })).toMatchObject({ eligible: true });
  });

  it('after a rejection, which is final', async () => {
    const p = await project(TOOLS);
    const { intent_id, hash } = await runnable(p, say('x'));
    await p.keyturn.intents.reject({ intent_id, hash, reason: 'changed my mind', signer: p.ada });
    await expectRefusal('INTENT_REJECTED', () => runSeen(p.keyturn, { intent_id, hash, confirm: yes }));
    await expectRefusal('INTENT_REJECTED', () =>
      p.keyturn.intents.approve({ intent_id, hash, signer: p.ada }),
    );
  });

  it('when the human does not say yes, and that is not recorded', async () => {
    const p = await project(TOOLS);
    const { intent_id, hash } = await runnable(p, say('x'));
    const before = (await entriesAbout(p.keyturn, intent_id)).length;
    const no = () => runSeen(p.keyturn, { intent_id, hash, confirm: async () => false });
    await expectRefusal('CONFIRMATION_DECLINED', no);
    expect(await entriesAbout(p.keyturn, intent_id)).toHaveLength(before);
  });

  it('when the executable changed after the approval', async () => {
    const p = await project(TOOLS);
    writeMark(p.root);
    const { intent_id, hash } = await runnable(p, mark());
    appendFileSync(join(p.root, 'mark.sh'), '# harmless?\n');
    await expectRefusal('EXECUTABLE_CHANGED', () => runSeen(p.keyturn, { intent_id, hash, confirm: yes }));
    expect(lines(join(p.root, 'marks'))).toBe(0);
  });

  it('when the executable changes while the prompt waits', async () => {
    const p = await project(TOOLS);
    writeMark(p.root);
    const { intent_id, hash } = await runnable(p, mark());
    const confirm = async () => {
      appendFileSync(join(p.root, 'mark.sh'), '# swapped\n');
      return true;
    };
    await expectRefusal('EXECUTABLE_CHANGED', () => runSeen(p.keyturn, { intent_id, hash, confirm }));
    expect(lines(join(p.root, 'marks'))).toBe(0);
  });

  it('when the registry entry changed after the approval', async () => {
    const p = await project(TOOLS);
    const { intent_id, hash } = await runnable(p, say('x'));
    writeRegistry(p.root, TOOLS.replace('"%s\\\\n"', '"[%s]\\\\n"'));
    await expectRefusal('EFFECT_CHANGED', () => runSeen(p.keyturn, { intent_id, hash, confirm: yes }));
  });

  it('when the registry can be written', async () => {
    const p = await project(TOOLS);
    const { intent_id, hash } = await runnable(p, say('x'));
    chmodSync(join(p.root, 'tools.yaml'), 0o644);
    await expectRefusal('REGISTRY_WRITABLE', () => runSeen(p.keyturn, { intent_id, hash, confirm: yes }));
  });

  it('after the capability, the approval or the intent expired', async () => {
    let now = new Date();
    const p = await project(TOOLS, () => now);
    const { intent_id, hash } = await runnable(p, say('x'));
    const start = now.getTime();
    now = new Date(start + 121_000);
    await expectRefusal('ORDER_LAPSED', () => runSeen(p.keyturn, { intent_id, hash, confirm: yes }));
    await p.keyturn.intents.grant({ intent_id, hash, signer: p.ada, is_issued: true });
    now = new Date(start + 422_000);
    await expectRefusal('CAPABILITY_EXPIRED', () => runSeen(p.keyturn, { intent_id, hash, confirm: yes }));
    now = new Date(start + 3601_000);
    await expectRefusal('APPROVAL_EXPIRED', () => runSeen(p.keyturn, { intent_id, hash, confirm: yes }));
    now = new Date(start + 25 * 3600_000);
    await expectRefusal('INTENT_EXPIRED', () => runSeen(p.keyturn, { intent_id, hash, confirm: yes }));
  });

  it('when the clock jumped back', async () => {
    let now = new Date();
    const p = await project(TOOLS, () => now);
    const { intent_id, hash } = await runnable(p, say('x'));
    now = new Date(now.getTime() - 3600_000);
    await expectRefusal('CLOCK_BEHIND', () => runSeen(p.keyturn, { intent_id, hash, confirm: yes }));
    await expectRefusal('CLOCK_BEHIND', () => p.keyturn.intents.approve({ intent_id, hash, signer: p.ada }));
  });
});

describe('a run that failed', () => {
  const fail = { declared_goal: 'Fail', effect: { kind: 'tool' as const, tool: 'fail', arguments: {} } };

  it('is recorded, and blocks until a human authorises one new attempt and grants it', async () => {
    const p = await project(TOOLS);
    const { intent_id, hash } = await runnable(p, fail);
    const report = await runSeen(p.keyturn, { intent_id, hash, confirm: yes });
    expect(report).toMatchObject({ result: 'failure', exit_code: 1, reason_code: 'TOOL_EXIT_NONZERO' });
    await expectRefusal('RUN_FAILED', () => runSeen(p.keyturn, { intent_id, hash, confirm: yes }));
    await p.keyturn.runs.retry({ intent_id, reason: 'the disk was full', signer: p.ada });
    await expectRefusal('ORDER_MISSING', () => runSeen(p.keyturn, { intent_id, hash, confirm: yes }));
    await granted(p, { intent_id, hash });
    expect(await runSeen(p.keyturn, { intent_id, hash, confirm: yes })).toMatchObject({ result: 'failure' });
    await expectRefusal('RUN_FAILED', () => runSeen(p.keyturn, { intent_id, hash, confirm: yes }));
  });

  it('before it started is a failure with its own reason, and may be retried', async () => {
    const p = await project(TOOLS);
    const { intent_id, hash } = await runnable(p, say('x'));
    // Without a sandbox a run needs its lock; a file in the place of the folder for locks gives it none.
    writeFileSync(join(p.root, '.keyturn', 'runs'), '');
    const report = await runSeen(p.keyturn, { intent_id, hash, confirm: yes });
    expect(report.reason_code).toBe('TOOL_NOT_STARTED');
    expect(report.result).toBe('failure');
    rmSync(join(p.root, '.keyturn', 'runs'));
    await p.keyturn.runs.retry({ intent_id, reason: 'the folder is back', signer: p.ada });
    await granted(p, { intent_id, hash });
    expect(await runSeen(p.keyturn, { intent_id, hash, confirm: yes })).toMatchObject({ result: 'success' });
  });

  it('is not that of a tool whose sandbox shows it a single file', async () => {
    const p = await project(`${TOOLS}  - name: one
    summary: Sees one file.
    executable: /bin/cat
    args: [note.txt]
    sandbox: { read: [note.txt] }
    undo: none
`);
    writeFileSync(join(p.root, 'note.txt'), 'seen');
    const effect = { kind: 'tool' as const, tool: 'one', arguments: {} };
    const { intent_id, hash } = await runnable(p, { declared_goal: 'Read it', effect });
    const { stdout } = await runSeen(p.keyturn, { intent_id, hash, confirm: yes });
    expect(stdout).toBe('seen');
  });

  it('can be retried only after a failure', async () => {
    const p = await project(TOOLS);
    const { intent_id, hash } = await runnable(p, say('x'));
    const again = () => p.keyturn.runs.retry({ intent_id, reason: 'once more', signer: p.ada });
    await expectRefusal('RETRY_NOT_DUE', again);
    await runSeen(p.keyturn, { intent_id, hash, confirm: yes });
    await expectRefusal('RETRY_NOT_DUE', again);
  });
});

describe('who may speak', () => {
  it('an agent proposes and can never approve', async () => {
    const { keyturn, ada } = await project(TOOLS);
    await keyturn.people.enrol({ name: 'bot', principal: 'agent', public_key: null, signer: ada });
    const { intent_id, hash } = await keyturn.intents.propose({ ...say('x'), issuer: 'bot' });
    const bot = { ...ada, name: 'bot' };
    await expectRefusal('NOT_HUMAN', () => keyturn.intents.approve({ intent_id, hash, signer: bot }));
    await keyturn.intents.approve({ intent_id, hash, signer: ada });
  });

  it('nobody approves their own proposal once a second human is enrolled', async () => {
    const { keyturn, ada } = await project(TOOLS);
    const bob = freshSigner('bob');
    await keyturn.people.enrol({ name: 'bob', principal: 'human', public_key: bob.public_key, signer: ada });
    const { intent_id, hash } = await keyturn.intents.propose({ ...say('x'), issuer: 'ada', signer: ada });
    await expectRefusal('SELF_APPROVAL', () => keyturn.intents.approve({ intent_id, hash, signer: ada }));
    await keyturn.intents.approve({ intent_id, hash, signer: bob });
    expect(kinds(await entriesAbout(keyturn, intent_id))).toEqual([
      'intent.proposed',
      'intent.refused',
      'intent.submitted',
      'approval.granted',
    ]);
    await keyturn.ledger.verify({ deep: true });
  });

  it('a name that is not enrolled, was revoked, or is not clear proposes nothing', async () => {
    const { keyturn, ada } = await project(TOOLS);
    await expectRefusal('PRINCIPAL_UNKNOWN', () => keyturn.intents.propose({ ...say('x'), issuer: 'eve' }));
    await keyturn.people.enrol({ name: 'bot', principal: 'agent', public_key: null, signer: ada });
    await expectRefusal('PROPOSER_AMBIGUOUS', () => keyturn.intents.propose(say('x')));
    const effect = { kind: 'mcp' as const, server: 'files', tool: 'read', arguments: {} };
    for (const unsaid of [
      () => keyturn.intents.propose(say('x')),
      () => keyturn.mcp.call({ declared_goal: 'x', effect }),
      () => keyturn.mcp.pass({ declared_goal: 'x', effect }),
      () => keyturn.tools.pass({ client: 'claude-code', tool: 'Read', arguments: {} }),
    ])
      await expect(unsaid()).rejects.toMatchObject({
        code: 'PROPOSER_AMBIGUOUS',
        message: 'It is not clear who proposes this: ada or bot.',
      });
    await keyturn.people.revoke({ name: 'bot', reason: 'retired', signer: ada });
    await expectRefusal('KEY_REVOKED', () => keyturn.intents.propose({ ...say('x'), issuer: 'bot' }));
    await expectRefusal('PRINCIPAL_EXISTS', () =>
      keyturn.people.enrol({ name: 'bot', principal: 'agent', public_key: null, signer: ada }),
    );
  });

  it('the last human cannot be revoked, and a name cannot pass for something else', async () => {
    const { keyturn, ada } = await project(TOOLS);
    await expectRefusal('LAST_HUMAN', () =>
      keyturn.people.revoke({ name: 'ada', reason: 'bye', signer: ada }),
    );
    for (const name of [
      'system',
      'ab'.repeat(32),
      'b2831d73-2708-4f50-944b-7b54f11bfbb4',
      'Ada',
      '../x',
      '',
    ]) {
      await expectRefusal('NAME_MALFORMED', () =>
        keyturn.people.enrol({ name, principal: 'agent', public_key: null, signer: ada }),
      );
    }
  });
});

describe('what happened can be proven', () => {
  it('to somebody who has only a fingerprint and a head that they kept', async () => {
    const p = await project(TOOLS);
    const kept = await p.keyturn.ledger.head();
    const { intent_id, hash } = await runnable(p, say('x'));
    await runSeen(p.keyturn, { intent_id, hash, confirm: yes });
    const bundle = await proofOf(p.keyturn, intent_id, { kept: kept.text });
    const proof = auditProof(bundle, { key: kept.key, kept: kept.text });
    expect(kinds(proof.entries)).toContain('approval.granted');
    expect(kinds(proof.entries)).toContain('execution.finished');
    await expectRefusal('HEAD_SIGNATURE_INVALID', () =>
      auditProof(bundle, { key: `sha256:${'00'.repeat(32)}` }),
    );
  });

  it('with an export that verifies without a database, and is void when a signature in it is', async () => {
    const p = await project(TOOLS);
    await runnable(p, say('x'));
    const path = join(p.root, 'ledger.jsonl');
    writeFileSync(path, await exported(p.keyturn));
    const { key: fingerprint } = await p.keyturn.ledger.head();
    expect(await verifyExportFile(path, { key: fingerprint, deep: true })).toMatchObject({ size: 9 });
  });

  it('after an argument was erased, which makes the intent unrunnable', async () => {
    const p = await project(TOOLS);
    const { intent_id, hash } = await runnable(p, say('swordfish'));
    await p.keyturn.ledger.erase({ digest: hash, reason: 'it held a secret', signer: p.ada });
    await p.keyturn.ledger.verify({ deep: true });
    await expectRefusal('OBJECT_MISSING', () => runSeen(p.keyturn, { intent_id, hash, confirm: yes }));
    await expectRefusal('OBJECT_MISSING', () =>
      p.keyturn.ledger.erase({ digest: hash, reason: 'again', signer: p.ada }),
    );
  });

  it('and the projections rebuild from the ledger byte for byte', async () => {
    const p = await project(TOOLS);
    const { intent_id, hash } = await runnable(p, say('x'));
    await runSeen(p.keyturn, { intent_id, hash, confirm: yes });
    expect(await p.keyturn.ledger.rebuild({ write: false })).toMatchObject({ differences: [] });
  });
});
