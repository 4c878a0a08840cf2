import type { JsonObject } from '../canonical/json.ts';
import { VERSION } from '../version.ts';
import { LEGACY, MODERN, TASKS } from './message.ts';

/** What the gate says of itself, in either protocol. The project is not needed for it. */

const INSTRUCTIONS =
  'A human approves what you call here. A call that says NOT RUN yet waits for them: ask keyturn_wait with its id, and do not work around it. One that says IT RUNS was sent: do not call it again, and ask keyturn_wait.';

const INFO = { name: 'keyturn', version: VERSION };
const CAPABILITIES = {
  tools: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  prompts: { listChanged: true },
  completions: {},
};
const TASK_CAPABILITY = { list: {}, cancel: {}, requests: { tools: { call: {} } } };

/** Nothing that the gate lists may be kept: a human can change it at any time. */
export const CACHE = { ttlMs: 0, cacheScope: 'private' } as const;

export function initialized({ protocolVersion }: JsonObject): JsonObject {
  const asked = LEGACY.find((one) => one === protocolVersion) ?? LEGACY[0];
  const tasks = asked === LEGACY[0] && { tasks: TASK_CAPABILITY };
  return {
    protocolVersion: asked,
    capabilities: { ...CAPABILITIES, logging: {}, ...tasks },
    serverInfo: INFO,
    instructions: INSTRUCTIONS,
  };
}

export function discovered(): JsonObject {
  return {
    supportedVersions: [MODERN],
    capabilities: { ...CAPABILITIES, extensions: { [TASKS]: {} } },
    instructions: INSTRUCTIONS,
    _meta: { 'io.modelcontextprotocol/serverInfo': INFO },
    serverInfo: INFO,
    ...CACHE,
  };
}
