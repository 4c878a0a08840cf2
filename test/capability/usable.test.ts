import { describe, expect, it } from 'vitest';
import { sha256 } from '../../src/canonical/digest.ts';
import { requireHolder } from '../../src/capability/proof.ts';
import type { CapabilityClaims } from '../../src/capability/token.ts';
import {
  type CapabilityStatus,
  type Expected,
  openCapability,
  requireUsable,
} from '../../src/capability/verify.ts';
import type { ReasonCode } from '../../src/refusal.ts';
import { expectRefusal } from '../support/refusal.ts';
import { EXPECTED, HERE, keys, later, minted, NOTHING, SCOPE } from './sample.ts';

async function use(
  expected: Partial<Expected> = {},
  status: CapabilityStatus | null = 'issued',
  claims: Partial<CapabilityClaims> = {},
): Promise<void> {
  const opened = openCapability(minted(claims), keys);
  requireUsable(requireHolder(opened, null, HERE), { ...EXPECTED, ...expected }, status);
}

const at = (now: Date): Partial<Expected> => ({ now, facts: { ...EXPECTED.facts, now } });

describe('a capability may be used', () => {
  it('for what it was granted for, at once and until it ends', async () => {
    await use();
    await use(at(later(299)));
    await use(at(new Date(later(300).getTime() - 1)));
  });

  it('for less than its scope, and for whatever its scope gives when nothing is named', async () => {
    await use({ needs: NOTHING });
    await use({ needs: { ...NOTHING, read: ['/etc/app/conf.d'], write: ['/srv/data/x'] } });
    await use({ needs: null });
  });

  it('by a clock that is a little behind', async () => {
    await use(at(later(-5)));
  });

  it('when every condition is met', async () => {
    const files = { 'src/a': sha256('1'), 'src/new': null };
    const conditions = { environment: 'staging', host: 'host-1', hours: { from: 10, to: 11 }, files };
    const facts = {
      ...EXPECTED.facts,
      fileDigest: (path: string) => (path === 'src/a' ? sha256('1') : null),
    };
    await use({ facts }, 'issued', { conditions });
  });
});

