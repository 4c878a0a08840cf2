import { isIdBeginning } from '../../canonical/uuid.ts';
import {
  auditProof,
  type Entry,
  type Excerpt,
  entriesInFile,
  excerptOfExportFile,
  excerptOfProof,
  type Request,
  type Result,
  storyInFile,
} from '../../keyturn.ts';
import { cliLimits, limits } from '../../limits.ts';
import { type ReasonCode, Refusal, refuse } from '../../refusal.ts';
import type { Answer, Call } from '../answer.ts';
import { readInput } from '../input.ts';
import { filledPage, pageLines } from '../list-page.ts';
import { type Opened, reading } from '../project.ts';
import { entryLines, storyLines } from '../story.ts';
import { timeOf } from '../time.ts';
import { readText } from './ledger.ts';
import { countOf } from './list.ts';
import { fileKind, foundIn, objectCount, proofOptions, type VerifiedAnswer, verifiedAs } from './verify.ts';

const FILTERS = ['kind', 'by', 'since', 'until', 'cursor'] as const;

/** The ledger of this project, an export, or a proof. The last two need no project, and are verified first. */
export async function show(call: Call): Promise<Answer> {
  const { file, bundle, output } = call.options;
  if (file !== undefined && bundle !== undefined) refuse('USAGE', 'Name either --file or --bundle.');
  const filters = FILTERS.filter((name) => call.options[name] !== undefined);
  if (filters.length > 0 && (file ?? bundle) !== undefined)
    refuse('USAGE', `--${filters[0]} chooses among the entries of a project, not of a file.`);
  if (bundle !== undefined) return showBundle(bundle, call);
  if (file !== undefined) return showExport(file, call);
  if (output) refuse('USAGE', 'In a project, `keyturn show ID --output` prints the output.');
  return showHere(call);
}

function showHere(call: Call): Promise<Answer> {
  const [subject] = call.operands;
  const { kind, by, since, until, cursor } = call.options;
  const filter: Filter = {
    with_decisions: true,
    limit: countOf(
      call.options.limit,
      subject === undefined ? cliLimits.entries_default : limits.page_rows,
      '--limit',
      limits.page_rows,
    ),
    ...(kind !== undefined && { kind }),
    ...(by !== undefined && { signer: by }),
    ...(since !== undefined && { since: timeOf(since, '--since') }),
    ...(until !== undefined && { until: timeOf(until, '--until') }),
    ...(cursor !== undefined && { cursor }),
  };
  return reading(call, async (keyturn) => {
    const result = await entriesAbout(keyturn, subject, filter);
    const { entries, next } = result;
    if (subject !== undefined && next === null) requireAny(entries);
    if (entries.length === 0) return { result, lines: pageLines(result, [], { what: 'entries', cursor }) };
    const more = next === null ? [] : [`There are earlier entries: add --cursor ${next}`];
    // The newest last, as a log: a page ends where the eye is.
    return { result, lines: [...more, ...entries.toReversed().flatMap(entryLines)] };
  });
}

type Filter = NonNullable<Request<'ledger.entries'>>;
type Page = Result<'ledger.entries'>;

/** What has exactly this id comes first, then what it is the beginning of: of an intent's id, then of a conversation's. */
async function entriesAbout(keyturn: Opened, subject: string | undefined, filter: Filter): Promise<Page> {
  const asked = subject === undefined ? filter : { ...filter, subject: await subjectOf(keyturn, subject) };
  return filledPage('entries', asked, (one) => keyturn.ledger.entries(one));
}

async function subjectOf(keyturn: Opened, named: string): Promise<string> {
  for (const subject of [named, `agent:${named}`])
    if ((await keyturn.ledger.entries({ subject, limit: 1 })).entries.length > 0) return subject;
  const intent = isIdBeginning(named) ? await beginning(keyturn, 'intent', named) : null;
  const conversation = await beginning(keyturn, 'conversation', named);
  if (intent !== null && conversation !== null)
    refuse('ID_AMBIGUOUS', `The intent ${intent} and the conversation ${conversation} fit "${named}".`);
  return intent ?? (conversation === null ? named : `agent:${conversation}`);
}

const NONE: ReadonlySet<ReasonCode> = new Set(['INTENT_NOT_FOUND', 'AGENT_TRANSITION_ILLEGAL'] as const);

