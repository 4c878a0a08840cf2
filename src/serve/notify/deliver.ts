import type { Keyturn, NotifyTarget } from '../../keyturn.ts';
import { type ReasonCode, Refusal } from '../../refusal.ts';
import { type Notice, slackText } from './message.ts';
import { post } from './post.ts';
import { webhookSignature } from './sign.ts';

/** What became of one attempt. `gone`: the target asks for no more. */
export interface Delivery {
  readonly outcome: 'delivered' | 'failed' | 'gone';
  readonly status: number | null;
  readonly code: ReasonCode | null;
  readonly words: string;
}

const GONE = 410;

/** Tries once. Never rejects: what went wrong is the answer, for the log and for who tests a target. */
export async function deliver(
  keyturn: Keyturn,
  target: NotifyTarget,
  message: Notice,
  signal: AbortSignal,
): Promise<Delivery> {
  const about = { kind: kindOf(target) };
  const attempt = async (): Promise<Delivery> => {
    try {
      return await sent(keyturn, target, message, signal);
    } catch (error) {
      const refusal = error instanceof Refusal ? error : new Refusal('NOTIFY_FAILED');
      return { outcome: 'failed', status: null, code: refusal.code, words: refusal.message };
    }
  };
  return keyturn.host.telemetry.span('notify', attempt, {
    about,
    end: ({ outcome, status, code }) => ({
      result: outcome,
      ...(status !== null && { status }),
      code: code ?? 'OK',
    }),
  });
}

export function kindOf(target: NotifyTarget): 'webhook' | 'slack' | 'command' {
  if ('webhook' in target) return 'webhook';
  return 'slack' in target ? 'slack' : 'command';
}

async function sent(
  keyturn: Keyturn,
  target: NotifyTarget,
  message: Notice,
  signal: AbortSignal,
): Promise<Delivery> {
  if ('command' in target) return toldByCommand(keyturn, target, message, signal);
  const { timeout_s, allow } = target;
  if ('slack' in target) {
    const body = JSON.stringify({ text: slackText(message), unfurl_links: false });
    return answered(await post({ url: target.slack, allow, timeout_s, headers: {}, body, signal }));
  }
  const body = JSON.stringify({ type: message.type, timestamp: message.timestamp, data: message.data });
  const timestamp_s = Math.floor(Date.now() / 1000);
  const secret = await keyturn.host.secret(target.secret);
  const headers = {
    'webhook-id': message.id,
    'webhook-timestamp': String(timestamp_s),
    'webhook-signature': webhookSignature(secret, message.id, timestamp_s, body),
  };
  return answered(await post({ url: target.webhook, allow, timeout_s, headers, body, signal }));
}

function answered(status: number): Delivery {
  if (status >= 200 && status < 300) return { outcome: 'delivered', status, code: null, words: 'delivered' };
  const outcome = status === GONE ? 'gone' : 'failed';
  return { outcome, status, code: 'NOTIFY_FAILED', words: `answered ${status}` };
}

/** The message is in a variable: there is no shell, and standard input is empty. */
async function toldByCommand(
  keyturn: Keyturn,
  { command, timeout_s }: Extract<NotifyTarget, { command: unknown }>,
  message: Notice,
  abort: AbortSignal,
): Promise<Delivery> {
  const env = { KEYTURN_NOTIFICATION: JSON.stringify(message), PATH: process.env.PATH ?? '' };
  const { started, exit_code, timed_out } = await keyturn.host.runNotifier({
    argv: command,
    env,
    cwd: '/',
    timeout_ms: timeout_s * 1000,
    stdout_bytes: 0,
    stderr_bytes: 0,
    abort,
  });
  if (started && exit_code === 0)
    return { outcome: 'delivered', status: null, code: null, words: 'delivered' };
  const why = timed_out ? `took longer than ${timeout_s} s` : `ended with ${exit_code ?? 'a signal'}`;
  const words = started ? `The command ${why}.` : 'The command could not be started.';
  return { outcome: 'failed', status: null, code: 'NOTIFY_FAILED', words };
}
