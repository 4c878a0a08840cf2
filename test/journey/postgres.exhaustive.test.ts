import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openSealed } from '../../src/canonical/sealed.ts';
import { thisProcess } from '../../src/effect/process.ts';
import { isRunLocked } from '../../src/effect/run-lock.ts';
import type { Body } from '../../src/event/event.ts';
import { auditProof, excerptOfProof, Keyturn } from '../../src/keyturn.ts';
import { type ReasonCode, Refusal } from '../../src/refusal.ts';
import { wireTo } from '../store/postgres-between.ts';
import { APPLICATION, postgres, urlOf } from '../store/postgres-place.ts';
import { halfOpenTo } from '../support/half-open.ts';
import { entriesAbout, proofOf } from '../support/ledger.ts';
import { until } from '../support/processes.ts';
import { PASSPHRASE } from '../support/project.ts';
import { expectRefusal } from '../support/refusal.ts';
import { scratch } from '../support/scratch.ts';
import { runSeen } from '../support/seen.ts';
import { call, granted, kinds, yes } from './authority.ts';
import { claimElsewhere } from './claim-elsewhere.ts';
import { planOf, ran, undo } from './plan-story.ts';
import { anotherHost, type Shared, shared, writeConfig } from './postgres-host.ts';
import { race } from './postgres-race.ts';

const server = postgres();

describe('a project whose ledger is on a server', () => {
  it('goes the whole journey, and what it leaves verifies, rebuilds and is proven', async () => {
    const p = await shared(server(), 'journey');
    const intent = await granted(p);
    const report = await runSeen(p.keyturn, { ...intent, confirm: yes });
    expect(report.result).toBe('success');
    expect(await kinds(p, intent.intent_id)).toEqual([
      'intent.proposed',
      'intent.submitted',
      'approval.granted',
      'order.given',
      'capability.issued',
      'execution.claimed',
      'execution.finished',
    ]);
    await expectRefusal('ALREADY_EXECUTED', () => runSeen(p.keyturn, { ...intent, confirm: yes }));
    const { text, key: fingerprint, size } = await p.keyturn.ledger.head();
    expect((await p.keyturn.ledger.verify({ deep: true, kept: [text], key: fingerprint })).size).toBe(size);
    expect(await p.keyturn.ledger.rebuild({ write: false })).toMatchObject({
      entries: size,
      differences: [],
    });
    expect((await p.keyturn.ledger.verifyStore({ deep: true })).objects).toBeGreaterThan(3);
    const bundle = auditProof(await proofOf(p.keyturn, intent.intent_id), { key: fingerprint });
    expect(bundle.subject).toBe(intent.intent_id);
    await p.keyturn.runs.replay({ execution_id: report.execution_id });
  });

  it('keeps the content of a content file there, which is proven after the file is gone', async () => {
    const p = await shared(server(), 'content');
    const content = Buffer.alloc(5_000_000, 'twelve bytes');
    writeFileSync(join(p.root, 'big'), content);
    const operation = { type: 'create', content_file: 'big' };
    const action = { action_id: '1', action_type: 'FILE_CREATE', target: 'new', operation };
    const { report, intent_id } = await ran(p, planOf([action]));
    expect(report.result).toBe('success');
    expect(content.equals(readFileSync(join(p.root, 'new')))).toBe(true);
    rmSync(join(p.root, 'big'));
    const [first] = await entriesAbout(p.keyturn, intent_id);
    const [digest] = (first!.body as Body<'intent.proposed'>).contents;
    const { key } = await p.keyturn.ledger.head();
    const proof = await proofOf(p.keyturn, intent_id, { with_objects: true });
    const { read } = excerptOfProof(auditProof(proof, { key }));
    expect(content.equals(openSealed((await read(digest!)) as Uint8Array))).toBe(true);
    expect((await p.keyturn.ledger.verifyStore({ deep: true })).objects).toBeGreaterThan(3);
    expect((await undo(p, report)).status).toBe('rolled_back');
    await p.keyturn.runs.replay({ execution_id: report.execution_id });
  });

  it('keeps keys and runs here, and the ledger there', async () => {
    const p = await shared(server(), 'files');
    await runSeen(p.keyturn, { ...(await granted(p)), confirm: yes });
    expect(existsSync(join(p.root, '.keyturn', 'store.db'))).toBe(false);
    expect(
      readdirSync(join(p.root, '.keyturn')).filter(
        (name) => !/^(keys|runs|ledger\.json|head(\.lock)?)$/.test(name),
      ),
    ).toEqual([]);
    expect(readdirSync(p.root).filter((name) => name.startsWith('.keyturn-'))).toEqual([]);
  });

  it('is not founded where a ledger of that name is, and leaves nothing behind', async () => {
    const { tenant, keyturn } = await shared(server(), 'taken');
    const before = await keyturn.ledger.head();
    const root = scratch();
    writeConfig(root, tenant, urlOf(server().server, APPLICATION));
    const init = () => Keyturn.init({ at: root, name: 'eve', passphrase: PASSPHRASE });
    await expectRefusal('PROJECT_EXISTS', init);
    expect(readdirSync(root).filter((name) => name.startsWith('.keyturn'))).toEqual([]);
    expect((await keyturn.ledger.head()).text).toBe(before.text);
  });

  it('two who found it at once: one does, the other is told that it exists', async () => {
    const found = async () => {
      const root = scratch();
      writeConfig(root, 'at-once', urlOf(server().server, APPLICATION));
      return Keyturn.init({ at: root, name: 'ada', passphrase: PASSPHRASE });
    };
    const outcomes = await Promise.allSettled([found(), found()]);
    const made = outcomes.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    const refused = outcomes.flatMap((one) => (one.status === 'rejected' ? [one.reason as Refusal] : []));
    expect(refused.map(({ code }) => code)).toEqual(['PROJECT_EXISTS']);
    await made[0]!.ledger.verify({ deep: true });
    await made[0]!.close();
  });

  it('shows its password nowhere: not in errors, and not in what it tells about itself', async () => {
    const p = await shared(server(), 'secret');
    expect(p.keyturn.config.store.name).toContain(`postgres://${APPLICATION.user}@127.0.0.1:`);
    const shown = inspect(p.keyturn, { depth: 9, showHidden: true }) + JSON.stringify(p.keyturn.config);
    expect(shown).not.toContain(APPLICATION.password);
    const secret = 'hunter2hunter2';
    for (const url of [
      server().server.url({ user: APPLICATION.user, password: secret }),
      server().server.url({ password: secret, port: 1 }),
      `postgres://u:${secret}@127.0.0.1/d?sslmodus=off`,
      `postgres://u:${secret}@[/d`,
      `mysql://u:${secret}@h/d`,
    ]) {
      writeConfig(p.root, 'secret', `"${url}"`);
      const error = await Keyturn.open({ at: p.root }).catch((caught) => caught);
      expect(error).toBeInstanceOf(Refusal);
      expect(inspect(error, { depth: 9, showHidden: true })).not.toContain(secret);
    }
  });

  it('takes the password from the environment where the URL has none', async () => {
    const p = await shared(server(), 'environment');
    writeConfig(p.root, 'environment', urlOf(server().server, APPLICATION).replace(/:[^:@]*@/, '@'));
    const before = process.env.PGPASSWORD;
    process.env.PGPASSWORD = APPLICATION.password;
    try {
      const opened = await Keyturn.open({ at: p.root, mode: 'read' });
      expect((await opened.ledger.head()).text).toBe((await p.keyturn.ledger.head()).text);
      await opened.close();
    } finally {
      if (before === undefined) delete process.env.PGPASSWORD;
      else process.env.PGPASSWORD = before;
    }
  });
});

