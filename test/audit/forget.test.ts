import { describe, expect, it } from 'vitest';
import { auditEntries } from '../../src/audit/ledger.ts';
import type { Event } from '../../src/event/event.ts';
import type { SealedEntry } from '../../src/ledger/entry.ts';
import type { Refusal } from '../../src/refusal.ts';
import { sealed } from '../fold/judges.ts';
import { lived } from '../fold/lived.ts';
import { received } from '../gate/agent-story.ts';
import { goal, of } from '../store/agent-facts.ts';
import {
  act,
  capabilityOf,
  claimed,
  denied,
  finished,
  issued,
  ordered,
  proposed,
  refused,
  retried,
  withdrawn,
} from '../store/facts.ts';
import { givenUp, intentAt, longLedger, type Shape } from './long-ledger.ts';

const SIZE = 64;
/** It ran, it was rejected, and there is none. */
const [RAN, REJECTED, NEW] = [intentAt(0), intentAt(9), '00000009-0000-4000-8000-000000000000'];
const RUN = '00000002-0000-4000-8000-000000000000';
const CAPABILITY = '00000003-0000-4000-8000-000000000000';

const answerOf = (audited: Promise<{ readonly root: string }>) =>
  audited.then(
    ({ root }) => ({ root }),
    ({ code, facts }: Refusal) => ({ code, ...facts }),
  );

/** How often the ledger was read, and what was found, beside what a verification finds that forgets nothing. */
async function both(more: readonly Event[]) {
  let readings = 0;
  const open = (): AsyncIterable<SealedEntry[]> => {
    readings += 1;
    return longLedger(SIZE, more);
  };
  const found = await answerOf(auditEntries(open));
  return { found, expected: await answerOf(auditEntries(longLedger(SIZE, more))), readings };
}

const again = (subject: string, capability_id: string, execution_id: string) => [
  ...issued(subject, 'ada', { capability_id, approves_until: '2030-01-15T12:00:00.000Z', ordinal: null }),
  claimed(subject, execution_id, 1, { capability_id }),
];

const LATE: Readonly<Record<string, readonly Event[]>> = {
  'proposed again': [proposed(RAN)],
  'rejected again': [denied(REJECTED, 'ada')],
  'ordered after it ran': [ordered(RAN, 'ada')],
  'ordered after it was rejected': [ordered(REJECTED, 'ada')],
  'claimed again': [claimed(RAN)],
  'finished again': [finished(RAN, RUN, 'success')],
  'revoked after it was spent': [
    act('capability.revoked', RAN, { capability_id: CAPABILITY, reason: 'late' }, 'ada'),
  ],
  'revoked by an id of nothing': [withdrawn(RAN, 'ada')],
  'issued under the id of another': [proposed(NEW), again(NEW, CAPABILITY, NEW)[0]!],
  'run under the id of another': [proposed(NEW), ...again(NEW, capabilityOf(NEW), RUN)],
};

const UNTIMELY: Readonly<Record<string, readonly [Shape, (n: number) => readonly Event[]]>> = {
  'an intent that expired undecided': ['undecided', (n) => [denied(intentAt(n), 'ada')]],
  'a plan whose backups were kept': ['plans with backups', (n) => [givenUp(n), givenUp(n + 7)]],
  'a failed run of an intent that expired': [
    'failed',
    (n) => [{ ...retried(intentAt(n), RUN.replace(/0$/, String(n)), 2, 'ada') }],
  ],
  'a conversation that rested': [
    'called off',
    (n) => [of(goal(`goal-${n}`), received({ turn_id: 'turn-2' }))],
  ],
};

describe('a verification that forgets what is over', () => {
  it('reads a ledger twice in which the backups of many plans are given up late', async () => {
    const shape = 'plans whose backups go late';
    let readings = 0;
    const open = () => {
      readings += 1;
      return longLedger(900, [], shape);
    };
    const found = await answerOf(auditEntries(open));
    expect(found).toEqual(await answerOf(auditEntries(longLedger(900, [], shape))));
    expect(found).toHaveProperty('root');
    expect(readings).toBe(2);
  });

  it('refuses backups that are given up twice, both times late', async () => {
    const more = [givenUp(3), givenUp(3)];
    const shape = 'plans with backups';
    const found = await answerOf(auditEntries(() => longLedger(600, more, shape)));
    expect(found).toMatchObject({ code: 'LEDGER_BROKEN', reason_code: 'CLAIM_TAKEN', seq: 601 });
    expect(found).toEqual(await answerOf(auditEntries(longLedger(600, more, shape))));
  });

  it.each(Object.entries(UNTIMELY))(
    'reads again, and takes, what goes on with %s',
    async (_, [shape, more]) => {
      let readings = 0;
      const open = (): AsyncIterable<SealedEntry[]> => {
        readings += 1;
        return longLedger(800, more(3), shape);
      };
      const found = await answerOf(auditEntries(open));
      expect(found).toEqual(await answerOf(auditEntries(longLedger(800, more(3), shape))));
      expect(found).toHaveProperty('root');
      expect(readings).toBe(2);
      readings = 0;
      await auditEntries(() => {
        readings += 1;
        return longLedger(800, [], shape);
      });
      expect(readings).toBe(1);
    },
  );

  it.each(Object.entries(LATE))('refuses, as one that does not, an intent that is %s', async (_, more) => {
    const { found, expected, readings } = await both(more);
    expect(found).toEqual(expected);
    expect(found).toMatchObject({ code: 'LEDGER_BROKEN', seq: SIZE + more.length - 1 });
    expect(readings).toBeLessThanOrEqual(3);
  });

  it('names the claim that was taken before', async () => {
    const { found } = await both([proposed(RAN)]);
    expect(found).toMatchObject({ reason_code: 'CLAIM_TAKEN' });
  });

  it('reads a good ledger once, also where what is over was tried again and refused', async () => {
    const { found, expected, readings } = await both([refused(RAN), refused(REJECTED), proposed(NEW)]);
    expect(found).toEqual(expected);
    expect(found).toHaveProperty('root');
    expect(readings).toBe(1);
  });

  it('reads a ledger in which every state machine moves once', async () => {
    let readings = 0;
    await auditEntries(async function* () {
      readings += 1;
      yield sealed(lived());
    });
    expect(readings).toBe(1);
  });
});
