import fc from 'fast-check';
import { it } from 'vitest';
import { PROPOSERS, requireNothingOfOthers } from './own.ts';

it('no answer to an agent tells of another proposer, whoever proposed what in which order', () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom(...PROPOSERS), { minLength: 1, maxLength: 8 }),
      requireNothingOfOthers,
    ),
    { numRuns: 30 },
  ));
