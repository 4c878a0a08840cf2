import { visible } from '../../canonical/visible.ts';
import { limits } from '../../limits.ts';
import { refuse } from '../../refusal.ts';
import type { Answer, Call } from '../answer.ts';
import { readInput, writeOutput } from '../input.ts';
import { meantBy, requireId } from '../operand.ts';
import { reading, readingHere, writingHere } from '../project.ts';

export function head(call: Call): Promise<Answer> {
  const { out } = call.options;
  return reading(call, async (keyturn) => {
    const result = await keyturn.ledger.head();
    const { text, size, key } = result;
    if (out !== undefined) await writeOutput(out, text);
    const written = [`[OK] The head of ${size} entries is in ${out}`, `Ledger key: ${key}`];
    return { result, lines: out === undefined ? [text.trimEnd()] : written };
  });
}

export function prove(call: Call): Promise<Answer> {
  const typed = requireId(call);
  const { out, head: kept = [], withObjects: with_objects = false } = call.options;
  if (kept.length > 1) refuse('USAGE', 'A proof grows out of one kept head.');
  const [kept_head] = kept.map(readText);
  return reading(call, async (keyturn) => {
    const intent_id = await meantBy(keyturn, 'intent', typed);
    const result = await keyturn.ledger.prove({ intent_id, with_objects, kept: kept_head });
    const { key, bundle } = result;
    if (out !== undefined) await writeOutput(out, bundle, modeOf(with_objects));
    const written = [
      `[OK] The proof of ${intent_id} is in ${out}`,
      `It verifies offline: keyturn ledger verify --bundle ${out} --key ${key}`,
    ];
    return { result, lines: out === undefined ? [bundle.trimEnd()] : written };
  });
}

export function readText(path: string): string {
  return Buffer.from(readInput(path, limits.json_bytes)).toString('utf8');
}

/** The whole ledger. To a pipe it flows straight through, as long as it may be. */
export function exportLedger(call: Call): Promise<Answer> {
  const { out, json, withObjects: with_objects = false } = call.options;
  if (json && out === undefined)
    refuse('USAGE', 'An export is not one JSON object: with --json, name a file with --out.');
  return reading(call, async (keyturn) => {
    const to = (chunks: AsyncIterable<Uint8Array>) =>
      out === undefined ? flow(chunks) : writeOutput(out, chunks, modeOf(with_objects));
    const result = await keyturn.ledger.export({ with_objects, to });
    const written = [`[OK] The ledger is in ${out}`, `Ledger key: ${result.key}`];
    return { result, lines: out === undefined ? [] : written };
  });
}

/** Objects are goals, arguments and outputs in the clear: only the owner may read them. */
function modeOf(with_objects: boolean): number {
  return with_objects ? 0o600 : 0o644;
}

async function flow(chunks: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const chunk of chunks) {
    await new Promise<void>((done, failed) => {
      process.stdout.write(chunk, (error) => (error ? failed(error) : done()));
    });
  }
}

export function rebuild(call: Call): Promise<Answer> {
  const write = call.options.write ?? false;
  const open = write ? writingHere : readingHere;
  return open(call, async (keyturn) => {
    const result = await keyturn.ledger.rebuild({ write });
    const { entries, rows, differences } = result;
    if (differences.length === 0)
      return { result, lines: [`[OK] ${rows} rows are what ${entries} entries say`] };
    if (write)
      return {
        result,
        lines: [`[OK] Rebuilt ${rows} rows from ${entries} entries`, ...differences.map(visible)],
      };
    return refuse(
      'PROJECTION_DRIFT',
      `The stored state is not what the ledger says: ${differences.join('; ')}`,
    );
  });
}
