import type { Json, JsonObject } from '../canonical/json.ts';
import { calledName, type Request } from '../keyturn.ts';
import { mcpLimits } from '../limits.ts';
import type { McpCaller } from './call.ts';
import { ERRORS, isObject, wrong } from './message.ts';

type Method = Request<'mcp.ask'>['method'];

/** A resource of a server is named `SERVER+URI`, so that no server can take the place of another one. */
const prefixed = (server: string, uri: string): string => `${server}+${uri}`;

async function passing({ face }: McpCaller, what: string): Promise<string[]> {
  const { passes } = await face.mcp.tools();
  return passes.filter(({ pass }) => pass.includes(what)).map(({ server }) => server);
}

/** The answer of a server; its error is one of the protocol, in the words of the server. */
async function ask(
  { face }: McpCaller,
  server: string,
  method: Method,
  params: JsonObject,
): Promise<JsonObject> {
  const { result, error } = await face.mcp.ask({ server, method, params: params as never });
  if (error === null) return (result ?? {}) as JsonObject;
  const { code, message, data } = error as JsonObject;
  const words = `The server ${server} says: ${typeof message === 'string' ? message : ''}`;
  return wrong(typeof code === 'number' ? code : ERRORS.internal, words, data);
}

/** Every item of a list, from all pages. A server that does not come to the end of it, or fails, adds what it gave so far. */
async function listed(
  caller: McpCaller,
  server: string,
  method: Method,
  member: string,
): Promise<JsonObject[]> {
  const found: JsonObject[] = [];
  const seen = new Set<string>();
  try {
    for (let cursor: string | undefined; ; ) {
      const page = await ask(caller, server, method, cursor === undefined ? {} : { cursor });
      const items: Json = page[member] ?? [];
      if (Array.isArray(items)) found.push(...items.filter(isObject));
      const { nextCursor } = page;
      if (typeof nextCursor !== 'string' || seen.has(nextCursor) || seen.size >= mcpLimits.pages)
        return found;
      if (found.length > mcpLimits.tools) return found.slice(0, mcpLimits.tools);
      seen.add(nextCursor);
      cursor = nextCursor;
    }
  } catch {
    return found;
  }
}

async function ofAll(
  caller: McpCaller,
  what: string,
  method: Method,
  member: string,
  name: (server: string, item: JsonObject) => JsonObject,
): Promise<JsonObject[]> {
  const servers = await passing(caller, what);
  const lists = await Promise.all(
    servers.map(async (server) =>
      (await listed(caller, server, method, member)).map((item) => name(server, item)),
    ),
  );
  return lists.flat();
}

const named = (member: string) => (server: string, item: JsonObject) => ({
  ...item,
  [member]: prefixed(server, String(item[member] ?? '')),
});

export const passedResources = (caller: McpCaller): Promise<JsonObject[]> =>
  ofAll(caller, 'resources', 'resources/list', 'resources', named('uri'));

export const passedTemplates = (caller: McpCaller): Promise<JsonObject[]> =>
  ofAll(caller, 'resources', 'resources/templates/list', 'resourceTemplates', named('uriTemplate'));

export const passedPrompts = (caller: McpCaller): Promise<JsonObject[]> =>
  ofAll(caller, 'prompts', 'prompts/list', 'prompts', (server, item) => ({
    ...item,
    name: calledName(server, String(item.name ?? '')),
  }));

/** Null where no server passes it on. The uri of a link in a result has no server before it: it is that of the only one. */
export async function readPassed(caller: McpCaller, uri: string): Promise<JsonObject | null> {
  const found = await ownerOf(caller, uri);
  if (found === null) return null;
  const { server } = found;
  const { contents, ...rest } = await ask(caller, server, 'resources/read', { uri: found.uri });
  const items = Array.isArray(contents) ? contents.filter(isObject) : [];
  return { ...rest, contents: items.map((item) => named('uri')(server, item)) };
}

async function ownerOf(caller: McpCaller, uri: string) {
  const servers = await passing(caller, 'resources');
  const [, server = '', rest = ''] = /^([a-z0-9-]+)\+(.+)$/s.exec(uri) ?? [];
  if (servers.includes(server)) return { server, uri: rest };
  const [only, ...others] = servers;
  return only !== undefined && others.length === 0 ? { server: only, uri } : null;
}

async function promptNamed(caller: McpCaller, name: string) {
  for (const server of await passing(caller, 'prompts'))
    for (const prompt of await listed(caller, server, 'prompts/list', 'prompts'))
      if (calledName(server, String(prompt.name ?? '')) === name)
        return { server, name: prompt.name as string };
  return null;
}

/** Null where no server passes it on. */
export async function getPassedPrompt(
  caller: McpCaller,
  name: string,
  values: Json,
): Promise<JsonObject | null> {
  const found = await promptNamed(caller, name);
  if (found === null) return null;
  return ask(caller, found.server, 'prompts/get', {
    name: found.name,
    ...(isObject(values) && { arguments: values }),
  });
}

export async function completed(caller: McpCaller, params: JsonObject): Promise<JsonObject> {
  const { ref } = params;
  const none = { completion: { values: [], total: 0, hasMore: false } };
  if (!isObject(ref)) return wrong(ERRORS.params, '"ref" has to be an object.');
  const servers = await passing(caller, 'completion');
  const found =
    ref.type === 'ref/prompt'
      ? await promptNamed(caller, String(ref.name ?? ''))
      : await ownerOf(caller, String(ref.uri ?? ''));
  if (found === null || !servers.includes(found.server)) return none;
  const own = 'name' in found ? { name: found.name } : { uri: found.uri };
  return ask(caller, found.server, 'completion/complete', { ...params, ref: { ...ref, ...own } });
}

/** Asked of each server that passes its log on. */
export async function setLevel(caller: McpCaller, level: Json): Promise<void> {
  const servers = await passing(caller, 'logging');
  await Promise.allSettled(servers.map((server) => ask(caller, server, 'logging/setLevel', { level })));
}

/** What a server says unasked, as the gate passes it on; null where it does not. A change of its tools changes nothing until a human accepts it. */
export async function passedNotice(
  caller: McpCaller,
  server: string,
  { method, params }: { readonly method: string; readonly params: JsonObject },
): Promise<JsonObject | null> {
  const what = NOTICES[method];
  if (what === undefined || !(await passing(caller, what)).includes(server)) return null;
  const own =
    method === 'notifications/message'
      ? { logger: `${server}${typeof params.logger === 'string' ? `/${params.logger}` : ''}` }
      : {};
  return { jsonrpc: '2.0', method, params: { ...params, ...own } };
}

const NOTICES: Readonly<Record<string, string>> = {
  'notifications/message': 'logging',
  'notifications/resources/list_changed': 'resources',
  'notifications/prompts/list_changed': 'prompts',
};
