import { visible } from '../../canonical/visible.ts';
import type { Result } from '../../keyturn.ts';
import { cliLimits } from '../../limits.ts';
import type { Answer, Call } from '../answer.ts';
import { actAs, whoActs } from '../human.ts';
import { requireId } from '../operand.ts';
import { type Opened, writing } from '../project.ts';

/** Ends a run that goes on. It must be quick: it says which run, and asks for the passphrase alone. */
export function stop(call: Call): Promise<Answer> {
  const typed = call.operands.length === 0 ? undefined : requireId(call);
  const reason = call.options.reason!;
  return writing(call, async (keyturn) => {
    const name = await whoActs(keyturn, call.options.as);
    const run = await keyturn.runs.going({ run: typed });
    const { execution_id } = run;
    const result = await actAs(
      keyturn,
      name,
      (signer) => keyturn.runs.stop({ execution_id, reason, signer }),
      () => [`Stop: ${execution_id} of ${run.tool}, on ${visible(run.host)} since ${run.since}`],
    );
    if (call.options.json) return { result, lines: [] };
    const end = endLine(run, await endOf(keyturn, run));
    return { result, lines: [`[OK] ${result.by} stopped ${execution_id}`, end] };
  });
}

type Going = Result<'runs.going'>;

type End = NonNullable<Result<'intents.waitFor'>['run']>['result'];

async function endOf(keyturn: Opened, { intent_id, execution_id }: Going): Promise<End> {
  const signal = AbortSignal.timeout(cliLimits.stopped_ms);
  try {
    const { run } = await keyturn.intents.waitFor({ intent_id, signal });
    return run?.execution_id === execution_id ? run.result : null;
  } catch (error) {
    if (error !== signal.reason) throw error;
    return null;
  }
}

function endLine({ intent_id, execution_id, host, state }: Going, end: End): string {
  switch (end) {
    case 'success':
      return 'It had succeeded by then';
    case 'failure':
      return 'It had failed by then';
    case 'rolled_back':
      return 'It was rolled back';
    case 'partial':
      return `It was ended half way. Find out what it did, then: keyturn resolve ${execution_id}`;
    default:
      return state === 'other-host'
        ? `Its end is not recorded yet. If ${visible(host)} is dead: keyturn resolve ${execution_id} --host-is-dead`
        : `Its end is not recorded yet: keyturn show ${intent_id}`;
  }
}
