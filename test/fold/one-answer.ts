import fc from 'fast-check';
import { expect } from 'vitest';
import { adopted, committed, deepVerified, rebuilt } from './judges.ts';
import { lived, mutant } from './mutants.ts';

export const JUDGES = { deepVerified, committed, adopted, rebuilt };

/** So many ledgers that differ from a good one in one thing: every judge refuses the same entry, or none does. */
export async function expectOneAnswer(count: number): Promise<void> {
  const reached = new Map<string, number>();
  const kinds = new Set<string>();
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(), { minLength: 4, maxLength: 4 }), async (numbers) => {
      const events = mutant(lived(), numbers);
      const answer = await deepVerified(events);
      for (const [name, judge] of Object.entries(JUDGES)) {
        const seq = (await judge(events))?.seq ?? null;
        expect({ name, seq }).toEqual({ name, seq: answer?.seq ?? null });
      }
      const code = answer?.code ?? 'taken';
      reached.set(code, (reached.get(code) ?? 0) + 1);
      if (answer) kinds.add(events[answer.seq]!.kind);
    }),
    { numRuns: count },
  );
  const codes = [...reached].sort(([, a], [, b]) => b - a).map(([code, times]) => `${code} ${times}`);
  console.info(`${count} ledgers: ${codes.join(', ')}; refused kinds: ${[...kinds].sort().join(', ')}`);
}
