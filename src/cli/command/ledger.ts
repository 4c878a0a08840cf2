import { canonicalText } from '../../canonical/json.ts';
import { visible } from '../../canonical/visible.ts';
import type { Entry, Keyturn } from '../../keyturn.ts';
import { limits } from '../../limits.ts';
import { refuse } from '../../refusal.ts';
import type { Answer, Call } from '../answer.ts';
import { readInput, writeOutput } from '../input.ts';
import { requireId } from '../operand.ts';
import { stdoutPainter } from '../paint.ts';
import { reading, writing } from '../project.ts';
import type { Result } from '../schema.ts';
import { decisionLines, storyOf, type Told } from '../story.ts';
import { countOf } from './list.ts';

const NEWEST = 20;

export function show(call: Call): Promise<Answer> {
  const [subject] = call.operands;
  const limit = countOf(call.options.limit, NEWEST);
  return reading(call, async (keyturn) => {
    const entries =
      subject === undefined ? await keyturn.newest(limit) : await entriesAbout(keyturn, subject);
    if (entries.length === 0) refuse('INTENT_NOT_FOUND', 'The ledger has no entry about this.');
    const result: Result<'ledger show'> = {
      entries: entries.map((entry) => ({ ...entry, claims: [...entry.claims] })),
    };
    const story = await storyOf(keyturn, entries);
    return { result, lines: entries.flatMap((entry, i) => entryLines(entry, story[i]!)) };
  });
}

/** A conversation goes by its own id. Whatever else has that id comes first. */
async function entriesAbout(keyturn: Keyturn, subject: string): Promise<Entry[]> {
  const entries = await keyturn.story(subject);
  return entries.length > 0 ? entries : keyturn.story(`agent:${subject}`);
}

/** The entry as it is, and then in words. */
function entryLines({ seq, at, kind, subject, body }: Entry, { words, decision }: Told): string[] {
  const paint = stdoutPainter();
  return [
    `${seq}  ${at}  ${paint('bold', kind)}  ${visible(subject)}`,
    `   ${visible(words)}`,
    ...decisionLines(decision, '   '),
    `   ${paint('dim', visible(canonicalText(body)))}`,
  ];
}

export function head(call: Call): Promise<Answer> {
  const { out } = call.options;
  return reading(call, async (keyturn) => {
    const { text, size, root, origin, fingerprint } = await keyturn.head();
    if (out !== undefined) await writeOutput(out, text);
    const result: Result<'ledger head'> = { origin, size, root, key: fingerprint, text };
    const written = [`[OK] The head of ${size} entries is in ${out}`, `Ledger key: ${fingerprint}`];
    return { result, lines: out === undefined ? [text.trimEnd()] : written };
  });
}

export function prove(call: Call): Promise<Answer> {
  const intent_id = requireId(call);
  const { out, head: kept = [] } = call.options;
  if (kept.length > 1) refuse('USAGE', 'A proof grows out of one kept head.');
  const [kept_head] = kept.map(readText);
  return reading(call, async (keyturn) => {
    const bundle = await keyturn.prove(intent_id, kept_head);
    const { fingerprint } = await keyturn.head();
    if (out !== undefined) await writeOutput(out, bundle);
    const text = Buffer.from(bundle).toString('utf8');
    const result: Result<'ledger prove'> = { intent_id, key: fingerprint, bundle: text };
    const written = [
      `[OK] The proof of ${intent_id} is in ${out}`,
      `It verifies offline: keyturn ledger verify --bundle ${out} --key ${fingerprint}`,
    ];
    return { result, lines: out === undefined ? [text.trimEnd()] : written };
  });
}

export function readText(path: string): string {
  return Buffer.from(readInput(path, limits.json_bytes)).toString('utf8');
}

/** The whole ledger. To a pipe it flows straight through, as long as it may be. */
export function exportLedger(call: Call): Promise<Answer> {
  const { out, json } = call.options;
  if (json && out === undefined)
    refuse('USAGE', 'An export is not one JSON object: with --json, name a file with --out.');
  return reading(call, async (keyturn) => {
    const chunks = await keyturn.export();
    const { fingerprint } = await keyturn.head();
    await (out === undefined ? flow(chunks) : writeOutput(out, chunks));
    const result: Result<'ledger export'> = { file: out ?? '-', key: fingerprint };
    const written = [`[OK] The ledger is in ${out}`, `Ledger key: ${fingerprint}`];
    return { result, lines: out === undefined ? [] : written };
  });
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
  const open = write ? writing : reading;
  return open(call, async (keyturn) => {
    const { entries, rows, differences } = await keyturn.rebuild({ write });
    const result: Result<'ledger rebuild'> = { entries, rows, differences: [...differences], written: write };
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
