import type { Json, JsonObject } from '../canonical/json.ts';
import { calledName, type Request } from '../keyturn.ts';
import { mcpLimits } from '../limits.ts';
import type { McpCaller, WantedNotices } from './call.ts';
import { questionsOf } from './input.ts';
import { linkedContent, passing, prefixed } from './linked.ts';
import { ERRORS, isObject, wrong } from './message.ts';
import type { ClientInput } from './offered.ts';
import { withoutOwnMarks } from './own-marks.ts';
import type { ServerNotice } from './progress.ts';

type Method = Request<'mcp.ask'>['method'];

interface AskOptions extends Pick<Request<'mcp.ask'>, 'capabilities' | 'shared'> {
  /** What the request was about, in the words of the client: told with an error of a server that says nothing of it. */
  readonly about?: JsonObject | undefined;
}

/** The answer of a server; its error is one of the protocol, in the words of the server. */
async function ask(
  { face }: McpCaller,
  server: string,
  method: Method,
  params: JsonObject,
  { capabilities, shared, about }: AskOptions = {},
): Promise<JsonObject> {
  const { result, error } = await face.mcp.ask({
    ...{ server, method, params: params as never },
    ...(capabilities && { capabilities }),
    ...(shared && { shared }),
  });
  if (error === null) return withoutOwnMarks((result ?? {}) as JsonObject);
  const { code, message, data } = withoutOwnMarks(error as JsonObject);
  const words = `The server ${server} says: ${typeof message === 'string' ? message : ''}`;
  return wrong(typeof code === 'number' ? code : ERRORS.internal, words, data ?? about);
}

/** The same of what a server may answer with questions to the client, where a human accepted that these are passed on. */
async function askWith(
  caller: McpCaller,
  server: string,
  method: Method,
  params: JsonObject,
  input: ClientInput | null,
  about?: JsonObject,
): Promise<JsonObject> {
  const answers = (await passing(caller, 'input')).includes(server) ? input : null;
  const given = {
    ...(answers?.responses && { inputResponses: answers.responses as JsonObject }),
    ...(answers?.state && { requestState: answers.state }),
  };
  const capabilities = answers?.capabilities;
  const result = await ask(caller, server, method, { ...params, ...given }, { capabilities, about });
  if (result.resultType !== 'input_required') return result;
  return (
    questionsOf(result, server, answers) ??
    wrong(
      ERRORS.internal,
      `The server ${server} asked for input, and this gate does not pass its questions on.`,
    )
  );
}

/** What a server listed, and why that is not all of it; null where it is. */
interface Listed {
  readonly items: readonly JsonObject[];
  readonly cut: string | null;
}

/** Every item of a list, from all pages. A server that does not come to the end of it, or fails, adds what it gave so far. */
async function listed(caller: McpCaller, server: string, method: Method, member: string): Promise<Listed> {
  const found: JsonObject[] = [];
  const seen = new Set<string>();
  const { pages, tools: most } = mcpLimits;
  try {
    for (let cursor: string | undefined; ; ) {
      const page = await ask(caller, server, method, cursor === undefined ? {} : { cursor });
      const items: Json = page[member] ?? [];
      if (Array.isArray(items)) found.push(...items.filter(isObject));
      const { nextCursor } = page;
      if (found.length > most)
        return { items: found.slice(0, most), cut: `Only the first ${most} are listed.` };
      if (typeof nextCursor !== 'string') return { items: found, cut: null };
      if (seen.has(nextCursor)) return { items: found, cut: 'A page of it leads back to one before it.' };
      if (seen.size >= pages) return { items: found, cut: `It has more than ${pages} pages.` };
      seen.add(nextCursor);
      cursor = nextCursor;
    }
  } catch (error) {
    return { items: found, cut: `A page of it could not be read: ${(error as Error).message}` };
  }
}

/** The lists of all servers. `_meta` says of which of them it is not all, and is absent where it is all. */
export interface PassedList {
  readonly items: JsonObject[];
  readonly _meta?: { readonly 'keyturn/incomplete': Readonly<Record<string, string>> };
}

async function ofAll(
  caller: McpCaller,
  what: string,
  method: Method,
  member: string,
  name: (server: string, item: JsonObject) => JsonObject,
): Promise<PassedList> {
  const servers = await passing(caller, what);
  const lists = await Promise.all(
    servers.map(async (server) => ({ server, ...(await listed(caller, server, method, member)) })),
  );
  const items = lists.flatMap((one) => one.items.map((item) => name(one.server, item)));
  const cut = lists.flatMap((one) => (one.cut === null ? [] : [[one.server, one.cut]]));
  return { items, ...(cut.length > 0 && { _meta: { 'keyturn/incomplete': Object.fromEntries(cut) } }) };
}

const named = (member: string) => (server: string, item: JsonObject) => ({
  ...item,
  [member]: prefixed(server, String(item[member] ?? '')),
});

export const passedResources = (caller: McpCaller): Promise<PassedList> =>
  ofAll(caller, 'resources', 'resources/list', 'resources', named('uri'));

export const passedTemplates = (caller: McpCaller): Promise<PassedList> =>
  ofAll(caller, 'resources', 'resources/templates/list', 'resourceTemplates', named('uriTemplate'));

