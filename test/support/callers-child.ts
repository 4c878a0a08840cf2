import { createRequire } from 'node:module';
import { Keyturn, Refusal } from '../../src/keyturn.ts';
import type { CallersOptions } from './callers.ts';
import { runSeen } from './seen.ts';

/**
 * A library process: `node --import tsx callers-child.ts OPTIONS`. So many callers share one Keyturn and go from the proposal to the
 * grant, or to the record, until so many journeys are made or the time is over. Prints how often each answer came, as JSON.
 *
 * With `--allow-natives-syntax`, V8 then throws away the optimised code that calls Cedar while Cedar is running. V8 does that by
 * itself now and then; asked for, it needs no minutes of load.
 */
const options: CallersOptions & { root: string; passphrase: string } = JSON.parse(process.argv[2]!);
const keyturn = await Keyturn.open({ at: options.root });
const ada = await keyturn.unlock('ada', options.passphrase);
const ends_ms = performance.now() + 1000 * (options.seconds ?? Number.POSITIVE_INFINITY);
const answers: Record<string, number> = {};
let left = options.journeys ?? Number.POSITIVE_INFINITY;

async function journey(): Promise<string> {
  const effect = { kind: 'tool' as const, tool: 'say', arguments: { word: 'hello' } };
  const { intent_id, hash } = await keyturn.intents.propose({
    issuer: 'ada',
    declared_goal: 'Say hello.',
    effect,
  });
  await keyturn.intents.approve({ intent_id, hash, signer: ada });
  await keyturn.intents.grant({ intent_id, hash, signer: ada, is_issued: options.until === 'grant' });
  if (options.until === 'grant') return 'granted';
  return (await runSeen(keyturn, { intent_id, hash, confirm: async () => true })).result;
}

async function caller(): Promise<void> {
  while (left > 0 && performance.now() < ends_ms) {
    left -= 1;
    const answer = await journey().catch((error: unknown) =>
      error instanceof Refusal ? error.code : String(error),
    );
    answers[answer] = (answers[answer] ?? 0) + 1;
  }
}

await Promise.all(Array.from({ length: options.callers }, caller));
await keyturn.close();
if (process.execArgv.includes('--allow-natives-syntax')) loseOptimisedCode();
console.log(JSON.stringify(answers));

function loseOptimisedCode(): void {
  const native = (name: string) => new Function('f', `return %${name}(f)`) as (f: unknown) => void;
  const { statefulIsAuthorized: ask } = createRequire(import.meta.url)('@cedar-policy/cedar-wasm/nodejs');
  const uid = { type: 'A', id: 'a' };
  const question = {
    principal: uid,
    action: uid,
    resource: uid,
    context: {},
    entities: [],
    preparsedPolicySetId: 'none',
  };
  native('PrepareFunctionForOptimization')(ask);
  for (let i = 0; i < 10; i += 1) ask(question);
  native('OptimizeFunctionOnNextCall')(ask);
  ask(question);
  // Cedar asks for the question as JSON while it runs.
  ask({ toJSON: () => native('DeoptimizeFunction')(ask) ?? question });
}
