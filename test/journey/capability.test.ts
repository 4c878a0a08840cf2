import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sha256 } from '../../src/canonical/digest.ts';
import { attenuate, auditProof } from '../../src/keyturn.ts';
import type { ReasonCode } from '../../src/refusal.ts';
import type { Project } from '../support/project.ts';
import { expectRefusal } from '../support/refusal.ts';
import { runSeen } from '../support/seen.ts';
import {
  agent,
  authority,
  call,
  elsewhere,
  granted,
  type Intent,
  kinds,
  lastBody,
  named,
  proposeSay,
  yes,
} from './authority.ts';
import { forgedProof } from './forged-proof.ts';

/** F3 of 002: whatever is wrong with a capability, the run is refused, recorded, and nothing ran. */
async function refusesToRun(
  p: Project,
  code: ReasonCode,
  intent: Intent,
  capability?: string,
  holder_key?: { key: import('node:crypto').KeyObject; public_key: string },
): Promise<void> {
  const { intent_id, hash } = intent;
  await expectRefusal(code, () =>
    runSeen(p.keyturn, { intent_id, hash, confirm: yes, capability, holder_key }),
  );
  expect(await kinds(p, intent_id)).not.toContain('execution.claimed');
  expect(await lastBody(p, intent_id)).toMatchObject({ reason_code: code });
}

describe('F3: a capability that is not valid when it is used', () => {
  it('one that was revoked', async () => {
    const p = await authority();
    const intent = await granted(p);
    await p.keyturn.runs.revokeCapability({
      capability_id: intent.capability_id,
      reason: 'oops',
      signer: p.ada,
    });
    await refusesToRun(p, 'CAPABILITY_REVOKED', intent);
    await refusesToRun(p, 'CAPABILITY_REVOKED', intent, intent.token);
    await expectRefusal('CAPABILITY_REVOKED', () =>
      p.keyturn.runs.revokeCapability({
        capability_id: intent.capability_id,
        reason: 'again',
        signer: p.ada,
      }),
    );
    const again = await p.keyturn.intents.grant({ ...named(intent), signer: p.ada });
    expect(again.token).not.toBe(intent.token);
    expect((await runSeen(p.keyturn, { ...intent, confirm: yes })).result).toBe('success');
  });

  it('one that is forged, truncated, of another algorithm or under another name', async () => {
    const p = await authority();
    const intent = await granted(p);
    const other = await granted(await elsewhere());
    const [header, payload, signature] = intent.token.split('.') as [string, string, string];
    const [, , foreign] = other.token.split('.') as [string, string, string];
    const none = Buffer.from('{"alg":"none"}').toString('base64url');
    await refusesToRun(p, 'CAPABILITY_FORGED', intent, `${header}.${payload}.${foreign}`);
    await refusesToRun(p, 'CAPABILITY_KEY_UNKNOWN', intent, other.token);
    await refusesToRun(p, 'CAPABILITY_ALGORITHM', intent, `${none}.${payload}.${signature}`);
    await refusesToRun(p, 'CAPABILITY_MALFORMED', intent, `${header}.${payload}`);
    await refusesToRun(p, 'CAPABILITY_MALFORMED', intent, '');
  });

  it('one that was granted for another intent', async () => {
    const p = await authority();
    const mine = await granted(p);
    const other = await granted(p);
    await refusesToRun(p, 'CAPABILITY_INTENT_CHANGED', mine, other.token);
  });

  it('one that is for another executor', async () => {
    const p = await authority();
    const intent = await granted(p, {}, { audience: 'somewhere/else' });
    await refusesToRun(p, 'CAPABILITY_WRONG_AUDIENCE', intent);
  });

  it('one that is expired, or not valid yet', async () => {
    let now = new Date('2026-03-02T10:00:00.000Z');
    const p = await authority(() => now);
    const late = await granted(p);
    const early = await granted(p, {}, { conditions: { not_before: '2026-03-02T10:04:00.000Z' } });
    await refusesToRun(p, 'CAPABILITY_NOT_YET', early);
    now = new Date('2026-03-02T10:04:30.000Z');
    expect((await runSeen(p.keyturn, { ...early, confirm: yes })).result).toBe('success');
    now = new Date('2026-03-02T10:05:00.000Z');
    await refusesToRun(p, 'CAPABILITY_EXPIRED', late);
    await refusesToRun(p, 'CAPABILITY_EXPIRED', late, late.token);
  });

  it('a clock that is a decade off is found before any expiry is judged', async () => {
    let now = new Date('2026-03-02T10:00:00.000Z');
    const p = await authority(() => now);
    const intent = await granted(p);
    now = new Date('2016-03-02T10:00:00.000Z');
    await refusesToRun(p, 'CLOCK_BEHIND', intent);
    now = new Date('2036-03-02T10:00:00.000Z');
    await expectRefusal('INTENT_EXPIRED', () => runSeen(p.keyturn, { ...intent, confirm: yes }));
  });

  it('one whose conditions are not met: environment, host, hours, the state of a file', async () => {
    const now = new Date('2026-03-02T10:00:00.000Z');
    const p = await authority(() => now);
    writeFileSync(join(p.root, 'state.txt'), 'one');
    const digest = sha256('one');
    const unmet = [
      { environment: 'prod' },
      { host: 'elsewhere' },
      { hours: { from: 11, to: 17 } },
      { files: { 'state.txt': sha256('two') } },
      { files: { 'absent.txt': digest } },
      { files: { 'state.txt': null } },
    ];
    for (const conditions of unmet)
      await refusesToRun(p, 'CAPABILITY_CONDITION_UNMET', await granted(p, {}, { conditions }));
    const conditions = {
      environment: 'default',
      hours: { from: 9, to: 17 },
      files: { 'state.txt': digest, 'absent.txt': null },
    };
    const intent = await granted(p, {}, { conditions });
    expect((await runSeen(p.keyturn, { ...intent, confirm: yes })).result).toBe('success');
  });

  it('one that was used: it is good for one run', async () => {
    const p = await authority();
    const intent = await granted(p);
    await runSeen(p.keyturn, { ...intent, confirm: yes });
    const again = () => runSeen(p.keyturn, { ...intent, confirm: yes, capability: intent.token });
    await expectRefusal('ALREADY_EXECUTED', again);
    await expectRefusal('CAPABILITY_USED', () =>
      p.keyturn.runs.revokeCapability({ capability_id: intent.capability_id, reason: 'late', signer: p.ada }),
    );
  });

  it('one that is revoked while the human looks at the screen', async () => {
    const p = await authority();
    const intent = await granted(p);
    const { capability_id } = intent;
    const confirm = async () => {
      await p.keyturn.runs.revokeCapability({ capability_id, reason: 'stop', signer: p.ada });
      return true;
    };
    await expectRefusal('CAPABILITY_REVOKED', () => runSeen(p.keyturn, { ...intent, confirm }));
    expect(await kinds(p, intent.intent_id)).not.toContain('execution.claimed');
  });
});

