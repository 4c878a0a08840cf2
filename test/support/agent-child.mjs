/**
 * One process that says yes for `ada` to one prompt: `node agent-child.mjs ROOT CORRELATION PLAN`. It waits until its parent
 * lets go of standard input, so that several start together. Prints the kind of the answer, or the reason code.
 */
import { Keyturn, Refusal } from '../../dist/keyturn.js';

const [root, correlation_id, plan_id] = process.argv.slice(2);
const keyturn = await Keyturn.open({ at: root });
process.stdout.write('ready\n');
for await (const _ of process.stdin);
try {
  const answer = await keyturn.conversations.confirm({
    correlation_id,
    plan_id,
    user_id: 'ada',
    text: 'yes',
  });
  process.stdout.write(`${answer.kind}${answer.is_duplicate ? ' again' : ''}\n`);
} catch (error) {
  process.stdout.write(`${error instanceof Refusal ? error.code : error.stack}\n`);
} finally {
  await keyturn.close();
}
