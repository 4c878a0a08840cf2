/**
 * One process that tries to run many intents, each once: `node run-many-child.mjs ROOT LIST`, where LIST is a file with a
 * JSON array of [intent id, hash]. Prints how often each answer came, as JSON.
 */
import { readFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { Keyturn, Refusal } from '../../dist/keyturn.js';
import { runAtOnce } from './at-once.mjs';

setFlagsFromString('--liftoff-only'); // as the command line does
const [root, list] = process.argv.slice(2);
const intents = JSON.parse(readFileSync(list, 'utf8'));
const keyturn = await Keyturn.open({ at: root });
process.stdout.write('ready\n');
// With a parent that holds its end of standard input open, all start together when it lets go.
for await (const _ of process.stdin);
const answers = {};
for (const [intent_id, hash] of intents) {
  const answer = await runAtOnce(keyturn, { intent_id, hash }).then(
    ({ result }) => result,
    (error) => (error instanceof Refusal ? error.code : error.stack),
  );
  answers[answer] = (answers[answer] ?? 0) + 1;
}
await keyturn.close();
process.stdout.write(`${JSON.stringify(answers)}\n`);
