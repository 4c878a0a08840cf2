import { readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const run = `run${process.pid}-`;

/** Every folder that `freshFolder` makes has this in its name. The workers inherit it. */
export function setup(): void {
  process.env.KEYTURN_TEST_RUN = run;
}

/**
 * Removes, when the tests are over, what is still there: a copy that all tests of a worker share, and what a worker left that was ended. A
 * worker is killed, so it cannot remove anything at its own end.
 */
export function teardown(): void {
  const place = realpathSync(tmpdir());
  for (const name of readdirSync(place))
    if (name.includes(run)) rmSync(join(place, name), { recursive: true, force: true, maxRetries: 3 });
}
