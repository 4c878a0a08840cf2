import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { sha256 } from '../../src/canonical/digest.ts';
import { generateKeyPair } from '../../src/canonical/ed25519.ts';
import type { Event } from '../../src/event/event.ts';
import { signerOf } from '../../src/identity/act.ts';
import { signFact } from '../../src/identity/fact.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { decisionFor, decisionsOf } from '../store/decisions.ts';
import { entriesAbout } from '../support/ledger.ts';
import { until } from '../support/processes.ts';
import type { Project } from '../support/project.ts';
import { expectRefusal } from '../support/refusal.ts';
import { runSeen } from '../support/seen.ts';
import { agent, authority, call, granted, type Intent, yes } from './authority.ts';
import { create, planOf, specOf } from './plan-story.ts';

/** Writes past the library, as a process with the store and its own keys could. */
async function append({ keyturn }: Project, ...events: Event[]): Promise<void> {
  const { store: path } = keyturn.layout;
  const store = await openSqliteStore({ path, tenant: 'default', clock: () => new Date(), mode: 'write' });
  try {
    await store.commit({ events, objects: decisionsOf(events) });
  } finally {
    await store.close();
  }
}

const ran = ({ keyturn }: Project, intent: Intent) => runSeen(keyturn, { ...intent, confirm: yes });

async function runningOf({ keyturn }: Project, { intent_id }: Intent): Promise<string> {
  const begun = async () => (await keyturn.intents.get({ intent_id })).runs[0]?.execution_id;
  await until(async () => (await begun()) !== undefined);
  return (await begun())!;
}

/** A host that a human added under this name, or under none. */
async function host({ keyturn, ada: signer }: Project, name?: string) {
  const { public_key, seed } = generateKeyPair();
  if (name !== undefined)
    await keyturn.system.addExecutor({ public_key, name, reason: 'A machine.', signer });
  return signerOf('host', public_key, seed);
}

