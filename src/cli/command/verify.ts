import { auditProof, type Result, verifyExportFile, verifySegmentFiles } from '../../keyturn.ts';
import { limits } from '../../limits.ts';
import { refuse } from '../../refusal.ts';
import type { Answer, Call, Options } from '../answer.ts';
import { readInput } from '../input.ts';
import { stdoutPainter } from '../paint.ts';
import { reading } from '../project.ts';
import { readText } from './ledger.ts';

/** Three things can be verified: the ledger of this project, an export, and a proof. The last two need no project. */
export async function verify(call: Call): Promise<Answer> {
  const { file, bundle } = call.options;
  if (file !== undefined && bundle !== undefined) refuse('USAGE', 'Name either --file or --bundle.');
  if (file === undefined && call.options.and) refuse('USAGE', 'Name the first archive with --file.');
  if (bundle !== undefined) return verifyBundle(bundle, call.options);
  const kept = (call.options.head ?? []).map(readText);
  if (file !== undefined) return verifyFile(file, kept, call.options);
  return reading(call, async (keyturn) =>
    verifiedAnswer(await keyturn.ledger.verify(optionsOf(kept, call.options))),
  );
}

async function verifyFile(path: string, kept: readonly string[], options: Options): Promise<Answer> {
  const { and = [] } = options;
  const verified =
    and.length === 0
      ? await verifyExportFile(path, optionsOf(kept, options))
      : await verifySegmentFiles([path, ...and], optionsOf(kept, options));
  return verifiedAs(fileKind(verified), foundIn(verified), kept, options);
}

type VerifiedFile = Awaited<ReturnType<typeof verifyExportFile>>;

/** What a file is whose head knows more than it holds, or which begins later, is a part. */
export function fileKind({ from, size, head }: VerifiedFile): 'export' | 'archive' {
  return from > 0 || head.size > size ? 'archive' : 'export';
}

export function foundIn({ from, size, root, fingerprint: key, objects }: VerifiedFile): Found {
  return { from, size, root, key, objects };
}

/** What a proof is verified against. */
export function proofOptions({ key, head = [], deep }: Options) {
  // A proof that vouches for itself proves nothing.
  if (key === undefined)
    refuse('USAGE', 'A proof is verified against a key: name its fingerprint with --key.');
  if (head.length > 1) refuse('USAGE', 'A proof is verified against one kept head.');
  if (deep) refuse('USAGE', 'A proof is always verified deep.');
  const kept = head.map(readText);
  return { options: { key, ...(kept[0] === undefined ? {} : { kept: kept[0] }) }, kept };
}

function verifyBundle(path: string, given: Options): Answer {
  const { options, kept } = proofOptions(given);
  const bundle = auditProof(readInput(path, limits.bundle_bytes), options);
  const { size, root } = bundle.head;
  const found = { from: 0, size, root, key: bundle.fingerprint, objects: objectCount(bundle.objects) };
  const answer = verifiedAs('proof', found, kept, { key: options.key, deep: true });
  const story = bundle.entries.filter(({ subject }) => subject === bundle.subject);
  const lines = [
    `Its subject is ${bundle.subject}:`,
    ...story.map(({ seq, at, kind }) => `  ${seq}  ${at}  ${kind}`),
  ];
  return { ...answer, lines: [...answer.lines, ...lines] };
}

function optionsOf(kept: readonly string[], { key, deep }: Options) {
  return { kept, deep: deep ?? false, ...(key === undefined ? {} : { key }) };
}

export function objectCount(objects: ReadonlyMap<string, unknown> | null): Found['objects'] {
  if (objects === null) return null;
  const erased = [...objects.values()].filter((bytes) => bytes === null).length;
  return { stored: objects.size - erased, erased };
}

type Verified = Result<'ledger.verify'>;
type Found = Pick<Verified, 'from' | 'size' | 'root' | 'key' | 'objects'>;
export type VerifiedAnswer = Answer & { readonly result: Verified };

const COMPARE = 'compare it with what its owner told you, or pass it with --key';

/** A key that comes with what it vouches for proves a signature, and not whose it is. */
const UNCONFIRMED: Readonly<Record<Verified['what'], string>> = {
  ledger: COMPARE,
  export: `a forger would have signed the export with another key; ${COMPARE}`,
  archive: `a forger would have signed the archive with another key; ${COMPARE}`,
  proof: COMPARE,
};

export function verifiedAs(
  what: Verified['what'],
  found: Found,
  kept: readonly string[],
  { key, deep }: { readonly key?: string | undefined; readonly deep?: boolean | undefined },
): VerifiedAnswer {
  return verifiedAnswer({
    what,
    ...found,
    key_confirmed: key !== undefined,
    kept_heads: kept.length,
    deep: deep ?? false,
  });
}

function verifiedAnswer(result: Verified): VerifiedAnswer {
  const { what, root, key, key_confirmed, kept_heads, deep, objects } = result;
  return {
    result,
    lines: [
      `[OK] The ${what} of ${rangeOf(what, result)} verifies${deep ? ', every signature included' : ''}`,
      `Root: ${root}`,
      ...objectLine(what, objects),
      key_confirmed
        ? `Ledger key: ${key}`
        : `Ledger key: ${key} ${stdoutPainter()('alarm', `(NOT CONFIRMED: ${UNCONFIRMED[what]})`)}`,
      kept_heads === 0
        ? 'Kept heads: none (only a head that was kept elsewhere shows that nothing was cut off or rewritten)'
        : `Kept heads: ${kept_heads}, ${kept_heads === 1 ? 'which agrees' : 'all of which agree'} with the ledger`,
    ],
  };
}

function rangeOf(what: Verified['what'], { from, size }: Found): string {
  return what === 'archive' ? `entries ${from} to ${size - 1}` : `${size} entries`;
}

/** In an archive the entry that says so may be missing: it can be a later one. */
function objectLine(what: Verified['what'], objects: Found['objects']): string[] {
  if (objects === null) return [];
  const why = what === 'archive' ? 'had been removed before' : 'were erased, as entries say';
  const erased = objects.erased === 0 ? '' : `; ${objects.erased} ${why}`;
  return [`Objects: ${objects.stored}, each as its digest says${erased}`];
}