describe('a capability is refused', () => {
  it.each<[string, ReasonCode, Partial<Expected>, (CapabilityStatus | null)?, Partial<CapabilityClaims>?]>([
    ['that this ledger did not issue', 'CAPABILITY_UNKNOWN', {}, null],
    ['for another executor', 'CAPABILITY_WRONG_AUDIENCE', { audience: 'keyturn/executor/host-2' }],
    [
      'for an executor whose name begins the same',
      'CAPABILITY_WRONG_AUDIENCE',
      { audience: `${EXPECTED.audience}0` },
    ],
    [
      'for another intent',
      'CAPABILITY_INTENT_CHANGED',
      { intent_id: '11111111-2222-4333-8444-555555555556' },
    ],
    ['for a changed intent', 'CAPABILITY_INTENT_CHANGED', { intent_hash: sha256('changed') }],
    ['for another effect', 'CAPABILITY_INTENT_CHANGED', { effect_digest: sha256('changed') }],
    ['for another attempt', 'CAPABILITY_INTENT_CHANGED', { attempt: 2 }],
    ['that was revoked', 'CAPABILITY_REVOKED', {}, 'revoked'],
    ['that was used', 'CAPABILITY_USED', {}, 'spent'],
    ['before it begins', 'CAPABILITY_NOT_YET', at(later(-6))],
    ['by a clock a decade behind', 'CAPABILITY_NOT_YET', at(new Date('2020-05-06T10:00:00.000Z'))],
    ['by a clock at the beginning of time', 'CAPABILITY_NOT_YET', at(new Date(0))],
    ['by a clock that gives no time', 'CAPABILITY_NOT_YET', at(new Date(Number.NaN))],
    [
      'before the time that it names',
      'CAPABILITY_NOT_YET',
      at(later(59)),
      'issued',
      { conditions: { not_before: '2030-05-06T10:01:00.000Z' } },
    ],
    ['when it ends', 'CAPABILITY_EXPIRED', at(later(300))],
    ['by a clock a decade ahead', 'CAPABILITY_EXPIRED', at(new Date('2040-05-06T10:00:00.000Z'))],
    ['for another action', 'CAPABILITY_WRONG_ACTION', { action: 'tool:destroy' }],
    ['for an action whose name begins the same', 'CAPABILITY_WRONG_ACTION', { action: 'tool:deploy2' }],
    ['for another folder', 'CAPABILITY_OUT_OF_SCOPE', { needs: { ...SCOPE, write: ['/srv/database'] } }],
    ['for the folder above', 'CAPABILITY_OUT_OF_SCOPE', { needs: { ...SCOPE, write: ['/srv'] } }],
    ['to write what it may read', 'CAPABILITY_OUT_OF_SCOPE', { needs: { ...NOTHING, write: ['/etc/app'] } }],
    ['to go without a sandbox', 'CAPABILITY_OUT_OF_SCOPE', { needs: { ...NOTHING, unconfined: true } }],
    ['to run a pipeline', 'CAPABILITY_OUT_OF_SCOPE', { needs: { ...NOTHING, pipelines: ['ship'] } }],
    [
      'for the network',
      'CAPABILITY_OUT_OF_SCOPE',
      { needs: { ...NOTHING, network: true } },
      'issued',
      { scope: NOTHING },
    ],
    [
      'in another environment',
      'CAPABILITY_CONDITION_UNMET',
      { facts: { ...EXPECTED.facts, environment: 'prod' } },
    ],
    ['on another host', 'CAPABILITY_CONDITION_UNMET', {}, 'issued', { conditions: { host: 'host-2' } }],
    [
      'at another hour',
      'CAPABILITY_CONDITION_UNMET',
      {},
      'issued',
      { conditions: { hours: { from: 11, to: 12 } } },
    ],
    [
      'when a file changed',
      'CAPABILITY_CONDITION_UNMET',
      {},
      'issued',
      { conditions: { files: { 'src/a': sha256('1') } } },
    ],
  ])('%s', async (_, code, expected, status = 'issued', claims = {}) => {
    await expectRefusal(code, () => use(expected, status, claims));
  });

  it('for the first of its reasons, always in the same order', async () => {
    const wrong: [ReasonCode, Partial<Expected>][] = [
      ['CAPABILITY_WRONG_AUDIENCE', { audience: 'elsewhere' }],
      ['CAPABILITY_INTENT_CHANGED', { attempt: 2 }],
      ['CAPABILITY_EXPIRED', at(later(900))],
      ['CAPABILITY_WRONG_ACTION', { action: 'plan' }],
      ['CAPABILITY_OUT_OF_SCOPE', { needs: { ...NOTHING, unconfined: true } }],
      ['CAPABILITY_CONDITION_UNMET', { facts: { ...EXPECTED.facts, environment: 'prod' } }],
    ];
    const allFrom = (i: number) =>
      Object.assign(
        {},
        ...wrong
          .slice(i)
          .map(([, part]) => part)
          .reverse(),
      );
    for (const [i, [code]] of wrong.entries()) await expectRefusal(code, () => use(allFrom(i)));
    await expectRefusal('CAPABILITY_UNKNOWN', () => use(allFrom(0), null));
    await expectRefusal('CAPABILITY_INTENT_CHANGED', () => use(allFrom(1), 'revoked'));
    await expectRefusal('CAPABILITY_REVOKED', () => use(allFrom(2), 'revoked'));
    await expectRefusal('CAPABILITY_USED', () => use(allFrom(2), 'spent'));
  });

  it('without reading a file when something else is wrong', async () => {
    const fileDigest = () => expect.fail('a file was read');
    const conditions = { files: { 'src/a': null } };
    const expected = { action: 'plan', facts: { ...EXPECTED.facts, fileDigest } };
    await expectRefusal('CAPABILITY_WRONG_ACTION', () => use(expected, 'issued', { conditions }));
  });
});
