import { Keyturn } from '../../keyturn.ts';
import { limits } from '../../limits.ts';
import { refuse } from '../../refusal.ts';
import type { Answer, Call, Options } from '../answer.ts';
import { readInput } from '../input.ts';
import { stdoutPainter } from '../paint.ts';
import { reading } from '../project.ts';
import type { Result } from '../schema.ts';
import { readText } from './ledger.ts';

/** Three things can be verified: the ledger of this project, an export, and a proof. The last two need no project. */
export async function verify(call: Call): Promise<Answer> {
  const { file, bundle } = call.options;
  if (file !== undefined && bundle !== undefined) refuse('USAGE', 'Name either --file or --bundle.');
  if (bundle !== undefined) return verifyBundle(bundle, call.options);
  const kept = (call.options.head ?? []).map(readText);
  if (file !== undefined) return verifyFile(file, kept, call.options);
  return reading(call, async (keyturn) => {
    const { size, root } = await keyturn.verify(optionsOf(kept, call.options));
    const { fingerprint: key } = await keyturn.head();
    return verifiedAs('ledger', { size, root, key, objects: null }, kept, call.options);
  });
}

async function verifyFile(path: string, kept: readonly string[], options: Options): Promise<Answer> {
  const { size, root, fingerprint, objects } = await Keyturn.verifyExport(path, optionsOf(kept, options));
  return verifiedAs('export', { size, root, key: fingerprint, objects }, kept, options);
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
  const bundle = Keyturn.verifyProof(readInput(path, limits.bundle_bytes), options);
  const { size, root } = bundle.head;
  const found = { size, root, key: bundle.fingerprint, objects: objectCount(bundle.objects) };
  const answer = verifiedAs('proof', found, kept, { key: options.key, deep: true });
  const story = bundle.entries.filter(({ subject }) => subject === bundle.subject);
  const lines = [
    `It tells of ${bundle.subject}:`,
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

type Found = Pick<Result<'ledger verify'>, 'size' | 'root' | 'key' | 'objects'>;
export type VerifiedAnswer = Answer & { readonly result: Result<'ledger verify'> };

const COMPARE = 'compare it with what its owner told you, or pass it with --key';

/** A key that comes with what it vouches for says only that somebody signed. */
const UNCONFIRMED: Readonly<Record<Result<'ledger verify'>['what'], string>> = {
  ledger: COMPARE,
  export: `whoever forged the export would have signed it with a key of their own; ${COMPARE}`,
  proof: COMPARE,
};

export function verifiedAs(
  what: Result<'ledger verify'>['what'],
  found: Found,
  kept: readonly string[],
  { key, deep }: { readonly key?: string | undefined; readonly deep?: boolean | undefined },
): VerifiedAnswer {
  const result: Result<'ledger verify'> = {
    what,
    ...found,
    key_confirmed: key !== undefined,
    kept_heads: kept.length,
    deep: deep ?? false,
  };
  const depth = result.deep ? ', every signature included' : '';
  return {
    result,
    lines: [
      `[OK] The ${what} of ${found.size} entries verifies${depth}`,
      `Root: ${found.root}`,
      ...objectLine(found.objects),
      key === undefined
        ? `Ledger key: ${found.key} ${stdoutPainter()('alarm', `(NOT CONFIRMED: ${UNCONFIRMED[what]})`)}`
        : `Ledger key: ${found.key}`,
      kept.length === 0
        ? 'Kept heads: none (only a head that was kept elsewhere shows that nothing was cut off or rewritten)'
        : `Kept heads: ${kept.length}, and the ledger goes through ${kept.length === 1 ? 'it' : 'all of them'}`,
    ],
  };
}

function objectLine(objects: Found['objects']): string[] {
  if (objects === null) return [];
  const erased = objects.erased === 0 ? '' : `; ${objects.erased} were erased, as entries say`;
  return [`Objects: ${objects.stored}, each as its digest says${erased}`];
}