describe('a capability that is bound to a holder', () => {
  it('is worth nothing to whoever copies it', async () => {
    const p = await authority();
    const scout = await agent(p, 'scout');
    const thief = await agent(p, 'thief');
    const intent = await granted(p, {}, { holder: scout.public_key });
    await refusesToRun(p, 'CAPABILITY_HOLDER_UNPROVEN', intent);
    await refusesToRun(p, 'CAPABILITY_HOLDER_UNPROVEN', intent, intent.token, thief);
    const held = { capability: intent.token, holder_key: scout };
    expect((await runSeen(p.keyturn, { ...intent, confirm: yes, ...held })).result).toBe('success');
  });
});

describe('an attenuated capability', () => {
  it('works within what was left, and spends the one that it was made from', async () => {
    const p = await authority();
    const scout = await agent(p, 'scout');
    const helper = await agent(p, 'helper');
    for (const folder of ['in', 'out']) mkdirSync(join(p.root, folder));
    writeFileSync(join(p.root, 'in/a.txt'), 'content');
    const intent = await granted(p, call('copy'), { holder: scout.public_key });
    const read_only = { unconfined: false, network: false, read: [p.root], write: [], pipelines: [] };
    const narrow = await attenuate(
      intent.token,
      scout,
      {
        scope: read_only,
        holder: helper.public_key,
      },
      new Date(),
    );
    const run = (capability: string, holder_key: typeof helper) =>
      runSeen(p.keyturn, { ...intent, confirm: yes, capability, holder_key });
    await expectRefusal('CAPABILITY_HOLDER_UNPROVEN', () => run(narrow, scout));
    expect((await run(narrow, helper)).result).toBe('failure');
    await expectRefusal('RUN_FAILED', () => run(intent.token, scout));
    expect((await p.keyturn.intents.get({ intent_id: intent.intent_id })).capabilities[0]?.status).toBe(
      'spent',
    );
  });

  it('is never wider: not when it is made, and not when it is presented', async () => {
    const p = await authority();
    const scout = await agent(p, 'scout');
    const intent = await granted(p, {}, { holder: scout.public_key });
    const wide = { unconfined: false, network: true, read: ['/'], write: [], pipelines: [] };
    await expectRefusal('CAPABILITY_WIDENED', () =>
      attenuate(intent.token, scout, { scope: wide }, new Date()),
    );
    await expectRefusal('CAPABILITY_WIDENED', () =>
      attenuate(intent.token, scout, { expires_at: '2036-01-01T00:00:00.000Z' }, new Date()),
    );
  });

  it('cannot be made from a capability that is bound to nobody', async () => {
    const p = await authority();
    const scout = await agent(p, 'scout');
    const intent = await granted(p);
    await expectRefusal('CAPABILITY_HOLDER_UNPROVEN', () => attenuate(intent.token, scout, {}, new Date()));
  });
});

