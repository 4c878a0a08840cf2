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
    const ledger = await keyturn.verify(optionsOf(kept, call.options));
    const { fingerprint } = await keyturn.head();
    return verified('ledger', { size: ledger.size, root: ledger.root, key: fingerprint }, kept, call.options);
  });
}

async function verifyFile(path: string, kept: readonly string[], options: Options): Promise<Answer> {
  const found = await Keyturn.verifyExport(path, optionsOf(kept, options));
  return verified('export', { size: found.size, root: found.root, key: found.fingerprint }, kept, options);
}

function verifyBundle(path: string, { key, head = [], deep }: Options): Answer {
  // A proof that vouches for itself proves nothing.
  if (key === undefined)
    refuse('USAGE', 'A proof is verified against a key: name its fingerprint with --key.');
  if (head.length > 1) refuse('USAGE', 'A proof is verified against one kept head.');
  if (deep) refuse('USAGE', 'A proof is always verified deep.');
  const kept = head.map(readText);
  const options = { key, ...(kept[0] === undefined ? {} : { kept: kept[0] }) };
  const bundle = Keyturn.verifyProof(readInput(path, limits.json_bytes), options);
  const { size, root } = bundle.head;
  const answer = verified('proof', { size, root, key: bundle.fingerprint }, kept, { key, deep: true });
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

type Found = Pick<Result<'ledger verify'>, 'size' | 'root' | 'key'>;

const COMPARE = 'compare it with what its owner told you, or pass it with --key';

/** A key that comes with what it vouches for says only that somebody signed. */
const UNCONFIRMED: Readonly<Record<Result<'ledger verify'>['what'], string>> = {
  ledger: COMPARE,
  export: `whoever forged the export would have signed it with a key of their own; ${COMPARE}`,
  proof: COMPARE,
};

function verified(
  what: Result<'ledger verify'>['what'],
  found: Found,
  kept: readonly string[],
  { key, deep }: Options,
): Answer {
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
      key === undefined
        ? `Ledger key: ${found.key} ${stdoutPainter()('alarm', `(NOT CONFIRMED: ${UNCONFIRMED[what]})`)}`
        : `Ledger key: ${found.key}`,
      kept.length === 0
        ? 'Kept heads: none (only a head that was kept elsewhere shows that nothing was cut off or rewritten)'
        : `Kept heads: ${kept.length}, and the ledger goes through ${kept.length === 1 ? 'it' : 'all of them'}`,
    ],
  };
}
