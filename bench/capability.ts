import { randomUUID, sign, verify } from 'node:crypto';
import { hostname } from 'node:os';
import { sha256 } from '../src/canonical/digest.ts';
import { generateKeyPair, privateKeyOf, publicKeyOf } from '../src/canonical/ed25519.ts';
import { kidOf } from '../src/capability/key.ts';
import { requireHolder } from '../src/capability/proof.ts';
import { type CapabilityClaims, mint, secondOf } from '../src/capability/token.ts';
import { type Expected, openCapability, requireUsable } from '../src/capability/verify.ts';
import type { Row } from './table.ts';
import { timed, usual } from './timing.ts';

export interface CapabilityTimes {
  readonly sign_us: number;
  readonly mint_us: number;
  readonly verify_us: number;
  readonly check_us: number;
}

/** Acts in a row, so that the clock itself does not count. */
const IN_A_ROW = 50;

/** Bare signatures and whole capabilities in turn, over the same bytes. The lookup in the store is not in it. */
export async function measureCapabilities({ rounds }: { rounds: number }): Promise<CapabilityTimes> {
  const { public_key, seed } = generateKeyPair();
  const [key, public_object, kid] = [privateKeyOf(seed), publicKeyOf(public_key), kidOf(public_key)];
  const { claims, expected } = usualCapability(new Date());
  const text = mint(claims, { kid, key });
  const input = Buffer.from(text.slice(0, text.lastIndexOf('.')));
  const signature = sign(null, input, key);
  const keys = (name: string) => (name === kid ? public_object : null);

  const acts = {
    sign_us: () => sign(null, input, key),
    mint_us: () => mint(claims, { kid, key }),
    verify_us: () => verify(null, input, public_object, signature),
    check_us: async () => {
      const opened = openCapability(text, keys);
      requireUsable(requireHolder(opened, null, expected), expected, 'issued');
    },
  };
  const times = { sign_us: [], mint_us: [], verify_us: [], check_us: [] } as Record<
    keyof typeof acts,
    number[]
  >;
  for (let i = 0; i < rounds + 5; i++) {
    for (const name of Object.keys(acts) as (keyof typeof acts)[]) {
      const ms = await timed(() => inARow(acts[name]));
      if (i >= 5) times[name].push((ms * 1000) / IN_A_ROW);
    }
  }
  return {
    sign_us: usual(times.sign_us),
    mint_us: usual(times.mint_us),
    verify_us: usual(times.verify_us),
    check_us: usual(times.check_us),
  };
}

function inARow(act: () => unknown): void {
  for (let i = 0; i < IN_A_ROW; i++) act();
}

/** What a person grants for one run of a tool in its sandbox. */
function usualCapability(now: Date): { claims: CapabilityClaims; expected: Expected } {
  const bound = {
    audience: `keyturn/executor/${hostname()}`,
    intent_id: randomUUID(),
    intent_hash: sha256('intent'),
    effect_digest: sha256('effect'),
    attempt: 1,
    action: 'tool:deploy',
  };
  const scope = {
    unconfined: false,
    network: true,
    read: ['/etc/app', '/usr/share/app'],
    write: ['/srv/data'],
    pipelines: [],
  };
  return {
    claims: {
      ...bound,
      jti: randomUUID(),
      issuer: `keyturn/${randomUUID()}/default`,
      policy: sha256('policy'),
      tool_category: 'deployment',
      scope,
      conditions: { environment: 'staging' },
      issued_at: secondOf(now),
      expires_at: secondOf(new Date(now.getTime() + 300_000)),
      holder: null,
    },
    expected: {
      ...bound,
      now,
      needs: scope,
      facts: { now, environment: 'staging', host: hostname(), fileDigest: () => null },
    },
  };
}

/** `lookup_us` is what asking the store for the capability's status costs. */
export function capabilityRows(times: CapabilityTimes, lookup_us = 0): Row[] {
  const minting = times.mint_us / times.sign_us;
  const checking = (times.check_us + lookup_us) / times.verify_us;
  const row = (figure: string, ratio: number, most: number, baseline: string): Row => ({
    figure,
    measured: `${ratio.toFixed(2)} x`,
    asked: `<= ${most}`,
    verdict: ratio <= most ? 'ok' : 'MISSED',
    baseline,
  });
  const us = (value: number) => `${value.toFixed(0)} us`;
  return [
    row(
      'mint a capability, against one Ed25519 signature',
      minting,
      8,
      `${us(times.mint_us)} against ${us(times.sign_us)}`,
    ),
    row(
      'verify a capability, against one Ed25519 verification',
      checking,
      3.5,
      `${us(times.check_us)} and ${us(lookup_us)} for the lookup, against ${us(times.verify_us)}`,
    ),
  ];
}
