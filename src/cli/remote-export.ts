import { elsewhere, type RemoteLogin } from '../keyturn.ts';
import { refuse } from '../refusal.ts';
import type { AskedRemotely } from './remote-look.ts';

type Bytes = AsyncIterable<Uint8Array>;

/**
 * An export of the ledger at a service, verified as it flows and in constant memory: the chain, the root, the objects, and the head by the key
 * that the login pinned. The bytes end only then, or in a refusal: what writes a file of them knows of a bad one before it is done.
 */
export async function exportedTo(
  to: (chunks: Bytes) => Promise<void>,
  answer: unknown,
  { with_objects = false }: AskedRemotely,
  { ledger, ledger_key }: Pick<RemoteLogin, 'ledger' | 'ledger_key'>,
) {
  if (!isBytes(answer)) return refuse('SERVICE_FOREIGN', 'The export is no stream of bytes.');
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  const verifying = elsewhere.verifyExport(readable, ledger_key ?? '').then((found) => {
    const { head, size, from, objects } = found;
    if (head.origin !== ledger || head.size !== size || from !== 0) refuse('LEDGER_OTHER');
    if ((objects !== null) !== with_objects)
      refuse('SERVICE_FOREIGN', 'The export has objects where none were asked for, or has none.');
    return found;
  });
  // It is awaited below, also where it fails before.
  verifying.catch(() => {});
  const verified = async function* () {
    for await (const chunk of answer) {
      await writer.write(chunk);
      yield chunk;
    }
    await writer.close();
    await verifying;
  };
  try {
    await to(verified());
  } catch (error) {
    // Why the verification ended is told; where it did not end, it ends with why the bytes did.
    await writer.abort(error).catch(() => {});
    await verifying;
    throw error;
  }
  const { size, root, fingerprint: key } = await verifying;
  return { size, root, key };
}

function isBytes(answer: unknown): answer is Bytes {
  return typeof answer === 'object' && answer !== null && Symbol.asyncIterator in answer;
}
