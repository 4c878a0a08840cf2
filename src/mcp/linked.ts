import type { Json, JsonObject } from '../canonical/json.ts';
import type { Face } from '../keyturn.ts';
import { isObject } from './message.ts';

/** A resource of a server is named `SERVER+URI`, so that no server can take the place of another one. */
export const prefixed = (server: string, uri: string): string => `${server}+${uri}`;

interface Asking {
  readonly face: Face;
}

/** The servers whose human accepted that this reaches agents. */
export async function passing({ face }: Asking, what: string): Promise<string[]> {
  const { passes } = await face.mcp.tools();
  return passes.filter(({ pass }) => pass.includes(what)).map(({ server }) => server);
}

/** The server of a call, where its resources reach agents; null otherwise, and for what is no call of a server. */
export async function linkingServer(
  asking: Asking,
  { effect, tool }: { readonly effect: string; readonly tool: string },
): Promise<string | null> {
  if (effect !== 'mcp') return null;
  const { tools } = await asking.face.mcp.tools();
  const server = tools.find(({ called }) => called === tool)?.server;
  return server !== undefined && (await passing(asking, 'resources')).includes(server) ? server : null;
}

/** The resources that a result links to or holds, named as `resources/list` names them: an agent can read them by that name. */
export function linked<R extends JsonObject>(result: R, server: string | null): R {
  const { content } = result;
  if (server === null || !Array.isArray(content)) return result;
  return { ...result, content: content.map((one) => linkedContent(one, server)) };
}

/** The same of one item. Of what is neither nothing is changed. */
export function linkedContent(item: Json, server: string): Json {
  if (!isObject(item)) return item;
  if (item.type === 'resource_link') return named(item, server);
  if (item.type !== 'resource' || !isObject(item.resource)) return item;
  return { ...item, resource: named(item.resource, server) };
}

function named(resource: JsonObject, server: string): JsonObject {
  return typeof resource.uri === 'string' ? { ...resource, uri: prefixed(server, resource.uri) } : resource;
}
