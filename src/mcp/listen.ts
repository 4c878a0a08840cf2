import type { JsonObject } from '../canonical/json.ts';
import { mcpLimits } from '../limits.ts';
import type { McpCaller, WantedNotices } from './call.ts';
import { ERRORS, isObject, type Message, wrong } from './message.ts';
import { tellChanges, WatchedResources } from './notices.ts';
import type { ServerNotice } from './progress.ts';

/**
 * `subscriptions/listen` of the stateless protocol: until the client cancels it or is gone. The first message says what is told, and what
 * happened meanwhile is told after it.
 */
export async function listenFor(
  caller: McpCaller,
  { id, params }: Message,
  tell: (notice: ServerNotice, more: JsonObject) => void,
  signal: AbortSignal,
): Promise<JsonObject> {
  if (!isObject(params.notifications)) return wrong(ERRORS.params, '"notifications" has to be an object.');
  const { asked, ...lists } = filterIn(params.notifications);
  const _meta = { 'io.modelcontextprotocol/subscriptionId': id };
  const watched = new WatchedResources();
  try {
    const early: ServerNotice[] = [];
    let pass: (notice: ServerNotice) => void = (notice) => {
      if (early.length < mcpLimits.unread) early.push(notice);
    };
    await tellChanges(caller, { ...lists, uris: watched }, (notice) => pass(notice), signal);
    // What cannot be watched is left out of what is acknowledged.
    for (const uri of asked) await watched.add(caller, uri).catch(() => {});
    const notifications = acknowledged(lists, watched.uris);
    tell({ method: 'notifications/subscriptions/acknowledged', params: { notifications } }, { _meta });
    pass = (notice) => tell(notice, { _meta });
    early.forEach(pass);
    if (!signal.aborted) await new Promise((done) => signal.addEventListener('abort', done, { once: true }));
    return { _meta };
  } finally {
    await watched.close();
  }
}

/** What a client of the stateless protocol asks for, as far as it is served. */
function filterIn(notifications: JsonObject): Omit<WantedNotices, 'uris'> & { readonly asked: string[] } {
  const { toolsListChanged, promptsListChanged, resourcesListChanged, resourceSubscriptions } = notifications;
  const uris = Array.isArray(resourceSubscriptions) ? resourceSubscriptions : [];
  return {
    tools: toolsListChanged === true,
    prompts: promptsListChanged === true,
    resources: resourcesListChanged === true,
    logging: false,
    asked: uris.filter((uri) => typeof uri === 'string'),
  };
}

function acknowledged(
  { tools, prompts, resources }: Omit<WantedNotices, 'uris'>,
  uris: string[],
): JsonObject {
  return {
    ...(tools && { toolsListChanged: true }),
    ...(prompts && { promptsListChanged: true }),
    ...(resources && { resourcesListChanged: true }),
    ...(uris.length > 0 && { resourceSubscriptions: uris }),
  };
}
