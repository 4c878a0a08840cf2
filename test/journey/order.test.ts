import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { sha256 } from '../../src/canonical/digest.ts';
import { canonicalBytes } from '../../src/canonical/json.ts';
import { signAct } from '../../src/identity/act.ts';
import { auditProof, Keyturn } from '../../src/keyturn.ts';
import type { Refusal } from '../../src/refusal.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { freshSigner } from '../support/keys.ts';
import { entriesAbout } from '../support/ledger.ts';
import { until } from '../support/processes.ts';
import { type Project, project, TOOLS } from '../support/project.ts';
import { expectRefusal } from '../support/refusal.ts';
import { runSeen } from '../support/seen.ts';
import { decidedIn } from '../support/signed.ts';
import {
  authority,
  human,
  type Intent,
  named,
  PERMITS,
  policy,
  proposeSay,
  rules,
  yes,
} from './authority.ts';

const kindsOf = async ({ keyturn }: Project, { intent_id }: Intent) =>
  (await entriesAbout(keyturn, intent_id)).map(({ kind }) => kind);

const ordersOf = async ({ keyturn }: Project, { intent_id }: Intent) =>
  (await keyturn.intents.get({ intent_id })).capabilities.map(({ status }) => status);

/** Approved and ordered by ada, with one signature. */
async function turned(p: Project): Promise<Intent & { order_id: string }> {
  const intent = await proposeSay(p);
  const { capability_id: order_id } = await p.keyturn.intents.turn({ ...intent, signer: p.ada });
  return { ...intent, order_id };
}

const codeOf = (error: unknown) => (error as Refusal).code;

/** Something that one waits for and the other gives. */
function signal() {
  let given_ms = Number.POSITIVE_INFINITY;
  let give = () => {};
  const given = new Promise<void>((done) => {
    give = () => {
      given_ms = Date.now();
      done();
    };
  });
  return { given, give: () => give(), at_ms: () => given_ms };
}

/** The commit, a rebuild, a deep verification and a proof of the intent agree. */
async function expectSound({ keyturn }: Project, { intent_id }: Intent): Promise<void> {
  await keyturn.ledger.verify({ deep: true });
  expect((await keyturn.ledger.rebuild({ write: false })).differences).toEqual([]);
  const { bundle, key } = await keyturn.ledger.prove({ intent_id });
  expect(auditProof(Buffer.from(bundle), { key }).subject).toBe(intent_id);
}

/** Written by a program that has ada's key and the store, and asks no library what may be ordered. */
async function orderedPastTheLibrary(
  p: Project,
  { intent_id, hash }: Intent,
  { scope, ...others }: { readonly scope?: object; readonly tool_category?: string },
  lives_ms: number,
): Promise<void> {
  const { effect_digest, attempt } = await p.keyturn.intents.get({ intent_id });
  const { audience, needs } = await p.keyturn.intents.offer({ intent_id, hash, by: 'ada' });
  const order_id = randomUUID();
  const bounds = { tool_category: null, conditions: {}, ...others, scope: { ...needs, ...scope } };
  const bytes = canonicalBytes({ format: 'keyturn-bounds/1', order_id, ...bounds });
  // A token knows whole seconds.
  const expires_at = new Date(1000 * Math.floor((Date.now() + lives_ms) / 1000)).toISOString();
  const facts = {
    order_id,
    attempt,
    hash,
    effect_digest,
    action: 'tool:say',
    bounds: sha256(bytes),
    audience,
    holder: null,
    expires_at,
    lapses_at: expires_at,
    approves_until: null,
    delegation: null,
    account: null,
    approvers: [{ name: 'ada', roles: [] }],
    decision: null,
  };
  const { origin } = await p.keyturn.system.get();
  const ordered = await signAct(origin, 'order.given', intent_id, facts, p.ada, new Date());
  const path = p.keyturn.layout.store;
  const store = await openSqliteStore({ path, tenant: 'default', clock: () => new Date(), mode: 'write' });
  await store.commit({ events: [await decidedIn(p, ordered)], objects: [bytes] });
  await store.close();
}