describe('the key that signs capabilities', () => {
  it('can be rotated; the old one still verifies what it signed', async () => {
    const p = await authority();
    const old = await granted(p);
    await p.keyturn.system.rotateControlKey({ reason: 'every spring', signer: p.ada });
    const fresh = await granted(p);
    const kid = (token: string) => JSON.parse(Buffer.from(token.split('.')[0]!, 'base64url').toString()).kid;
    expect(kid(fresh.token)).not.toBe(kid(old.token));
    for (const intent of [old, fresh])
      expect((await runSeen(p.keyturn, { ...intent, confirm: yes })).result).toBe('success');
    expect((await p.keyturn.system.get()).control_keys).toHaveLength(2);
  });

  it('revoked, it decides and issues nothing, what it issued is not run, and another one goes on', async () => {
    const p = await authority();
    const [old] = (await p.keyturn.system.get()).control_keys;
    const { public_key } = old!;
    const [open, done] = [await granted(p), await granted(p)];
    await runSeen(p.keyturn, { ...done, confirm: yes });
    const [intent, later] = [await proposeSay(p), await proposeSay(p)];
    await p.keyturn.intents.turn({ ...named(intent), signer: p.ada });
    await p.keyturn.system.revokeControlKey({ public_key, reason: 'stolen', signer: p.ada });
    await expectRefusal('CONTROL_KEY_REVOKED', () => runSeen(p.keyturn, { ...open, confirm: yes }));
    const verdict = await p.keyturn.intents.check({ intent_id: open.intent_id, hash: open.hash });
    expect(verdict).toMatchObject({ eligible: false, code: 'CONTROL_KEY_REVOKED' });
    const { capabilities } = await p.keyturn.runs.capabilities({ status_word: 'void' });
    expect(capabilities.map(({ intent_id }) => intent_id)).toEqual([open.intent_id]);
    expect((await p.keyturn.intents.get({ intent_id: open.intent_id })).ordered_until).toBeNull();
    for (const act of [p.keyturn.intents.turn, p.keyturn.intents.approve])
      await expectRefusal('CONTROL_KEY_ELSEWHERE', () => act({ ...named(later), signer: p.ada }));
    await expectRefusal('CONTROL_KEY_ELSEWHERE', () => runSeen(p.keyturn, { ...intent, confirm: yes }));
    const made = await p.keyturn.system.rotateControlKey({ reason: 'another', signer: p.ada });
    expect(made).toMatchObject({ replaces: null, keys: 1 });
    await p.keyturn.intents.turn({ ...named(later), signer: p.ada });
    for (const one of [intent, later])
      expect((await runSeen(p.keyturn, { ...one, confirm: yes })).result).toBe('success');
    await p.keyturn.ledger.verify({ deep: true });
    for (const { intent_id } of [done, intent, later]) {
      const same = await forgedProof(p.keyturn, intent_id, (entry) => entry);
      auditProof(same.bytes, same);
    }
  });

  it('a token that it signed and that the ledger does not know is refused', async () => {
    const p = await authority();
    const intent = await granted(p);
    const { readControlKey } = await import('../../src/project/keys.ts');
    const { mint } = await import('../../src/capability/token.ts');
    const { kidOf } = await import('../../src/capability/key.ts');
    const { openCapability } = await import('../../src/capability/verify.ts');
    const { privateKeyOf, publicKeyOf } = await import('../../src/canonical/ed25519.ts');
    const [{ public_key } = { public_key: '' }] = (await p.keyturn.system.get()).control_keys;
    const pair = readControlKey(p.keyturn.layout, public_key);
    const { root } = await openCapability(intent.token, () => publicKeyOf(public_key));
    const key = { kid: kidOf(public_key), key: privateKeyOf(pair.seed) };
    const twin = await mint({ ...root, tool_category: 'files' }, key);
    await refusesToRun(p, 'CAPABILITY_UNKNOWN', intent, twin);
  });

  it('a key file that is not the one of the ledger decides nothing', async () => {
    const p = await authority();
    const intent = await proposeSay(p);
    const { readdirSync } = await import('node:fs');
    const file = readdirSync(p.keyturn.layout.keys).find((name) => name.startsWith('control-'))!;
    const seed = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' }).d!;
    writeFileSync(
      join(p.keyturn.layout.keys, file),
      `${Buffer.from(seed, 'base64url').toString('base64')}\n`,
    );
    for (const act of [p.keyturn.intents.turn, p.keyturn.intents.approve])
      await expectRefusal('KEY_FILE_INVALID', () => act({ ...named(intent), signer: p.ada }));
    expect((await p.keyturn.intents.get({ intent_id: intent.intent_id })).approvals).toEqual([]);
  });
});
