import { once } from 'node:events';
import { readFileSync, writeSync } from 'node:fs';
import { Keyturn } from '../../src/keyturn.ts';
import { Refusal } from '../../src/refusal.ts';

/** A process that finishes the draft of a turn when it is told to on standard input, and says what became of it. */

const [root, file] = process.argv.slice(2) as [string, string];
const { draft, proofs, intent } = JSON.parse(readFileSync(file, 'utf8'));
const keyturn = await Keyturn.open({ at: root });
writeSync(1, 'ready\n');
await once(process.stdin, 'data');
const answer = await keyturn
  .finish(draft, proofs, (signer) => keyturn.intents.turn({ ...intent, signer }))
  .then(
    () => 'ok',
    (error: unknown) => (error instanceof Refusal ? error.code : String(error)),
  );
writeSync(1, `${answer}\n`);
await keyturn.close();
process.exit();
