import {
  didYouMean,
  type Explanation,
  explain,
  isReasonCode,
  type Remark,
  reasonCodes,
  refuse,
  remarks,
} from '../../refusal.ts';
import type { Answer, Call } from '../answer.ts';
import type { Result } from '../schema.ts';
import { fields, table } from '../table.ts';

export async function explainCode({ operands: [wanted] }: Call): Promise<Answer> {
  const reasons = wanted === undefined ? [...reasonCodes.map(explain), ...remarks] : [find(wanted)];
  const result: Result<'explain'> = { reasons };
  return { result, lines: wanted === undefined ? listed(reasons) : described(reasons[0]!) };
}

type Explained = Explanation | Remark;

function find(wanted: string): Explained {
  const code = isReasonCode(wanted)
    ? wanted
    : reasonCodes.find((known) => String(explain(known).number) === wanted);
  const found = code ? explain(code) : remarks.find((known) => known.code === wanted);
  if (found) return found;
  const meant = didYouMean(wanted, [...reasonCodes, ...remarks.map(({ code }) => code)]);
  return refuse('CODE_UNKNOWN', `There is no reason code "${wanted.slice(0, 60)}".${meant}`);
}

function described({ code, number, category, meaning, advice }: Explained): string[] {
  return fields([
    ['Code', number === null ? `${code} (of a conversation)` : `${code} (${number}, ${category})`],
    ['Meaning', meaning],
    ['Advice', advice],
  ]);
}

/** By number. What is no refusal has none, and comes last. */
function listed(reasons: readonly Explained[]): string[] {
  const last = Number.POSITIVE_INFINITY;
  const sorted = [...reasons].sort((a, b) => Math.sign((a.number ?? last) - (b.number ?? last)) || 0);
  return table(
    ['NUMBER', 'CODE', 'MEANING'],
    sorted.map(({ code, number, meaning }) => [number === null ? '-' : String(number), code, meaning]),
    { prose: true },
  );
}
