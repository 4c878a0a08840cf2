import type { JsonObject } from '../canonical/json.ts';
import { capabilitiesIn, ERRORS, isObject, type Message, objectIn, TASKS, wrong } from './message.ts';

/** An answer that holds the result of a task, or its error. */
export function isTaskResult({ method }: Message, result: JsonObject): boolean {
  return method === 'tasks/result' || (method === 'tasks/get' && ('result' in result || 'error' in result));
}

/** What the stateless protocol no longer has. */
const REMOVED: ReadonlySet<string> = new Set([
  'initialize',
  'ping',
  'logging/setLevel',
  'resources/subscribe',
  'resources/unsubscribe',
  'tasks/result',
  'tasks/list',
]);

/** Refused where the stateless protocol has no such method, or has it only for a client that can follow tasks. */
export function requireModern(message: Message): void {
  const { method } = message;
  if (REMOVED.has(method)) unknownMethod(method);
  if (TASK_METHODS.has(method) && !wantsTask(message))
    wrong(ERRORS.capability, 'The client has not said that it can follow tasks.', {
      requiredCapabilities: { extensions: { [TASKS]: {} } },
    });
}

const TASK_METHODS: ReadonlySet<string> = new Set(['tasks/get', 'tasks/update', 'tasks/cancel']);

export function unknownMethod(method: string): never {
  return wrong(ERRORS.method, `The gate does not know the method "${method}".`);
}

/** The client can follow a task: in the stateless protocol it says so with each request, in the other one it asks for one. */
export function wantsTask(message: Message): boolean {
  if (!message.is_modern) return isObject(message.params.task);
  return objectIn(capabilitiesIn(message), 'extensions')[TASKS] !== undefined;
}
