import type { Digest } from '../canonical/digest.ts';
import { isUuid } from '../canonical/uuid.ts';
import { parseEvent } from '../event/event.ts';
import type { Keeps } from '../fold/ledger.ts';
import { disclosedBy } from '../gate/objects.ts';
import type { Authorities } from '../identity/delegation.ts';
import type { Entry } from '../ledger/entry.ts';
import { journeyLimits } from '../limits.ts';
import { refuse } from '../refusal.ts';
import { requireContents } from '../story/contents.ts';
import type { Expired, ReadObject } from '../story/tell.ts';
import { type AuditedExport, type AuditOptions, auditContents } from './ledger.ts';
import type { AuditedProof } from './proof.ts';
import { readAgain, type Source } from './source.ts';

/** Entries of a verified file, and the objects that they name. */
export interface Excerpt {
  readonly entries: readonly Entry[];
  readonly read: ReadObject;
  /** Who may sign after the last entry of the file; null where it was not judged. */
  readonly authorities: Authorities | null;
}

export function excerptOfProof({ subject, entries, objects, authorities }: AuditedProof): Excerpt {
  return {
    authorities,
    entries: entries.filter((entry) => entry.subject === subject),
    read: readerOf(objects, expiriesIn(entries)),
  };
}

export interface ExcerptRequest extends AuditOptions {
  /** What the entries must be about: the first of these that has any. Without it the newest. */
  readonly subjects: readonly string[];
  /** Where none of them has any: the one intent whose id begins like this. */
  readonly beginning?: string;
  readonly limit: number;
}

/** Verifies an export, with every signature unless told, and keeps what it says about one subject. */
export function excerptOfExport(
  source: Source<Uint8Array>,
  request: ExcerptRequest,
): Promise<Excerpt & { readonly verified: AuditedExport }> {
  return readAgain(source, (chunks, keeps) => readExcerpt(chunks, request, keeps));
}

async function readExcerpt(
  chunks: AsyncIterable<Uint8Array>,
  { subjects, beginning, limit, ...options }: ExcerptRequest,
  keeps: Keeps | null,
): Promise<Excerpt & { readonly verified: AuditedExport }> {
  const found = new Map<string, Entry[]>(subjects.map((subject) => [subject, []]));
  const begun = new Map<string, Entry[]>();
  const newest: Entry[] = [];
  const objects = new Map<Digest, Uint8Array | null>();
  const expiries = new Map<Digest, Expired>();
  const all = requireContents();
  let wanted: ReadonlySet<Digest> | null = null;
  const entriesNow = () =>
    subjects.length === 0
      ? newest
      : ([...found.values()].find((entries) => entries.length > 0) ?? onlyOne(begun, beginning));
  const { verified, authorities } = await auditContents(
    chunks,
    options,
    {
      ...all,
      entry: (entry) => {
        all.entry(entry);
        noteExpiry(expiries, entry);
        found.get(entry.subject)?.push(entry);
        if (beginning !== undefined) noteBegun(begun, beginning, entry);
        newest.push(entry);
        if (newest.length > limit) newest.shift();
      },
      object: (object) => {
        all.object(object);
        wanted ??= new Set(entriesNow().flatMap((entry) => disclosedBy(parseEvent(entry))));
        if (wanted.has(object.digest)) objects.set(object.digest, object.bytes);
      },
    },
    keeps,
  );
  return {
    verified,
    entries: entriesNow(),
    read: readerOf(verified.objects && objects, expiries),
    authorities,
  };
}

/** More candidates than are listed would only take memory. */
function noteBegun(begun: Map<string, Entry[]>, beginning: string, entry: Entry): void {
  const { subject } = entry;
  if (
    !begun.has(subject) &&
    isUuid(subject) &&
    subject.startsWith(beginning) &&
    begun.size < journeyLimits.id_candidates
  )
    begun.set(subject, []);
  begun.get(subject)?.push(entry);
}

function onlyOne(begun: ReadonlyMap<string, readonly Entry[]>, beginning = ''): readonly Entry[] {
  const [only, ...others] = begun.values();
  if (others.length > 0)
    refuse('ID_AMBIGUOUS', `${begun.size} intents fit "${beginning}": ${[...begun.keys()].join(', ')}.`);
  return only ?? [];
}

function readerOf(
  objects: ReadonlyMap<Digest, Uint8Array | null> | null,
  expiries: ReadonlyMap<Digest, Expired>,
): ReadObject {
  return async (digest) => {
    if (objects === null) return 'left out';
    const found = objects.get(digest);
    return found === undefined ? 'left out' : (found ?? expiries.get(digest) ?? 'erased');
  };
}

/** By digest: who removed it with gc, and when. */
function expiriesIn(entries: readonly Entry[]): Map<Digest, Expired> {
  const found = new Map<Digest, Expired>();
  for (const entry of entries) noteExpiry(found, entry);
  return found;
}

function noteExpiry(found: Map<Digest, Expired>, { at, ...entry }: Entry): void {
  const { kind, subject, body } = parseEvent(entry);
  if (kind === 'object.expired') found.set(subject, { expired: { at, by: body.by } });
  if (kind === 'object.erased') found.delete(subject);
}
