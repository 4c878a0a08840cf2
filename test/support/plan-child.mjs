/**
 * One process that runs a plan, or rolls it back: `node plan-child.mjs ROOT run ID HASH [WHAT]` or
 * `node plan-child.mjs ROOT rollback|gc|gc-objects EXECUTION`. It says yes at once: the tests that use it are about processes that die.
 * With WHAT it kills itself, as kill -9 would, when the run says that it has come there.
 */
import { Keyturn, Refusal } from '../../dist/keyturn.js';
import { runAtOnce } from './at-once.mjs';

const [root, task, id, hash, what] = process.argv.slice(2);
const keyturn = await Keyturn.open({ at: root });
// An older tree has flat methods.
const { plans = keyturn } = keyturn;
const system = plans === keyturn ? keyturn : keyturn.system;
const signer = task !== 'run' ? await keyturn.unlock('ada', 'correct horse battery') : null;
process.stdout.write('ready\n');
const onProgress = (progress) => void (progress.what === what && process.kill(process.pid, 'SIGKILL'));
const TASKS = {
  run: () => runAtOnce(keyturn, { intent_id: id, hash, onProgress }),
  rollback: () => plans.rollback({ execution_id: id, reason: 'not wanted', signer }),
  gc: async () => {
    const runs = [{ execution_id: id, undoable: true }];
    const done = await system.gc({ runs, reason: 'the disk is full', signer });
    return { result: done.runs[0].removed ? 'removed' : 'left' };
  },
  'gc-objects': async () => {
    const { removes } = (await system.previewGc({ keep_bytes: 0, undoable_too: true })).objects;
    const { objects } = await system.gc({ runs: [], objects: removes, reason: 'the disk is full', signer });
    return { result: objects.objects === removes.length ? 'removed' : 'left' };
  },
};
try {
  const { result, status } = await TASKS[task]();
  process.stdout.write(`${result ?? status}\n`);
} catch (error) {
  process.stdout.write(`${error instanceof Refusal ? error.code : error.stack}\n`);
} finally {
  await keyturn.close();
}
