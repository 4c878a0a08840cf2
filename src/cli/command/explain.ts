import { type Explanation, explain, isReasonCode, reasonCodes, refuse } from '../../refusal.ts';
import type { Answer, Call } from '../answer.ts';
import type { Result } from '../schema.ts';
import { fields, table } from '../table.ts';

export async function explainCode({ operands: [wanted] }: Call): Promise<Answer> {
  const reasons = wanted === undefined ? reasonCodes.map(explain) : [find(wanted)];
  const result: Result<'explain'> = { reasons };
  return { result, lines: wanted === undefined ? listed(reasons) : described(reasons[0]!) };
}

function find(wanted: string): Explanation {
  const code = isReasonCode(wanted)
    ? wanted
    : reasonCodes.find((known) => String(explain(known).number) === wanted);
  return code ? explain(code) : refuse('CODE_UNKNOWN', `There is no reason code "${wanted.slice(0, 60)}".`);
}

function described({ code, number, category, meaning, advice }: Explanation): string[] {
  return fields([
    ['Code', `${code} (${number}, ${category})`],
    ['Meaning', meaning],
    ['Advice', advice],
  ]);
}

function listed(reasons: readonly Explanation[]): string[] {
  const sorted = [...reasons].sort((a, b) => a.number - b.number);
  return table(
    ['NUMBER', 'CODE', 'MEANING'],
    sorted.map(({ code, number, meaning }) => [String(number), code, meaning]),
  );
}
