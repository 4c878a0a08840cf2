import type { IntentState } from '../../keyturn.ts';
import { refuse } from '../../refusal.ts';
import type { Answer, Call } from '../answer.ts';
import { stdoutPainter } from '../paint.ts';
import { reading } from '../project.ts';
import type { Result } from '../schema.ts';
import { painted, type Standing, standingOf } from '../standing.ts';
import { table } from '../table.ts';

const LIMIT = 50;
const LIMIT_MOST = 10_000;

export function list(call: Call): Promise<Answer> {
  const { status, after } = call.options;
  const limit = countOf(call.options.limit, LIMIT);
  return reading(call, async (keyturn) => {
    // One more than asked for tells whether there are more.
    const page = await keyturn.list({
      limit: limit + 1,
      ...(status === undefined ? {} : { status: status as IntentState['status'] }),
      ...(after === undefined ? {} : { after }),
    });
    const intents = page.slice(0, limit);
    const next = page.length > limit ? intents.at(-1)!.intent_id : null;
    const now = new Date();
    const result: Result<'list'> = {
      intents: intents.map((state) => ({ ...state, standing: standingOf(state, now) })),
      next,
    };
    return { result, lines: intents.length === 0 ? ['No intents.'] : listed(result) };
  });
}

export function countOf(text: string | undefined, otherwise: number, flag = '--limit'): number {
  if (text === undefined) return otherwise;
  const count = /^[1-9][0-9]{0,5}$/.test(text) ? Number(text) : 0;
  if (count < 1 || count > LIMIT_MOST) refuse('USAGE', `${flag} takes a number from 1 to ${LIMIT_MOST}.`);
  return count;
}

function listed({ intents, next }: Result<'list'>): string[] {
  const headings = ['ID', 'STATUS', 'TOOL', 'BY', 'PROPOSED', 'EXPIRES'];
  const rows = intents.map((intent) => [
    intent.intent_id,
    intent.standing,
    intent.tool,
    intent.proposer,
    seconds(intent.proposed_at),
    seconds(intent.expires_at),
  ]);
  const paint = stdoutPainter();
  const [head = '', ...lines] = table(headings, rows);
  const coloured = lines.map((line, i) => withColour(line, intents[i]!.standing, paint));
  const more = next === null ? [] : [`There are more: keyturn list --after ${next}`];
  return [paint('dim', head), ...coloured, ...more];
}

/** After the layout, so that no escape sequence is counted as width. */
function withColour(line: string, standing: Standing, paint: ReturnType<typeof stdoutPainter>): string {
  const at = line.indexOf(standing, 36);
  return at === -1
    ? line
    : `${line.slice(0, at)}${painted(standing, paint)}${line.slice(at + standing.length)}`;
}

function seconds(time: string): string {
  return `${time.slice(0, 19)}Z`;
}
