import { createPublicKey, verify } from 'node:crypto';
import { keptKeys, openPublicKey } from '../src/canonical/authenticator-key.ts';
import * as shape from '../src/event/shape.ts';
import { requireEnrolledAs, verifyAssertion } from '../src/identity/passkey.ts';
import { digestOf, enrolled, sha256Of, signedBy, softKey, touched } from '../test/identity/authenticator.ts';
import { timed, usual } from './timing.ts';

export interface PasskeyTimes {
  /** One ES256 verification with a key that is open, and with the key as it is kept. */
  readonly bare_us: number;
  readonly bare_opening_us: number;
  /** The same with everything that makes it an act. */
  readonly act_us: number;
  readonly act_opening_us: number;
}

/** Acts in a row, so that the clock itself does not count. */
const IN_A_ROW = 20;

const STATEMENT = JSON.stringify({
  body: {
    by: 'ada',
    effect: digestOf('effect'),
    hash: digestOf('intent'),
    signed_at: '2026-01-02T03:04:05.678Z',
  },
  format: 'keyturn-act/1',
  kind: 'approval.granted',
  origin: 'keyturn/5f0c9b1e-6d0a-4c57-9b0e-2f1d3c4b5a69/default',
  subject: '0197a1b2-0000-7000-8000-000000000000',
});

/** In turn, over the same bytes: what a ledger holds, from its shape to the credential as it was enrolled. */
export async function measurePasskeys({ rounds }: { rounds: number }): Promise<PasskeyTimes> {
  const key = softKey('ES256');
  const passkey = enrolled(key);
  const touch = touched(STATEMENT);
  const one = signedBy(key, touch);
  const statement = Buffer.from(STATEMENT);
  const signed = Buffer.concat([touch.authenticator_data, sha256Of(touch.client_data)]);
  const signature = Buffer.from(one.signature, 'base64url');
  const spki = { key: Buffer.from(key.public_key, 'base64'), format: 'der', type: 'spki' } as const;
  const kept = keptKeys();
  const act = (open: typeof openPublicKey) =>
    requireEnrolledAs(
      verifyAssertion(statement, passkey.public_key, shape.assertion.parse(one), open),
      passkey,
    );
  const acts: Record<keyof PasskeyTimes, () => unknown> = {
    bare_us: () => verify('sha256', signed, key.public_object, signature),
    bare_opening_us: () => verify('sha256', signed, createPublicKey(spki), signature),
    act_us: () => act(kept),
    act_opening_us: () => act(openPublicKey),
  };
  const names = Object.keys(acts) as (keyof PasskeyTimes)[];
  const times = new Map(names.map((name) => [name, [] as number[]]));
  for (let i = 0; i < rounds + 5; i++) {
    for (const name of names) {
      const ms = await timed(() => inARow(acts[name]));
      if (i >= 5) times.get(name)!.push((ms * 1000) / IN_A_ROW);
    }
  }
  return Object.fromEntries(names.map((name) => [name, usual(times.get(name)!)])) as unknown as PasskeyTimes;
}

function inARow(act: () => unknown): void {
  for (let i = 0; i < IN_A_ROW; i++) act();
}