describe('an executor', () => {
  it('signs what it claims and how it ended, with the key that a human added when the project began', async () => {
    const p = await authority();
    const intent = await granted(p);
    await ran(p, intent);
    const { executors } = await p.keyturn.system.get();
    expect(executors).toMatchObject([{ name: 'executor', added_by: 'ada', revoked_at: null }]);
    const story = await entriesAbout(p.keyturn, intent.intent_id);
    const stated = story.filter(({ body }) => 'executor_signature' in (body as object));
    expect(stated.map(({ kind }) => kind)).toEqual(['execution.claimed', 'execution.finished']);
    for (const { body } of stated)
      expect((body as { executor_key: string }).executor_key).toBe(executors[0]!.public_key);
    await p.keyturn.ledger.verify({ deep: true });
  });

  it('runs nothing without a key, and nothing before a human added it', async () => {
    const p = await authority();
    const intent = await granted(p);
    rmSync(p.keyturn.layout.executor_key);
    await expectRefusal('EXECUTOR_UNKNOWN', () => ran(p, intent));
    const scout = await agent(p, 'scout');
    await expectRefusal('NOT_HUMAN', () => p.keyturn.system.addExecutor({ reason: 'x', signer: scout }));
    await p.keyturn.system.addExecutor({ reason: 'A new key for this host.', signer: p.ada });
    expect((await ran(p, intent)).result).toBe('success');
  });

  it('has a key of its own: not one of the control plane, and not one that is known already', async () => {
    const p = await authority();
    const { control_keys, executors } = await p.keyturn.system.get();
    const machines = [control_keys[0]!.public_key, executors[0]!.public_key];
    for (const public_key of [...machines, p.ada.public_key])
      await expectRefusal('KEY_ENROLLED_TWICE', () =>
        p.keyturn.system.addExecutor({ public_key, reason: 'x', signer: p.ada }),
      );
    for (const public_key of machines)
      await expectRefusal('KEY_ENROLLED_TWICE', () =>
        p.keyturn.people.enrol({ name: 'eve', principal: 'human', public_key, signer: p.ada }),
      );
  });

  it('can be given another name, and then runs what is ordered for that', async () => {
    const p = await authority();
    const intent = await granted(p);
    await p.keyturn.system.addExecutor({ name: 'elsewhere', reason: 'renamed', signer: p.ada });
    await expectRefusal('CAPABILITY_WRONG_AUDIENCE', () => ran(p, intent));
    await p.keyturn.system.addExecutor({ name: 'executor', reason: 'back again', signer: p.ada });
    expect((await ran(p, intent)).result).toBe('success');
    expect((await p.keyturn.system.get()).executors).toHaveLength(1);
  });

  it('that is revoked runs nothing more, and its key never comes back', async () => {
    const p = await authority();
    const intent = await granted(p);
    const { public_key } = (await p.keyturn.system.get()).executors[0]!;
    await p.keyturn.system.revokeExecutor({ public_key, reason: 'stolen', signer: p.ada });
    await expectRefusal('EXECUTOR_REVOKED', () => ran(p, intent));
    await expectRefusal('EXECUTOR_REVOKED', () =>
      p.keyturn.system.revokeExecutor({ public_key, reason: 'again', signer: p.ada }),
    );
    await expectRefusal('EXECUTOR_UNKNOWN', () =>
      p.keyturn.system.revokeExecutor({
        public_key: generateKeyPair().public_key,
        reason: 'x',
        signer: p.ada,
      }),
    );
    const refusal = await expectRefusal('KEY_ENROLLED_TWICE', () =>
      p.keyturn.system.addExecutor({ public_key, reason: 'found again', signer: p.ada }),
    );
    expect(refusal.message).toContain('remove .keyturn/keys/executor.seed');
  });

  it('that is revoked goes on with a new key, in the same process', async () => {
    const p = await authority();
    const [first, second] = [await granted(p), await granted(p)];
    await ran(p, first);
    const { public_key } = (await p.keyturn.system.get()).executors[0]!;
    await p.keyturn.system.revokeExecutor({ public_key, reason: 'stolen', signer: p.ada });
    await expectRefusal('EXECUTOR_REVOKED', () => ran(p, second));
    rmSync(p.keyturn.layout.executor_key);
    await p.keyturn.system.addExecutor({ reason: 'a new key', signer: p.ada });
    expect((await ran(p, second)).result).toBe('success');
  });

  it('signs the end of a run with the key that claimed it, although the file has another one by then', async () => {
    const p = await authority();
    const intent = await granted(p, call('wait', { seconds: 1 }));
    const running = ran(p, intent);
    await runningOf(p, intent);
    rmSync(p.keyturn.layout.executor_key);
    await p.keyturn.system.addExecutor({ reason: 'a new key', signer: p.ada });
    expect((await running).result).toBe('success');
  });

  it('that is revoked while it runs is stopped, and a human settles what became of it', async () => {
    const p = await authority();
    const intent = await granted(p, call('wait', { seconds: 60 }));
    const running = ran(p, intent);
    await runningOf(p, intent);
    const { public_key } = (await p.keyturn.system.get()).executors[0]!;
    await p.keyturn.system.revokeExecutor({ public_key, reason: 'stolen', signer: p.ada });
    expect(await running).toMatchObject({ result: 'partial', reason_code: 'EXECUTOR_REVOKED' });
    expect((await p.keyturn.intents.get({ intent_id: intent.intent_id })).status).toBe('partial');
    const { execution_id } = await running;
    await p.keyturn.runs.resolve({
      execution_id,
      outcome: 'did_not_happen',
      reason: 'looked',
      signer: p.ada,
    });
    await p.keyturn.ledger.verify({ deep: true });
  });

  it('is not believed in what it says of a run once it is revoked: only that a human has to look', async () => {
    const p = await authority();
    const own = await host(p, 'executor');
    const intent = await granted(p);
    const { claim, end } = await factsOf(p, intent, own);
    await append(p, claim);
    await p.keyturn.system.revokeExecutor({ public_key: own.public_key, reason: 'stolen', signer: p.ada });
    for (const result of ['success', 'failure', 'rolled_back'] as const)
      await expectRefusal('EXECUTOR_REVOKED', () => append(p, end(result)));
    await append(p, end('partial'));
    expect((await p.keyturn.intents.get({ intent_id: intent.intent_id })).status).toBe('partial');
  });

  it('cannot say what a rollback goes by once it is revoked', async () => {
    const p = await authority();
    const own = await host(p, 'executor');
    const planned = async (target: string) =>
      granted(p, {
        effect: { kind: 'plan', ...(await specOf(p, planOf([create('A1', target)]))) },
      });
    const intent = await planned('one.txt');
    const { origin } = await p.keyturn.system.get();
    const { claim, end } = await factsOf(p, intent, own, { reports: 'plans/one' });
    const { execution_id } = claim.body;
    const subject = intent.intent_id;
    const [early, late] = [sha256('early'), sha256('late')];
    const checkpoint = {
      kind: 'execution.checkpointed',
      subject,
      body: { execution_id, manifest: late },
    } as const;
    const announced = (journal: string) =>
      signFact(
        origin,
        'executor',
        { kind: 'execution.announced', subject, body: { execution_id, journal } },
        own,
      );
    const checkpointed = signFact(origin, 'executor', checkpoint, own);
    await append(p, claim, checkpointed, announced(early));
    await p.keyturn.system.revokeExecutor({ public_key: own.public_key, reason: 'stolen', signer: p.ada });
    await expectRefusal('EXECUTOR_REVOKED', () => append(p, announced(late)));
    await expectRefusal('EXECUTOR_REVOKED', () => append(p, end('partial', { journal: late })));
    await append(p, end('partial'));
    expect((await p.keyturn.intents.get({ intent_id: subject })).runs).toMatchObject([
      { result: 'partial', journal: early },
    ]);

    const other = await planned('two.txt');
    const second = await host(p, 'executor');
    const { claim: claimed } = await factsOf(p, other, second, { reports: 'plans/two' });
    await append(p, claimed);
    await p.keyturn.system.revokeExecutor({ public_key: second.public_key, reason: 'stolen', signer: p.ada });
    const body = { execution_id: claimed.body.execution_id, manifest: late };
    const fact = { kind: 'execution.checkpointed', subject: other.intent_id, body } as const;
    await expectRefusal('EXECUTOR_REVOKED', () => append(p, signFact(origin, 'executor', fact, second)));
  });
});

