import type { JsonObject } from '../canonical/json.ts';
import { Refusal } from '../refusal.ts';
import type { McpCaller } from './call.ts';
import { ERRORS, wrong } from './message.ts';
import { ownPage } from './own-page.ts';
import { passedResources } from './passed.ts';

const PREFIX = 'keyturn://intent/';

export const intentUri = (intent_id: string): string => `${PREFIX}${intent_id}`;

export function isOwnResource(uri: string): boolean {
  return uri.startsWith(PREFIX);
}

/** What the caller proposed lately: what waits, and what became of the rest. */
export async function listResources(caller: McpCaller, params: JsonObject): Promise<JsonObject> {
  const { intents, more } = await ownPage(caller, params);
  const resources = intents.map(({ intent_id, tool, status }) => ({
    uri: intentUri(intent_id),
    name: `${tool} (${status})`,
    mimeType: 'application/json',
  }));
  // Those of servers come whole, with the first page.
  const { items, ...rest } = params.cursor === undefined ? await passedResources(caller) : { items: [] };
  return { resources: [...resources, ...items], ...rest, ...more };
}

export async function readResource({ face }: McpCaller, uri: string): Promise<JsonObject> {
  if (!isOwnResource(uri)) return unknown(uri);
  try {
    const found = await face.intents.result({ intent_id: uri.slice(PREFIX.length) });
    return { contents: [{ uri, mimeType: 'application/json', text: JSON.stringify(found) }] };
  } catch (error) {
    if (error instanceof Refusal) return unknown(uri);
    throw error;
  }
}

function unknown(uri: string): never {
  return wrong(ERRORS.params, `There is no resource ${uri}.`, { uri });
}
