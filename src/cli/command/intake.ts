import { visible } from '../../canonical/visible.ts';
import type { Answer, Call } from '../answer.ts';
import { reading } from '../project.ts';
import { table } from '../table.ts';

/** What users asked for and does not exist. */
export function list(call: Call): Promise<Answer> {
  return reading(call, async (keyturn) => {
    const result = await keyturn.simulations.wishes();
    const { wishes } = result;
    if (wishes.length === 0) return { result, lines: ['Nothing is missing.'] };
    const rows = wishes.map(({ worthiness_bp, users, status, category, linked_draft, last_at, wish }) => [
      String(worthiness_bp),
      String(users),
      status,
      category,
      linked_draft ?? '-',
      last_at,
      visible(wish ?? '(erased)'),
    ]);
    return {
      result,
      lines: table(['WORTH', 'USERS', 'STATUS', 'CATEGORY', 'DRAFT', 'LAST', 'WISH'], rows, { prose: true }),
    };
  });
}