describe('the key is turned', () => {
  it('by an order that lapses after order_ttl of keyturn.yaml', async () => {
    const p = await authority();
    const path = join(p.root, 'keyturn.yaml');
    const text = readFileSync(path, 'utf8').replace(/^order_ttl: .*$/m, 'order_ttl: 1m');
    expect(text).toContain('order_ttl: 1m');
    writeFileSync(path, text);
    const keyturn = await Keyturn.open({ at: p.root });
    onTestFinished(() => keyturn.close());
    for (const [one, ttl_s] of [[p.keyturn, 120] as const, [keyturn, 60] as const]) {
      const intent = await proposeSay({ ...p, keyturn: one });
      await one.intents.turn({ ...intent, signer: p.ada });
      const { capabilities, ordered_until } = await one.intents.get({ intent_id: intent.intent_id });
      const [{ ordered_at, lapses_at }] = capabilities as [(typeof capabilities)[number]];
      const lives_s = (Date.parse(lapses_at) - Date.parse(ordered_at)) / 1000;
      expect(Math.abs(lives_s - ttl_s)).toBeLessThan(5);
      expect(ordered_until).toBe(lapses_at);
    }
  });

  it('by one signature that approves and orders; issue and claim are one commit', async () => {
    const p = await authority();
    const intent = await proposeSay(p);
    let signatures = 0;
    const signer = {
      ...p.ada,
      sign: (statements: readonly Uint8Array[]) => {
        signatures += statements.length;
        return p.ada.sign(statements);
      },
    };
    const { capability_id } = await p.keyturn.intents.turn({ ...intent, signer });
    const report = await runSeen(p.keyturn, { ...intent, confirm: yes });
    expect(signatures).toBe(1);
    expect(report).toMatchObject({ result: 'success', capability_id });
    const story = await entriesAbout(p.keyturn, intent.intent_id);
    expect(story.map(({ kind }) => kind)).toEqual([
      'intent.proposed',
      'intent.submitted',
      'order.given',
      'capability.issued',
      'execution.claimed',
      'execution.finished',
    ]);
    // The control plane signs once what it decided beside them.
    const [submission, order] = [story[1]!.body, story[2]!.body];
    expect(submission.control_covers).toHaveLength(2);
    for (const member of ['control_key', 'control_signature', 'control_covers'])
      expect(order[member]).toEqual(submission[member]);
    const [issued, claimed] = [story[3]!, story[4]!];
    expect([claimed.seq - issued.seq, claimed.at]).toEqual([1, issued.at]);
    expect(await ordersOf(p, intent)).toEqual(['spent']);
    await p.keyturn.runs.replay({ execution_id: report.execution_id });
    await p.keyturn.ledger.verify({ deep: true });
    expect((await p.keyturn.ledger.rebuild({ write: false })).differences).toEqual([]);
  });

  it('and what the human signed says what they saw: effect, attempt, bounds, end, and the id of the order', async () => {
    const p = await authority();
    const intent = await proposeSay(p);
    const act = (signer: Parameters<Parameters<Keyturn['draft']>[1]>[0]) =>
      p.keyturn.intents.turn({ ...intent, signer });
    const draft = await p.keyturn.draft(p.ada, act);
    const { body } = JSON.parse(draft.statements[0]!);
    expect(body).toMatchObject({ attempt: 1, hash: intent.hash, bounds: null });
    expect(Object.keys(body)).not.toEqual(expect.arrayContaining(['decision']));
    expect(Date.parse(body.lapses_at) - Date.parse(body.signed_at)).toBe(120_000);
    const proofs = await p.ada.sign(draft.statements.map((text) => Buffer.from(text)));
    expect(await p.keyturn.finish(draft, proofs, act)).toMatchObject({ capability_id: body.order_id });
  });

  it('not by the human who proposed it, where there is another one', async () => {
    const p = await authority();
    const bo = await human(p, 'bo', ['ops']);
    const intent = await proposeSay(p);
    await expectRefusal('SELF_APPROVAL', () => p.keyturn.intents.turn({ ...intent, signer: p.ada }));
    await p.keyturn.intents.turn({ ...intent, signer: bo });
    expect(await ordersOf(p, intent)).toEqual(['ordered']);
  });
});