export const passedPrompts = (caller: McpCaller): Promise<PassedList> =>
  ofAll(caller, 'prompts', 'prompts/list', 'prompts', (server, item) => ({
    ...item,
    name: calledName(server, String(item.name ?? '')),
  }));

/** Null where no server passes it on. The uri of a link in a result has no server before it: it is that of the only one. */
export async function readPassed(
  caller: McpCaller,
  uri: string,
  input: ClientInput | null,
): Promise<JsonObject | null> {
  const found = await ownerOf(caller, uri);
  if (found === null) return null;
  const { server } = found;
  const { contents, ...rest } = await askWith(caller, server, 'resources/read', { uri: found.uri }, input, {
    uri,
  });
  if (rest.resultType === 'input_required') return rest;
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
    for (const prompt of (await listed(caller, server, 'prompts/list', 'prompts')).items)
      if (calledName(server, String(prompt.name ?? '')) === name)
        return { server, name: prompt.name as string };
  return null;
}

/** Null where no server passes it on. */
export async function getPassedPrompt(
  caller: McpCaller,
  { arguments: values, name }: JsonObject,
  input: ClientInput | null,
): Promise<JsonObject | null> {
  const found = await promptNamed(caller, String(name));
  if (found === null) return null;
  const params = { name: found.name, ...(isObject(values) && { arguments: values }) };
  const result = await askWith(caller, found.server, 'prompts/get', params, input);
  const { messages } = result;
  if (!Array.isArray(messages) || !(await passing(caller, 'resources')).includes(found.server)) return result;
  const named = (one: Json) =>
    isObject(one) && one.content !== undefined
      ? { ...one, content: linkedContent(one.content, found.server) }
      : one;
  return { ...result, messages: messages.map(named) };
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

const LEVELS: readonly Json[] = [
  ...['debug', 'info', 'notice', 'warning'],
  ...['error', 'critical', 'alert', 'emergency'],
];

/**
 * Asked of each server that passes its log on, where all of it reaches this caller alone. Where the servers work for other callers as well,
 * none of these is told their log, and none says how much of it is written.
 */
export async function setLevel(caller: McpCaller, level: Json): Promise<void> {
  if (!LEVELS.includes(level)) wrong(ERRORS.params, '"level" has to be one of the levels of a log.');
  if (caller.has_others) return;
  const servers = await passing(caller, 'logging');
  const shared = 'logging/setLevel';
  await Promise.allSettled(
    servers.map((server) => ask(caller, server, 'resources/read', { level }, { shared })),
  );
}

/** What a server says unasked, as the gate passes it on; null where it does not. A change of its tools changes nothing until a human accepts it. */
export async function passedNotice(
  caller: McpCaller,
  server: string,
  { method, params: said }: ServerNotice,
  wanted: WantedNotices,
): Promise<ServerNotice | null> {
  const params = withoutOwnMarks(said);
  const what = NOTICES[method];
  if (what === undefined || !isWanted(wanted, server, method, params)) return null;
  if (!(await passing(caller, what)).includes(server)) return null;
  if (method === 'notifications/resources/updated')
    return { method, params: { ...params, uri: watchedAs(wanted, server, params)! } };
  if (method !== 'notifications/message') return { method, params };
  const logger = `${server}${typeof params.logger === 'string' ? `/${params.logger}` : ''}`;
  return { method, params: { ...params, logger } };
}

export const isPassedNotice = ({ method }: ServerNotice): boolean => Object.hasOwn(NOTICES, method);

const NOTICES: Readonly<Record<string, 'logging' | 'resources' | 'prompts'>> = {
  'notifications/message': 'logging',
  'notifications/resources/list_changed': 'resources',
  'notifications/resources/updated': 'resources',
  'notifications/prompts/list_changed': 'prompts',
};

function isWanted(wanted: WantedNotices, server: string, method: string, params: JsonObject): boolean {
  if (method === 'notifications/resources/updated') return watchedAs(wanted, server, params) !== null;
  return wanted[NOTICES[method]!];
}

/** The uri of a resource as the client gave it: with the server before it, or without where only one server passes resources on. */
function watchedAs({ uris }: WantedNotices, server: string, { uri }: JsonObject): string | null {
  if (typeof uri !== 'string') return null;
  return [prefixed(server, uri), uri].find((one) => uris.has(one)) ?? null;
}

/** Asks the server to tell when a resource changes, once for all who watch it. Returns how to end that. */
export async function watchPassed(caller: McpCaller, uri: string): Promise<() => Promise<void>> {
  const { holders } = caller;
  const found = await ownerOf(caller, uri);
  if (found === null) return wrong(ERRORS.params, `There is no resource ${uri}.`, { uri });
  const key = prefixed(found.server, found.uri);
  const params = { uri: found.uri };
  const told = (shared: 'resources/subscribe' | 'resources/unsubscribe') =>
    ask(caller, found.server, 'resources/read', params, { shared });
  if (!holders.has(key)) await told('resources/subscribe');
  holders.set(key, (holders.get(key) ?? 0) + 1);
  return async () => {
    const left = holders.get(key)! - 1;
    if (left > 0) return void holders.set(key, left);
    holders.delete(key);
    // A server that is gone tells nothing any more.
    await told('resources/unsubscribe').catch(() => {});
  };
}
