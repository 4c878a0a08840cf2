import type { Entry, Keyturn, Request, Result } from '../../src/keyturn.ts';

/** What tests ask of a ledger, by the verbs that every caller has. */

/** Everything about a subject, oldest first. */
export function entriesAbout(keyturn: Keyturn, subject: string): Promise<Entry[]> {
  return paged(keyturn, { subject }, Number.POSITIVE_INFINITY);
}

/** The newest ones, oldest first. */
export function newestOf(keyturn: Keyturn, limit: number): Promise<Entry[]> {
  return paged(keyturn, {}, limit);
}

async function paged({ ledger }: Keyturn, filter: object, most: number): Promise<Entry[]> {
  const found: Entry[] = [];
  for (let cursor: string | null | undefined; cursor !== null && found.length < most; ) {
    const limit = Math.min(1000, most - found.length);
    const { entries, next } = await ledger.entries({ ...filter, limit, ...(cursor && { cursor }) });
    found.push(...entries.map(bare));
    cursor = next;
  }
  return found.reverse();
}

/** As it was sealed. */
function bare({ words: _, ...entry }: Result<'ledger.entries'>['entries'][number]): Entry {
  return entry;
}

export async function sizeOf(keyturn: Keyturn): Promise<number> {
  return (await newestOf(keyturn, 1))[0]!.seq + 1;
}

export async function objectOf({ ledger }: Keyturn, digest: string): Promise<Buffer> {
  return Buffer.from((await ledger.object({ digest })).base64, 'base64');
}

type ProveOptions = Omit<Request<'ledger.prove'>, 'intent_id'>;

export async function proofOf(
  { ledger }: Keyturn,
  intent_id: string,
  options: ProveOptions = {},
): Promise<Buffer> {
  return Buffer.from((await ledger.prove({ intent_id, ...options })).bundle);
}

export async function exported(
  { ledger }: Keyturn,
  options: Omit<Request<'ledger.export'>, 'to'> = {},
): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  const to = async (flow: AsyncIterable<Uint8Array>) => {
    for await (const chunk of flow) chunks.push(chunk);
  };
  await ledger.export({ ...options, to });
  return Buffer.concat(chunks);
}
