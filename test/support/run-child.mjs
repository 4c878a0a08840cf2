/**
 * One process that tries to run one intent: `node run-child.mjs ROOT ID HASH [TOKEN]`. It says yes at once, because the tests that
 * use it are about processes, not about prompts. Prints the result or the reason code.
 */
import { setFlagsFromString } from 'node:v8';
import { Keyturn, Refusal } from '../../dist/keyturn.js';
import { runAtOnce } from './at-once.mjs';

setFlagsFromString('--liftoff-only'); // as the command line does
const [root, intent_id, hash, text] = process.argv.slice(2);
const keyturn = await Keyturn.open({ at: root });
process.stdout.write('ready\n');
// With a parent that holds its end of standard input open, all racers start together when it lets go.
for await (const _ of process.stdin);
try {
  const report = await runAtOnce(keyturn, {
    intent_id,
    hash,
    ...(text && { capability: text }),
  });
  process.stdout.write(`${report.result}\n`);
} catch (error) {
  process.stdout.write(`${error instanceof Refusal ? error.code : error.stack}\n`);
} finally {
  await keyturn.close();
}
