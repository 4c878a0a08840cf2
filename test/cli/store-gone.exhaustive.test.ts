import { it } from 'vitest';
import { ownUser } from '../../src/effect/user.ts';
import { preScreen, RECORDING_FAILED } from '../support/transcript.ts';
import { expectRefused } from './refused.ts';
import { inTurn, saysYes, stages } from './stage.ts';

const stage = stages();

it('a store that the tool removes or replaces leaves the run in doubt, and says so', async () => {
  await inTurn(
    [
      'rm -r "$OWN"',
      'cp "$OWN/store.db" "$OWN/x"; mv "$OWN/x" "$OWN/store.db"',
      'rm "$OWN/store.db-wal"',
      'cp "$OWN/store.db-wal" "$OWN/x"; mv "$OWN/x" "$OWN/store.db-wal"',
    ],
    async (body) => {
      // Only the user of Keyturn reaches its store.
      const set = await stage({
        body: `echo ran >> "$LOG"; ${body}`,
        tool: { run_as: ownUser().name },
      });
      expectRefused(await saysYes(set), `${preScreen(set)}${RECORDING_FAILED}`, 'RECORDING_FAILED');
    },
  );
});
