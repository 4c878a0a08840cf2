import { describe, expect, it } from 'vitest';
import type { Body, Event } from '../../src/event/event.ts';
import { restsOn } from '../../src/fold/decided.ts';
import { leafHash } from '../../src/ledger/entry.ts';
import {
  act,
  activated,
  controlled,
  decided,
  granted,
  issued,
  proposed,
  uncontrolled,
} from '../store/facts.ts';
import { governance } from '../store/place.ts';
import { adoptedFrom, auditedFrom, objectsOf, rebuiltFrom, sealed } from './judges.ts';
import { KINDS } from './kinds.ts';
import { id, lived } from './lived.ts';
import { lookedAt } from './look.ts';
import { expectOneAnswer, JUDGES } from './one-answer.ts';
import { proofOf } from './proofs.ts';

/** The decision stands beside what its human signed: the control plane signs another one. */
const decidedBy = (event: Event<'approval.granted' | 'order.given'>, decision: string | null): Event =>
  decided([{ ...event, body: { ...event.body, decision } } as Event])[0]!;

const { deepVerifiedWith, committed, adopted, rebuilt } = JUDGES;
/** Those who have the objects that entries name. */
const OF_OBJECTS = [deepVerifiedWith, committed, adopted, rebuilt];

describe('commit, copy, rebuild, deep verification and proof', () => {
  it('take a ledger that could have been written', async () => {
    const events = lived();
    for (const judge of Object.values(JUDGES)) expect(await judge(events, objectsOf(events))).toBeNull();
  });

  it('is one with every kind of event', () => {
    const kinds = new Set(lived().map(({ kind }) => kind));
    expect(KINDS.filter((kind) => !kinds.has(kind))).toEqual([]);
  });

  it.each([
    ['the policies denied it, and names no decision', 'DECISION_MISSING', { decision: null }],
    ['something else was missing, and names a decision', 'DECISION_MISMATCH', { reason_code: 'FROZEN' }],
  ])('refuse a refusal that says %s', async (_, code, other) => {
    const good = lived();
    for (const kind of ['intent.refused', 'execution.refused', 'order.denied', 'capability.denied']) {
      const seq = good.findIndex(
        ({ kind: one, body }) => one === kind && 'decision' in body && body.decision,
      );
      const { body, ...rest } = good[seq]!;
      const events = good.with(seq, { ...rest, body: { ...body, ...other } } as Event);
      for (const judge of Object.values(JUDGES))
        expect(await judge(events, objectsOf(good))).toEqual({ seq, code });
      expect(await proofOf(events, rest.subject)).not.toBeNull();
    }
  });

  it('refuse a freeze that is about something else than the system, which no proof would hold', async () => {
    const freeze = act('system.frozen', 'elsewhere', { scope: 'system', name: '', reason: 'a look' }, 'ada');
    const events = [...governance('ada', 'bo'), freeze];
    const seq = events.length - 1;
    for (const judge of Object.values(JUDGES))
      expect(await judge(events, objectsOf(events))).toEqual({ seq, code: 'SHAPE_INVALID' });
  });

  it('refuse an order that approves and names no decision', async () => {
    const good = lived();
    const seq = good.findIndex(({ kind, body }) => kind === 'order.given' && body.approves_until !== null);
    const events = good.with(seq, decidedBy(good[seq] as Event<'order.given'>, null));
    for (const judge of Object.values(JUDGES))
      expect(await judge(events, objectsOf(good))).toEqual({ seq, code: 'DECISION_MISSING' });
    expect(await proofOf(events, good[seq]!.subject)).toBe('DECISION_MISSING');
  });

  it('refuse a refusal with another answer of the policies, where they have the decision', async () => {
    const good = lived();
    const seq = good.findIndex(({ kind, body }) => kind === 'execution.refused' && body.decision !== null);
    const { body, ...rest } = good[seq]!;
    const events = good.with(seq, { ...rest, body: { ...body, reason_code: 'POLICY_NO_PERMIT' } } as Event);
    for (const judge of OF_OBJECTS)
      expect(await judge(events, objectsOf(good))).toEqual({ seq, code: 'DECISION_MISMATCH' });
  });

  it('refuse an approval that rests on the decision about another one, where they have the decision', async () => {
    const good = lived();
    const seq = good.findIndex(({ kind }) => kind === 'approval.granted');
    const approval = good[seq] as Event<'approval.granted'>;
    const other = good.map(restsOn).find((digest) => digest !== null && digest !== approval.body.decision);
    const events = good.with(seq, decidedBy(approval, other!));
    for (const judge of OF_OBJECTS)
      expect(await judge(events, objectsOf(good))).toEqual({ seq, code: 'DECISION_MISMATCH' });
  });

  it('refuse an approval whose decision is not there, where they have the objects', async () => {
    const good = lived();
    const seq = good.findIndex(({ kind }) => kind === 'approval.granted');
    const events = good.with(seq, decidedBy(good[seq] as Event<'approval.granted'>, 'ef'.repeat(32)));
    for (const judge of OF_OBJECTS) {
      const answer = await judge(events, objectsOf(good));
      expect(answer?.seq).toBe(seq);
      expect(['DECISION_MISSING', 'OBJECT_MISSING']).toContain(answer?.code);
    }
  });

  it('refuse a capability that was issued under policies or with a key that no longer hold', async () => {
    const good = lived();
    const seq = good.findIndex(({ kind }) => kind === 'capability.issued');
    const { subject } = good[seq]!;
    const meanwhile = [
      ['DECISION_STALE', [activated('ada', 'cd'.repeat(32))]],
      ['DECISION_STALE', [controlled('newer', 'bo', 'control')]],
      ['CONTROL_KEY_REVOKED', [controlled('newer', 'bo'), uncontrolled('control', 'ada')]],
    ] as const;
    for (const [code, replaced] of meanwhile) {
      const events = good.toSpliced(seq, 0, ...replaced).slice(0, seq + replaced.length + 1);
      expect(events.at(-1)!.kind).toBe('capability.issued');
      const stale = { seq: events.length - 1, code };
      for (const judge of [JUDGES.deepVerified, JUDGES.forgetting])
        expect(await judge(events, objectsOf(events))).toEqual(stale);
      expect(await proofOf(events, subject)).toBe(code);
      expect(lookedAt(sealed(events), subject)).toBe(code);
    }
  });

  it('refuse a capability whose decision counted one human twice', async () => {
    const approvers = [
      { name: 'bo', roles: [] },
      { name: 'bo', roles: [] },
    ];
    const events = [
      ...governance('ada', 'bo'),
      proposed(id(1), { approvals_needed: 2 }),
      granted(id(1), 'bo'),
      granted(id(1), 'ada'),
      ...issued(id(1), 'ada', { approvers, ordinal: 1 }),
    ];
    const seq = events.length - 1;
    expect(await JUDGES.deepVerified(events, objectsOf(events))).toEqual({ seq, code: 'APPROVAL_MISSING' });
  });

  it('refuse what an entry of the same intent took before', async () => {
    const good = lived();
    const seq = good.findIndex(({ kind }) => kind === 'break_glass.used');
    const events = [...good.slice(0, seq + 1), good[seq]!];
    const { subject } = good[seq]!;
    expect(await JUDGES.deepVerified(events, objectsOf(events))).toEqual({
      seq: seq + 1,
      code: 'CLAIM_TAKEN',
    });
    expect(await proofOf(events, subject)).toBe('CLAIM_TAKEN');
    expect(lookedAt(sealed(events), subject)).toBe('CLAIM_TAKEN');
  });

  it('refuse an intent that was replaced by one that nobody proposed', async () => {
    const good = lived();
    const seq = good.findIndex(({ kind }) => kind === 'intent.replaced');
    const { replacement } = good[seq]!.body as Body<'intent.replaced'>;
    const events = good.filter(({ subject }) => subject !== replacement);
    for (const judge of Object.values(JUDGES))
      expect(await judge(events, objectsOf(good))).toEqual({ seq: seq - 1, code: 'INTENT_NOT_FOUND' });
    expect(await proofOf(good.slice(0, seq + 1), good[seq]!.subject)).toBeNull();
    expect(await proofOf(events.slice(0, seq), good[seq]!.subject)).toBe('INTENT_NOT_FOUND');
  });

  it.each([
    ['with a space', (text: string) => text.replace('{', '{ ')],
    [
      'with its members in another order',
      (text: string) => text.replace(/^\{(.*),("tenant":"[^"]*")\}$/s, '{$2,$1}'),
    ],
    ['with a letter as an escape', (text: string) => text.replace('"kind":"c', '"kind":"\\u0063')],
  ])('refuse an entry in another form than a commit writes: %s', async (_, other) => {
    const events = lived().slice(0, 6);
    const entries = sealed(events);
    const text = Buffer.from(entries[5]!.bytes).toString();
    const bytes = Buffer.from(other(text));
    expect(bytes.toString()).not.toBe(text);
    const changed = entries.with(5, { seq: 5, bytes, hash: leafHash(bytes) });
    const answers = [
      await auditedFrom(changed),
      await adoptedFrom(changed, objectsOf(events)),
      await rebuiltFrom(changed, events, objectsOf(events)),
    ];
    for (const answer of answers) expect(answer).toEqual({ seq: 5, code: 'LEDGER_BROKEN' });
    expect(lookedAt(changed)).toBe('LEDGER_BROKEN');
  });

  it('give the same answer about a few ledgers that differ in one thing', () => expectOneAnswer(8));
});
