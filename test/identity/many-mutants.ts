import { expect } from 'vitest';
import { keptKeys } from '../../src/canonical/authenticator-key.ts';
import {
  generateKeyPair,
  privateKeyOf,
  publicKeyOf,
  sign,
  verifyEd25519,
} from '../../src/canonical/ed25519.ts';
import * as shape from '../../src/event/shape.ts';
import { requireEnrolledAs, verifyAssertion } from '../../src/identity/passkey.ts';
import { Refusal } from '../../src/refusal.ts';
import { MUTATIONS, type Mutant, mutant, type People } from './mutants.ts';
import { type Choose, chooser, flipped, oneOf } from './signed-changes.ts';

/** So many changed proofs, in turn an Ed25519 signature and an assertion: none is accepted. */
export function expectNoneAccepted(count: number, everybody: People): void {
  const open = keptKeys();
  const ed25519 = ed25519Proof();
  const [codes, names] = [new Map<string, number>(), new Set<string>()];
  for (let i = 0, seed = 0; i < count; i++) {
    const one = i % 2 === 0 ? null : badMutant(seed, everybody);
    const code = one === null ? refusalOfChanged(ed25519, chooser(i)) : refusalOf(one, open);
    if (code === null) expect.fail(`accepted: ${i}, ${one?.seed}, ${one?.key.algorithm}, ${one?.name}`);
    codes.set(code, (codes.get(code) ?? 0) + 1);
    if (one === null) continue;
    names.add(one.name.replace(', signed again', ''));
    seed = one.seed + 1;
  }
  const told = [...codes].sort(([, a], [, b]) => b - a).map(([code, times]) => `${code} ${times}`);
  console.info(
    `${count} changed proofs: ${told.join(', ')}; ${names.size} of ${MUTATIONS.length} kinds of change`,
  );
}

/** The next one that is no proof. Changes that were signed again and mean nothing are left out. */
function badMutant(from: number, everybody: People): Mutant & { readonly seed: number } {
  for (let seed = from; ; seed++) {
    const one = mutant(seed, everybody);
    if (!one.good) return { ...one, seed };
  }
}

function refusalOf(
  { statement, passkey, assertion }: Mutant,
  open: ReturnType<typeof keptKeys>,
): string | null {
  const shaped = shape.assertion.safeParse(assertion);
  if (!shaped.success || !shape.passkey.safeParse(passkey).success) return 'SHAPE_INVALID';
  return codeOf(() =>
    requireEnrolledAs(
      verifyAssertion(Buffer.from(statement), passkey.public_key, shaped.data, open),
      passkey,
    ),
  );
}

function codeOf(act: () => void): string | null {
  try {
    act();
    return null;
  } catch (error) {
    if (error instanceof Refusal) return error.code;
    throw error;
  }
}

interface Ed25519Proof {
  readonly statement: Uint8Array;
  readonly signature: string;
  readonly key: string;
  readonly other: string;
}

function ed25519Proof(): Ed25519Proof {
  const { public_key, seed } = generateKeyPair();
  const statement = Buffer.from('{"format":"keyturn-act/1","kind":"approval.granted","subject":"first"}');
  return {
    statement,
    signature: sign(statement, privateKeyOf(seed)),
    key: public_key,
    other: generateKeyPair().public_key,
  };
}

/** The order of the group: S and S + L would both verify where a verifier is not strict. */
const L = 2n ** 252n + 27742317777372353535851937790883648493n;

function beyondOrder(signature: Buffer): Buffer {
  const s = BigInt(`0x${Buffer.from(signature.subarray(32)).reverse().toString('hex')}`) + L;
  return Buffer.concat([
    signature.subarray(0, 32),
    Buffer.from(s.toString(16).padStart(64, '0'), 'hex').reverse(),
  ]);
}

const ED25519_CHANGES: readonly ((proof: Ed25519Proof, choose: Choose) => Partial<Ed25519Proof>)[] = [
  ({ statement }, choose) => ({ statement: flipped(statement, choose) }),
  ({ statement }, choose) => ({ statement: statement.subarray(0, choose(statement.length)) }),
  ({ statement }, choose) => ({ statement: Buffer.concat([statement, Buffer.of(choose(256))]) }),
  ({ signature }, choose) => ({
    signature: flipped(Buffer.from(signature, 'base64'), choose).toString('base64'),
  }),
  ({ signature }, choose) => ({ signature: signature.slice(0, choose(signature.length)) }),
  ({ signature }) => ({ signature: `${signature} ` }),
  ({ signature }) => ({ signature: signature.replace(/=+$/, '') }),
  ({ signature }) => ({ signature: beyondOrder(Buffer.from(signature, 'base64')).toString('base64') }),
  (_, choose) => ({
    signature: Buffer.from(Array.from({ length: 64 }, () => choose(256))).toString('base64'),
  }),
  () => ({ signature: Buffer.alloc(64).toString('base64') }),
  ({ key }, choose) => ({ key: flipped(Buffer.from(key, 'base64'), choose).toString('base64') }),
  ({ other }) => ({ key: other }),
];

function refusalOfChanged(proof: Ed25519Proof, choose: Choose): string | null {
  const { statement, signature, key } = { ...proof, ...oneOf(choose, ED25519_CHANGES)(proof, choose) };
  return codeOf(() => {
    if (!verifyEd25519(statement, signature, publicKeyOf(key))) throw new Refusal('SIGNATURE_INVALID');
  });
}
