import { availableParallelism } from 'node:os';
import { visible } from '../../canonical/visible.ts';
import type { Executed, Keyturn } from '../../keyturn.ts';
import { jsonLine } from '../../lane/visible.ts';
import { refuse } from '../../refusal.ts';
import type { Answer, Call } from '../answer.ts';
import { writing } from '../project.ts';
import { say } from '../say.ts';
import type { Result } from '../schema.ts';
import { untilStopped } from '../until-stopped.ts';

/** How long what runs may take to end, once it is told to stop. */
const GRACE_MS = 10_000;

/** Until a signal ends it. */
export async function serve(call: Call): Promise<Answer> {
  const { port, host, execute: executes = true, json = false } = call.options;
  const door = await import('../../serve/serve.ts');
  const request = {
    ...(port !== undefined && { port: door.portOf(port) }),
    ...(host !== undefined && { host }),
    most: executes ? mostOf(call) : 0,
  };
  return stoppable(call, (keyturn, rest) =>
    door.serve(keyturn, {
      ...request,
      ...rest,
      tellNotified: ({ target, outcome, words }) => {
        if (outcome !== 'delivered') say(2, `notify ${target}: ${visible(words)}`);
      },
      onListening: (at) => {
        const result: Result<'serve'> = at;
        if (json) say(1, jsonLine({ ok: true, command: 'serve', result }));
        else say(1, `Keyturn serves at ${at.address}\nOpen within 5 minutes, once: ${at.link}`);
      },
    }),
  );
}

export function execute(call: Call): Promise<Answer> {
  const most = mostOf(call);
  return stoppable(call, (keyturn, rest) =>
    keyturn.execute({
      ...rest,
      most,
      onReady: () => say(2, `Runs what is ordered for ${keyturn.config.executor}. Ctrl-C ends it.`),
    }),
  );
}

interface Stopped {
  readonly signal: AbortSignal;
  readonly grace_ms: number;
  readonly tell: (executed: Executed) => void;
}

function stoppable(call: Call, act: (keyturn: Keyturn, rest: Stopped) => Promise<void>): Promise<Answer> {
  return writing(call, async (keyturn) => {
    const { signal, letGo } = untilStopped();
    try {
      await act(keyturn, { signal, grace_ms: GRACE_MS, tell: (executed) => say(2, lineOf(executed)) });
    } finally {
      letGo();
    }
    return { result: { stopped: true }, lines: ['[OK] Stopped'] };
  });
}

function lineOf({ intent_id, tool, outcome, code }: Executed): string {
  return `${intent_id}  ${visible(tool)}  ${outcome}${code === null ? '' : `  ${code}`}`;
}

function mostOf({ options: { parallel } }: Call): number {
  if (parallel === undefined) return availableParallelism();
  if (!/^[1-9][0-9]{0,2}$/.test(parallel)) refuse('USAGE', '--parallel takes a number from 1 to 999.');
  return Number(parallel);
}
