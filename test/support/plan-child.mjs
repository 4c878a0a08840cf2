/**
 * One process that runs a plan, or rolls it back: `node plan-child.mjs ROOT run ID HASH [WHAT]` or
 * `node plan-child.mjs ROOT rollback EXECUTION`. It says yes at once: the tests that use it are about processes that die.
 * With WHAT it kills itself, as kill -9 would, when the run says that it has come there.
 */
import { Keyturn, Refusal } from '../../dist/keyturn.js';

const [root, task, id, hash, what] = process.argv.slice(2);
const keyturn = await Keyturn.open({ at: root });
const signer = task === 'rollback' ? keyturn.unlock('ada', 'correct horse battery') : null;
process.stdout.write('ready\n');
const onProgress = (progress) => void (progress.what === what && process.kill(process.pid, 'SIGKILL'));
try {
  const { result, status } =
    task === 'run'
      ? await keyturn.run({ intent_id: id, hash, confirm: async () => true, onProgress })
      : await keyturn.rollback({ execution_id: id, reason: 'not wanted', signer });
  process.stdout.write(`${result ?? status}\n`);
} catch (error) {
  process.stdout.write(`${error instanceof Refusal ? error.code : error.stack}\n`);
} finally {
  await keyturn.close();
}
