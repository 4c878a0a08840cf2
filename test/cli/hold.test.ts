import { expect, it } from 'vitest';
import { holdFrom } from '../../src/cli/command/mcp.ts';
import { HOLD_MS } from '../../src/mcp/call.ts';
import { expectRefusal } from '../support/refusal.ts';

it('a call is held for 25 seconds unless told, and never for longer', async () => {
  expect([HOLD_MS, holdFrom(undefined), holdFrom('0.5'), holdFrom('25')]).toEqual([
    25_000, 25_000, 500, 25_000,
  ]);
  for (const wrong of ['26', '25.001', '-1', '', 'x', '1e1'])
    await expectRefusal('USAGE', async () => holdFrom(wrong));
});
