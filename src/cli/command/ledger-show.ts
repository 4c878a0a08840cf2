import { canonicalText } from '../../canonical/json.ts';
import { type Entry, type Excerpt, Keyturn, type Story } from '../../keyturn.ts';
import { limits } from '../../limits.ts';
import { refuse } from '../../refusal.ts';
import type { Answer, Call } from '../answer.ts';
import { readInput } from '../input.ts';
import { reading } from '../project.ts';
import type { Result } from '../schema.ts';
import { entryLines, type Printed, shownFromFile, storyLines, storyResult } from '../story.ts';
import { readText } from './ledger.ts';
import { countOf } from './list.ts';
import { objectCount, proofOptions, type VerifiedAnswer, verifiedAs } from './verify.ts';

const NEWEST = 20;

/** The ledger of this project, an export, or a proof. The last two need no project, and are verified first. */
export async function show(call: Call): Promise<Answer> {
  const { file, bundle, output } = call.options;
  if (file !== undefined && bundle !== undefined) refuse('USAGE', 'Name either --file or --bundle.');
  if (bundle !== undefined) return showBundle(bundle, call);
  if (file !== undefined) return showExport(file, call);
  if (output) refuse('USAGE', 'In a project, `keyturn show ID --output` prints the output.');
  return showHere(call);
}

function showHere(call: Call): Promise<Answer> {
  const [subject] = call.operands;
  const limit = countOf(call.options.limit, NEWEST);
  return reading(call, async (keyturn) => {
    const entries =
      subject === undefined ? await keyturn.newest(limit) : await entriesAbout(keyturn, subject);
    requireAny(entries);
    const told = await keyturn.tellAbout(entries);
    const lines = entries.flatMap((entry, i) => entryLines(entry, told[i]!, canonicalText(entry.body)));
    return { result: resultOf(entries, null, null), lines: [...earlier(entries, subject), ...lines] };
  });
}

/** A conversation goes by its own id. Whatever else has that id comes first. */
async function entriesAbout(keyturn: Keyturn, subject: string): Promise<Entry[]> {
  const entries = await keyturn.story(subject);
  return entries.length > 0 ? entries : keyturn.story(`agent:${subject}`);
}

async function showExport(path: string, call: Call): Promise<Answer> {
  const [subject] = call.operands;
  const { key, head = [] } = call.options;
  const kept = head.map(readText);
  const request = { kept, limit: countOf(call.options.limit, NEWEST), ...(key !== undefined && { key }) };
  const about = (subjects: readonly string[]) => Keyturn.excerptOfExport(path, { ...request, subjects });
  const found = await about(subject === undefined ? [] : [subject, `agent:${subject}`]);
  const { size, root, fingerprint, objects } = found.verified;
  const verified = verifiedAs('export', { size, root, key: fingerprint, objects }, kept, { key, deep: true });
  const replaces = found.entries[0]?.body.replaces;
  const again = subject !== undefined && typeof replaces === 'string' && path !== '-';
  const before = again ? await about([replaces]) : null;
  const read: Excerpt['read'] = async (digest) => {
    const bytes = await found.read(digest);
    return bytes === 'left out' && before ? before.read(digest) : bytes;
  };
  return told(verified, { entries: found.entries, read }, before?.entries ?? [], call);
}

function showBundle(path: string, call: Call): Promise<Answer> {
  const { options, kept } = proofOptions(call.options);
  const bundle = Keyturn.verifyProof(readInput(path, limits.bundle_bytes), options);
  const { size, root } = bundle.head;
  const found = { size, root, key: bundle.fingerprint, objects: objectCount(bundle.objects) };
  const verified = verifiedAs('proof', found, kept, { key: options.key, deep: true });
  if (call.operands[0] !== undefined && call.operands[0] !== bundle.subject)
    refuse('INTENT_NOT_FOUND', `The proof is about ${bundle.subject}.`);
  return told(verified, Keyturn.excerptOfProof(bundle), [], call);
}

/** An intent is told as `show` tells it, everything else entry by entry; before that, what was verified. */
async function told(
  verified: VerifiedAnswer,
  { entries, read }: Excerpt,
  before: readonly Entry[],
  { operands, options }: Call,
): Promise<Answer> {
  requireAny(entries);
  const isStory = entries[0]!.kind === 'intent.proposed' && (options.bundle ?? operands[0]) !== undefined;
  if (!isStory) {
    const facts = await Keyturn.tellEntries(entries, read);
    const lines = entries.flatMap((entry, i) => entryLines(entry, facts[i]!, canonicalText(entry.body)));
    const left = options.bundle === undefined ? earlier(entries, operands[0]) : [];
    return {
      result: resultOf(entries, verified.result, null),
      lines: [...verified.lines, ...left, ...lines],
    };
  }
  const story = await Keyturn.tellIntent(entries, read, before);
  const printed = options.output ? await lastPrinted(story, read) : null;
  const view = { now: new Date(), shown: shownFromFile(story), alternates: [], printed, reports_missing: [] };
  return {
    result: resultOf(entries, verified.result, storyResult(story, view)),
    lines: [...verified.lines, '', ...storyLines(story, view)],
  };
}

/** Without a subject these are the newest ones: nothing may look like the whole ledger that is not. */
function earlier([first]: readonly Entry[], subject: string | undefined): string[] {
  if (subject !== undefined || first === undefined || first.seq === 0) return [];
  return [`${first.seq} earlier entries are not shown: --limit N shows more.`];
}

async function lastPrinted({ outputs }: Story, read: Excerpt['read']): Promise<Printed | null> {
  const last = outputs.at(-1);
  if (!last) return null;
  const { readOutput } = Keyturn;
  return { stdout: await readOutput(last.stdout, read), stderr: await readOutput(last.stderr, read) };
}

function requireAny(entries: readonly Entry[]): void {
  if (entries.length === 0) refuse('INTENT_NOT_FOUND', 'The ledger has no entry about this.');
}

function resultOf(
  entries: readonly Entry[],
  verified: Result<'ledger verify'> | null,
  story: Result<'show'> | null,
): Result<'ledger show'> {
  return { entries: entries.map((entry) => ({ ...entry, claims: [...entry.claims] })), verified, story };
}
