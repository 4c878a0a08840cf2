import { describe, expect, it } from 'vitest';
import { runCallers } from '../support/callers.ts';
import { project, TOOLS } from '../support/project.ts';

describe('T1: a library process does not die in the policy engine', () => {
  it('when V8 loses the optimised code that calls Cedar while Cedar runs', async () => {
    const { root } = await project(TOOLS);
    const options = { callers: 1, journeys: 1, until: 'record' } as const;
    const ended = await runCallers(root, options, ['--allow-natives-syntax']);
    // An unknown flag of V8 would be reported on standard error.
    expect(ended).toEqual({ signal: null, answers: { success: 1 }, stderr: '' });
  });
});