const WAIT = call('wait', { seconds: 30 });

/** On another host, perhaps over another way to the server. */
async function running(p: Shared, port?: number) {
  const host = await anotherHost(p, urlOf(server().server, APPLICATION, port));
  const intent = await granted(p, WAIT);
  const run = runSeen(host.keyturn, { ...intent, confirm: yes });
  const last = async () => (await p.keyturn.intents.get({ intent_id: intent.intent_id })).runs.at(-1);
  await until(async () => (await last()) !== undefined);
  const lock = join(host.root, '.keyturn', 'runs', `${(await last())!.execution_id}.lock`);
  await until(() => isRunLocked(lock));
  return { intent, run, ended: () => until(() => !isRunLocked(lock)) };
}

async function expectStopped(p: Shared, intent_id: string, reason_code: ReasonCode): Promise<void> {
  expect((await entriesAbout(p.keyturn, intent_id)).slice(-2)).toMatchObject([
    { kind: 'violation.detected', body: { reason_code } },
    { kind: 'execution.finished', body: { result: 'partial', reason_code } },
  ]);
}

describe('two hosts on one ledger', () => {
  it('a freeze on one stops what runs on the other', async () => {
    const p = await shared(server(), 'freeze');
    const { intent, run } = await running(p);
    await p.keyturn.system.freeze({ scope: 'system', reason: 'stop everything', signer: p.ada });
    expect(await run).toMatchObject({ result: 'partial', reason_code: 'FROZEN' });
    await expectStopped(p, intent.intent_id, 'FROZEN');
  });

  it('a revocation on one stops what runs with it on the other', async () => {
    const p = await shared(server(), 'revoke');
    const { intent, run } = await running(p);
    const { capability_id } = intent;
    await p.keyturn.runs.revokeCapability({ capability_id, reason: 'the wrong one', signer: p.ada });
    expect(await run).toMatchObject({ result: 'partial', reason_code: 'CAPABILITY_REVOKED' });
  });

  it('a host whose key is revoked on the other is stopped, and the other one goes on', async () => {
    const p = await shared(server(), 'executor');
    const { intent, run } = await running(p);
    const { executors } = await p.keyturn.system.get();
    const { public_key } = executors.find((one) => !one.is_this_host)!;
    await p.keyturn.system.revokeExecutor({ public_key, reason: 'stolen', signer: p.ada });
    expect(await run).toMatchObject({ result: 'partial', reason_code: 'EXECUTOR_REVOKED' });
    await expectStopped(p, intent.intent_id, 'EXECUTOR_REVOKED');
    const next = await granted(p);
    expect((await runSeen(p.keyturn, { ...next, confirm: yes })).result).toBe('success');
    await p.keyturn.ledger.verify({ deep: true });
  });

  it('a run that could not hear of a freeze is stopped: the connection is open, and nobody answers', async () => {
    const p = await shared(server(), 'half-open');
    const way = await halfOpenTo(server().server.port);
    onTestFinished(() => way.close());
    const { intent, run, ended } = await running(p, way.port);
    way.swallow();
    await ended();
    way.heal();
    expect(await run).toMatchObject({ result: 'partial', reason_code: 'STORE_UNREACHABLE' });
    await expectStopped(p, intent.intent_id, 'STORE_UNREACHABLE');
  });

  it('the end of a run is recorded although the server was away when it came', async () => {
    const p = await shared(server(), 'away');
    const way = await wireTo(server().server.port);
    const { intent, run, ended } = await running(p, way.port);
    // Each connection names its user first.
    way.breakAt('user');
    way.cut();
    await ended();
    const before = way.made();
    await until(() => way.made() > before + 1);
    way.breakAt(null);
    expect(await run).toMatchObject({ result: 'partial', reason_code: 'STORE_UNREACHABLE' });
    await expectStopped(p, intent.intent_id, 'STORE_UNREACHABLE');
    const violation = (await entriesAbout(p.keyturn, intent.intent_id)).at(-2)!;
    expect(violation.body).toMatchObject({ revoked: [] });
  });

  it('of both that start one intent, one runs it', async () => {
    const p = await shared(server(), 'both');
    const host = await anotherHost(p);
    const intent = await granted(p);
    const runs = [p, host].map(({ keyturn }) => runSeen(keyturn, { ...intent, confirm: yes }));
    const outcomes = await Promise.allSettled(runs);
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    expect((await kinds(p, intent.intent_id)).filter((kind) => kind === 'execution.claimed')).toHaveLength(1);
  });

  it('of processes that race for several intents each effect happens once', () => race(server(), 3, 5));

  it('a run claimed by a host that died is in doubt, names that host, and is taken over by nobody', async () => {
    const p = await shared(server(), 'died');
    const intent = await granted(p);
    const execution_id = await claimElsewhere(p, await written(p), intent);
    for (const { keyturn } of [p, await anotherHost(p)]) {
      const [doubt, ...others] = (await keyturn.runs.inDoubt()).runs;
      expect(others).toEqual([]);
      expect(doubt).toMatchObject({ execution_id, state: 'other-host', host: 'gone-host' });
      await expectRefusal('RUN_IN_DOUBT', () => runSeen(keyturn, { ...intent, confirm: yes }));
    }
    const settle = { execution_id, outcome: 'did_not_happen', reason: 'I looked.', signer: p.ada } as const;
    await expectRefusal('RUN_STILL_ALIVE', () => p.keyturn.runs.resolve(settle));
    await p.keyturn.runs.resolve({ ...settle, host_is_dead: true });
    expect((await kinds(p, intent.intent_id)).filter((kind) => kind === 'execution.claimed')).toHaveLength(1);
  });

  it('a run of another machine that has the same host name is not taken for one of an earlier boot', async () => {
    const p = await shared(server(), 'namesake');
    const namesake = { ...thisProcess(), boot_id: randomUUID(), machine: '1'.repeat(64) };
    const execution_id = await claimElsewhere(p, await written(p), await granted(p), namesake);
    expect((await p.keyturn.runs.inDoubt()).runs).toMatchObject([{ execution_id, state: 'other-host' }]);
    const settle = { execution_id, outcome: 'did_not_happen', reason: 'I looked.', signer: p.ada } as const;
    await expectRefusal('RUN_STILL_ALIVE', () => p.keyturn.runs.resolve(settle));
  });
});

const written = ({ tenant }: Shared) => server().open('write', { tenant });