describe('an order', () => {
  it('lapses when it is not claimed in time, also across a restart', async () => {
    let now = Date.now();
    const p = await project(TOOLS, () => new Date(now));
    const draft = {
      declared_goal: 'Say x.',
      effect: { kind: 'tool' as const, tool: 'say', arguments: { word: 'x' } },
    };
    const { intent_id, hash } = await p.keyturn.intents.propose({ ...draft, signer: p.ada });
    await p.keyturn.intents.turn({ intent_id, hash, signer: p.ada });
    expect((await p.keyturn.intents.check({ intent_id, hash })).eligible).toBe(true);
    now += 121_000;
    expect(await p.keyturn.intents.check({ intent_id, hash })).toMatchObject({
      eligible: false,
      code: 'ORDER_LAPSED',
    });
    await p.keyturn.close();
    const again = await Keyturn.open({ at: p.root, clock: () => new Date(now), uptime: () => now });
    await expectRefusal('ORDER_LAPSED', () => runSeen(again, { intent_id, hash, confirm: yes }));
    // The approval stands: a human who still wants it orders it again.
    await again.intents.grant({ intent_id, hash, signer: p.ada });
    expect((await runSeen(again, { intent_id, hash, confirm: yes })).result).toBe('success');
    await again.close();
  });

  it('can be taken back before anything is issued', async () => {
    const p = await authority();
    const intent = await turned(p);
    await p.keyturn.runs.revokeCapability({
      capability_id: intent.order_id,
      reason: 'a second look',
      signer: p.ada,
    });
    await expectRefusal('CAPABILITY_REVOKED', () => runSeen(p.keyturn, { ...intent, confirm: yes }));
    expect(await ordersOf(p, intent)).toEqual(['revoked']);
  });

  it('ends when the policies deny what was ordered', async () => {
    const p = await authority();
    const intent = await turned(p);
    await rules(p, DENY_GRANT);
    await expectRefusal('POLICY_DENIED', () => runSeen(p.keyturn, { ...intent, confirm: yes }));
    expect((await kindsOf(p, intent)).at(-1)).toBe('order.denied');
    expect(await ordersOf(p, intent)).toEqual(['denied']);
    await expectRefusal('ORDER_MISSING', () => runSeen(p.keyturn, { ...intent, confirm: yes }));
    expect(await p.keyturn.intents.check({ intent_id: intent.intent_id, hash: intent.hash })).toMatchObject({
      code: 'ORDER_MISSING',
    });
    await expectRefusal('POLICY_DENIED', () => p.keyturn.intents.grant({ ...named(intent), signer: p.ada }));
  });

  it('dies with the key that gave it', async () => {
    const p = await authority();
    const bo = await human(p, 'bo');
    const intent = await proposeSay(p);
    await p.keyturn.intents.turn({ ...intent, signer: bo });
    await p.keyturn.people.revoke({ name: 'bo', reason: 'left', signer: p.ada });
    await expectRefusal('APPROVER_REVOKED', () => runSeen(p.keyturn, { ...intent, confirm: yes }));
    expect(await kindsOf(p, intent)).not.toContain('capability.issued');
  });

  it('over a freeze waits, and is issued after it, while it has not lapsed', async () => {
    const p = await authority();
    const intent = await turned(p);
    await p.keyturn.system.freeze({ scope: 'system', reason: 'a look', signer: p.ada });
    await expectRefusal('FROZEN', () => runSeen(p.keyturn, { ...intent, confirm: yes }));
    await p.keyturn.system.unfreeze({ scope: 'system', reason: 'looked', signer: p.ada });
    expect((await runSeen(p.keyturn, { ...intent, confirm: yes })).result).toBe('success');
  });

  it('for more than the effect reaches is refused', async () => {
    const p = await authority();
    const intent = await proposeSay(p);
    const scope = { unconfined: false, read: ['/etc'], write: [], network: true, pipelines: ['p'] };
    await expectRefusal('CAPABILITY_WIDENED', () =>
      p.keyturn.intents.turn({ ...intent, signer: p.ada, scope }),
    );
  });

  it('for more than the effect reaches, or for longer than a capability lives, is not issued, whoever wrote it', async () => {
    const hour = 3_600_000;
    const wrong = [
      ['CAPABILITY_WIDENED', { scope: { network: true } }, hour / 12],
      ['CAPABILITY_WIDENED', { scope: { write: ['/'] } }, hour / 12],
      ['CAPABILITY_WRONG_ACTION', { tool_category: 'files' }, hour / 12],
      ['CAPABILITY_TOO_LONG', {}, 2 * hour],
    ] as const;
    for (const [code, bounds, lives_ms] of wrong) {
      const p = await authority();
      const intent = await proposeSay(p);
      await p.keyturn.intents.approve({ ...intent, signer: p.ada });
      await orderedPastTheLibrary(p, intent, bounds, lives_ms);
      await expectRefusal(code, () => runSeen(p.keyturn, { ...intent, confirm: yes }));
      expect(await kindsOf(p, intent)).not.toContain('capability.issued');
    }
  });

  it('is refused where another one came while it was signed', async () => {
    const p = await authority();
    const [bo, cy] = [await human(p, 'bo', ['ops']), await human(p, 'cy', ['ops'])];
    const intent = await proposeSay(p);
    const [drawn_up, go_on] = [signal(), signal()];
    const late = {
      ...cy,
      sign: async (statements: readonly Uint8Array[]) => {
        drawn_up.give();
        await go_on.given;
        return cy.sign(statements);
      },
    };
    const second = p.keyturn.intents.turn({ ...intent, signer: late }).catch(codeOf);
    await drawn_up.given;
    await until(() => Date.now() > drawn_up.at_ms());
    await p.keyturn.intents.turn({ ...intent, signer: bo });
    go_on.give();
    expect(await second).toBe('ORDER_OPEN');
    expect(await ordersOf(p, intent)).toEqual(['ordered']);
    expect((await runSeen(p.keyturn, { ...intent, confirm: yes })).result).toBe('success');
    await expectSound(p, intent);
  });

  it('takes the place of the one that was open before it, whoever gave that', async () => {
    const p = await authority();
    const bo = await human(p, 'bo', ['ops']);
    const intent = await proposeSay(p);
    await p.keyturn.intents.turn({ ...intent, signer: bo });
    await p.keyturn.intents.grant({ ...named(intent), signer: p.ada });
    expect(await ordersOf(p, intent)).toEqual(['revoked', 'ordered']);
    const { capabilities } = await p.keyturn.runs.capabilities({ intent_id: intent.intent_id });
    expect(capabilities.map(({ by, status }) => [by, status])).toEqual([
      ['ada', 'ordered'],
      ['bo', 'revoked'],
    ]);
    // What is for a holder elsewhere is issued at once: any number of these can be open.
    for (const holder of ['one', 'two']) {
      const { public_key } = freshSigner(holder);
      await p.keyturn.intents.grant({ ...named(intent), signer: p.ada, holder: public_key });
    }
    expect(await ordersOf(p, intent)).toEqual(['revoked', 'revoked', 'issued', 'issued']);
    await expectSound(p, intent);
  });

  it('is the only open one of its attempt, however many turn the key at once', async () => {
    const p = await authority();
    const humans = await Promise.all(['bo', 'cy', 'di', 'ed'].map((name) => human(p, name, ['ops'])));
    const intent = await proposeSay(p);
    const other = await Keyturn.open({ at: p.root });
    onTestFinished(() => other.close());
    const turns = humans.flatMap((signer) =>
      [p.keyturn, other].map((keyturn) => keyturn.intents.turn({ ...intent, signer }).catch(codeOf)),
    );
    const ends = await Promise.all(turns);
    const codes = new Set(ends.filter((end) => typeof end === 'string'));
    expect(
      [...codes].every((code) => code === 'ORDER_OPEN'),
      [...codes].join(),
    ).toBe(true);
    expect((await ordersOf(p, intent)).filter((status) => status === 'ordered')).toHaveLength(1);
    expect((await runSeen(p.keyturn, { ...intent, confirm: yes })).result).toBe('success');
    await expectSound(p, intent);
  });

  it('is claimed by one of two', async () => {
    const p = await authority();
    const intent = await turned(p);
    const other = await Keyturn.open({ at: p.root });
    const ends = await Promise.allSettled(
      [p.keyturn, other].map((one) => runSeen(one, { ...intent, confirm: yes })),
    );
    await other.close();
    expect(ends.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect((await kindsOf(p, intent)).filter((kind) => kind === 'capability.issued')).toHaveLength(1);
  });

  it('with conditions binds what is issued under it', async () => {
    const p = await authority();
    const intent = await proposeSay(p);
    const not_before = new Date(Date.now() + 60_000).toISOString();
    await p.keyturn.intents.turn({ ...intent, signer: p.ada, conditions: { not_before } });
    await expectRefusal('CAPABILITY_NOT_YET', () => runSeen(p.keyturn, { ...intent, confirm: yes }));
  });
});

const DENY_GRANT = `${PERMITS}\n${policy('no-grant', 'capability', 'forbid (principal, action, resource);')}`;
