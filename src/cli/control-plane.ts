import { type ControlPlane, issueAnswer, type Keyturn } from '../keyturn.ts';
import { Refusal, refuse } from '../refusal.ts';
import { httpStatusOf } from '../serve/status.ts';
import { addressIn, askingAt } from './service.ts';

/** The service that issues what this host claims, asked with the key of its executor. */
export function controlPlaneAt(keyturn: Keyturn, url: string): ControlPlane {
  const address = addressIn(url);
  return async (asked) => {
    const { ask } = askingAt(address, {}, keyturn.host.executorSigner());
    const told = await ask('/v1/executor/issue', asked, {}).catch(notDecided);
    const answer = issueAnswer.safeParse(told);
    return answer.success
      ? answer.data
      : refuse('SERVICE_FOREIGN', 'The answer of the service is not a capability.');
  };
}

/** What is wrong with the service itself, such as a store that is out of reach, decides nothing. */
function notDecided(error: unknown): never {
  if (error instanceof Refusal && httpStatusOf(error.code) >= 500)
    refuse('SERVICE_UNREACHABLE', `The service cannot decide now: ${error.message}`, { found: error.code });
  throw error;
}