/** The one id that begins like this, or null. */
async function beginning(
  keyturn: Opened,
  of: 'intent' | 'conversation',
  named: string,
): Promise<string | null> {
  if (named.length > limits.id_chars) return null;
  try {
    return (await keyturn.ids.find({ of, id: named })).id;
  } catch (error) {
    if (error instanceof Refusal && NONE.has(error.code)) return null;
    throw error;
  }
}

async function showExport(path: string, call: Call): Promise<Answer> {
  const [subject] = call.operands;
  const { key, head = [] } = call.options;
  const kept = head.map(readText);
  const request = {
    kept,
    limit: countOf(call.options.limit, cliLimits.entries_default),
    ...(key !== undefined && { key }),
  };
  const about = (subjects: readonly string[], beginning?: string) =>
    excerptOf(path, { ...request, subjects, ...(beginning !== undefined && { beginning }) });
  const found = await (subject === undefined
    ? about([])
    : about([subject, `agent:${subject}`], isIdBeginning(subject) ? subject : undefined));
  const verified = verifiedAs(fileKind(found.verified), foundIn(found.verified), kept, {
    key,
    deep: found.deep,
  });
  const replaces = found.entries[0]?.body.replaces;
  const again = subject !== undefined && typeof replaces === 'string' && path !== '-';
  const before = again ? await about([replaces]) : null;
  const read: Excerpt['read'] = async (digest) => {
    const bytes = await found.read(digest);
    return bytes === 'left out' && before ? before.read(digest) : bytes;
  };
  const { entries, authorities } = found;
  return told(verified, { entries, read, authorities }, before?.entries ?? [], call);
}

type FileRequest = Parameters<typeof excerptOfExportFile>[1];

/** With every signature; but for an archive that begins later, of which only the entries before it tell who could sign. */
async function excerptOf(path: string, request: FileRequest) {
  try {
    return { ...(await excerptOfExportFile(path, request)), deep: true };
  } catch (error) {
    const is_later = error instanceof Refusal && error.code === 'SEGMENT_MISSING' && path !== '-';
    if (!is_later) throw error;
    return { ...(await excerptOfExportFile(path, { ...request, deep: false })), deep: false };
  }
}

function showBundle(path: string, call: Call): Promise<Answer> {
  const { options, kept } = proofOptions(call.options);
  const bundle = auditProof(readInput(path, limits.bundle_bytes), options);
  const { size, root } = bundle.head;
  const found = { from: 0, size, root, key: bundle.fingerprint, objects: objectCount(bundle.objects) };
  const verified = verifiedAs('proof', found, kept, { key: options.key, deep: true });
  const [named = bundle.subject] = call.operands;
  if (named !== bundle.subject && !(isIdBeginning(named) && bundle.subject.startsWith(named)))
    refuse('INTENT_NOT_FOUND', `The proof is about ${bundle.subject}.`);
  return told(verified, excerptOfProof(bundle), [], call);
}

/** An intent is told as `show` tells it, everything else entry by entry; before that, what was verified. */
async function told(
  verified: VerifiedAnswer,
  { entries: found, read, authorities }: Excerpt,
  before: readonly Entry[],
  { operands, options }: Call,
): Promise<Answer> {
  requireAny(found);
  const entries = await entriesInFile(found, read);
  const result = (story: StoryResult | null) => ({
    entries: entries.toReversed(),
    verified: verified.result,
    story,
  });
  const isStory = found[0]!.kind === 'intent.proposed' && (options.bundle ?? operands[0]) !== undefined;
  if (!isStory) {
    const left = options.bundle === undefined ? earlier(found, operands[0]) : [];
    const lines = [...verified.lines, ...left, ...entries.flatMap(entryLines)];
    return { result: result(null), lines };
  }
  const now = new Date();
  const with_output = options.output === true;
  const story = await storyInFile({ entries: found, before, read, authorities, now, with_output });
  return { result: result(story), lines: [...verified.lines, '', ...storyLines(story, now)] };
}

type StoryResult = Result<'intents.story'>;

/** Without a subject these are the newest ones: nothing may look like the whole ledger that is not. */
function earlier([first]: readonly Entry[], subject: string | undefined): string[] {
  if (subject !== undefined || first === undefined || first.seq === 0) return [];
  return [`${first.seq} earlier entries are not shown: --limit N shows more.`];
}

function requireAny(entries: readonly unknown[]): void {
  if (entries.length === 0) refuse('INTENT_NOT_FOUND', 'The ledger has no entry about this.');
}
