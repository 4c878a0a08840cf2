import { it } from 'vitest';
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
      const set = await stage({ body: `echo ran >> "$LOG"; ${body}` });
      expectRefused(await saysYes(set), `${preScreen(set)}${RECORDING_FAILED}`, 'RECORDING_FAILED');
    },
  );
});