describe('a claim that is written past the library', () => {
  it('is refused by an unknown key, for another name, and with a signature of another key', async () => {
    const p = await authority();
    const intent = await granted(p);
    const [stranger, other, own] = [await host(p), await host(p, 'other'), await host(p, 'executor')];
    const claimOf = async (by: Awaited<ReturnType<typeof host>>) => (await factsOf(p, intent, by)).claim;
    const [by_stranger, by_other, good] = [await claimOf(stranger), await claimOf(other), await claimOf(own)];
    await expectRefusal('EXECUTOR_UNKNOWN', () => append(p, by_stranger));
    await expectRefusal('CAPABILITY_WRONG_AUDIENCE', () => append(p, by_other));
    const forged = { ...by_stranger, body: { ...by_stranger.body, executor_key: own.public_key } };
    await expectRefusal('SIGNATURE_INVALID', () => append(p, forged as Event));
    const changed = { ...good, body: { ...good.body, tool: 'other' } };
    await expectRefusal('SIGNATURE_INVALID', () => append(p, changed as Event));
    await append(p, good);
  });

  it('is ended by the executor that made it, and by no other', async () => {
    const p = await authority();
    const [own, second] = [await host(p, 'executor'), await host(p, 'executor')];
    const intent = await granted(p);
    const { claim, end } = await factsOf(p, intent, own);
    const { end: endOfOther } = await factsOf(p, intent, second, claim.body);
    await append(p, claim);
    await expectRefusal('EXECUTOR_UNKNOWN', () => append(p, endOfOther('success')));
    await append(p, end('success'));
  });
});

/** The claim of a granted intent and its end, as this host would state them. */
async function factsOf(
  p: Project,
  { intent_id, hash, capability_id }: Intent & { capability_id: string },
  by: ReturnType<typeof signerOf>,
  { execution_id = randomUUID(), reports = null }: { execution_id?: string; reports?: string | null } = {},
) {
  const { origin, policy } = await p.keyturn.system.get();
  const { effect_digest, registry_digest, tool } = await p.keyturn.intents.get({ intent_id });
  const body = { execution_id, capability_id, attempt: 1, tool };
  const digests = { hash, effect_digest, registry_digest };
  const nothing = { digest: null, bytes: 0, truncated: false };
  const at = new Date().toISOString();
  const sealed = (await entriesAbout(p.keyturn, intent_id)).find(
    ({ kind }) => kind === 'capability.issued',
  )!.body;
  const { token: presented } = sealed as { token: string };
  const about = { kind: 'execution.claimed', subject: intent_id, by: 'ada', policy: policy! } as const;
  const decision = decisionFor(about);
  const executor = { host: 'here', boot_id: 'boot', pid: 1, started: '1' };
  const claim = signFact(
    origin,
    'executor',
    {
      kind: 'execution.claimed',
      subject: intent_id,
      body: { ...body, ...digests, presented, policy: policy!, decision, reports, executor },
    },
    by,
  );
  const end = (result: 'success' | 'failure' | 'partial' | 'rolled_back', told: { journal?: string } = {}) =>
    signFact(
      origin,
      'executor',
      {
        kind: 'execution.finished',
        subject: intent_id,
        body: {
          ...body,
          result,
          reason_code: null,
          exit_code: 0,
          signal: null,
          started_at: at,
          finished_at: at,
          stdout: nothing,
          stderr: nothing,
          reports: { ...told },
        },
      },
      by,
    );
  return { claim, end };
}
