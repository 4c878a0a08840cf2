import type * as Audit from '../../src/audit/index.ts';
import type { Files } from './files.ts';
import type { Case } from './signatures.ts';

/** What is asked of `keyturn/audit`, in Node and in a page: without its types this file is served to the page as it is. */

interface Primitive<K> {
  importKey(algorithm: Case['algorithm'], jwk: Case['jwk']): K;
  isSignedBy(algorithm: Case['algorithm'], key: K, bytes: Uint8Array, signature: Uint8Array): boolean;
}

const bytesOf = (base64: string) => Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));

/** What a platform says to one case of `signatures.ts`. */
export function answerTo<K>(
  primitive: Primitive<K>,
  { algorithm, jwk, bytes, signature }: Case,
): boolean | 'no key' {
  try {
    const key = primitive.importKey(algorithm, jwk);
    return primitive.isSignedBy(algorithm, key, bytesOf(bytes), bytesOf(signature));
  } catch {
    return 'no key';
  }
}

/** The answer, or the code of the refusal with the reason inside of it. */
// biome-ignore lint/suspicious/noExplicitAny: every answer is compared as JSON
async function answered(act: () => Promise<unknown>): Promise<any> {
  try {
    return await act();
  } catch (caught) {
    const error = caught as Audit.Refusal;
    if (!error.code) throw error;
    return { code: error.code, reason_code: error.facts.reason_code ?? null, message: error.message };
  }
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/** These are also verified from a source that can be read again. */
export const AGAIN = ['good.jsonl', 'left out.jsonl'];

/** All that an auditor asks about the files of `files.ts`. `open` gives the bytes of one of them, in chunks. */
export async function answers(
  audit: typeof Audit,
  { key, founder, intent_id, names }: Files['asked'],
  open: (name: string) => Promise<AsyncIterable<Uint8Array>>,
) {
  // biome-ignore lint/suspicious/noExplicitAny: every answer is compared as JSON
  const found: Record<string, any> = {};
  const options = { key, founder };
  for (const name of names) {
    found[name] = await answered(async () => audit.auditExport(await open(name), options));
    if (!AGAIN.includes(name)) continue;
    const again = async function* () {
      yield* await open(name);
    };
    found[`${name}, again`] = await answered(async () => audit.auditExport(again, options));
  }
  const whole = await audit.excerptOfExport(await open('objects.jsonl'), {
    ...options,
    subjects: [intent_id],
    limit: 5,
  });
  found.story = await audit.tellIntent(whole.entries, whole.read);
  const proof = await allOf(await open('proof'));
  const proven = audit.auditProof(proof, options);
  found.proof = { ...proven, objects: proven.objects?.size ?? null };
  const excerpt = audit.excerptOfProof(proven);
  found.proven_story = (await audit.tellIntent(excerpt.entries, excerpt.read)).told;
  for (const [name, given] of Object.entries({
    'another founder': { key, founder: 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=' },
    'another key': { key: `sha256:${'0'.repeat(64)}` },
  })) {
    found[name] = await answered(async () => audit.auditProof(proof, given));
    found[`${name}, export`] = await answered(async () => audit.auditExport(await open('good.jsonl'), given));
  }
  const cut = proof.slice();
  cut[Math.floor(cut.length / 3)]! ^= 1;
  found['a proof with one bit changed'] = await answered(async () => audit.auditProof(cut, options));
  found.empty = await answered(async () => audit.auditExport(once(new Uint8Array()), options));
  return JSON.parse(JSON.stringify(found)) as typeof found;
}

async function allOf(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const parts: number[] = [];
  for await (const chunk of chunks) parts.push(...chunk);
  return Uint8Array.from(parts);
}
