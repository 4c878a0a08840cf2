import { canonicalText } from '../canonical/json.ts';
import type { Engine } from './engine.ts';
import type { Decision } from './request.ts';

/** Whatever is asked before a human says y is asked after it, too. */
const REMEMBERED = 16;

/** The same engine: a decision follows from the policies and the question alone, so the same question is asked once. */
export function rememberingEngine(engine: Engine): Engine {
  const known = new Map<string, Decision>();
  return {
    ...engine,
    decide: (request) => {
      // Facts of the ledger are plain JSON. Anything else is refused here, before it could look like another question.
      const question = canonicalText(request);
      const found = known.get(question);
      if (found) return found;
      const decision = engine.decide(request);
      if (known.size >= REMEMBERED) known.clear();
      known.set(question, decision);
      return decision;
    },
  };
}
