import type { Json, JsonObject } from '../canonical/json.ts';
import { mcpLimits } from '../limits.ts';
import type { McpCaller, WantedNotices } from './call.ts';
import { inputIn } from './input.ts';
import { ERRORS, isObject, type Message, wrong } from './message.ts';
import { tellChanges, WatchedResources } from './notices.ts';
import type { ServerNotice } from './progress.ts';
import { followTask } from './task-follow.ts';
import { lookAtTask, type TaskReader } from './tasks.ts';

/**
 * `subscriptions/listen` of the stateless protocol: until the client cancels it or is gone. The first message says what is told, and what
 * happened meanwhile is told after it.
 */
export async function listenFor(
  caller: McpCaller,
  message: Message,
  tell: (notice: ServerNotice, more: JsonObject) => void,
  signal: AbortSignal,
): Promise<JsonObject> {
  const { id, params } = message;
  const input = inputIn(message);
  if (!isObject(params.notifications)) return wrong(ERRORS.params, '"notifications" has to be an object.');
  const { asked, tasks, ...lists } = filterIn(params.notifications);
  const reader = { is_modern: true, input };
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
    const taskIds = await tasksFor(caller, tasks, reader);
    for (const taskId of taskIds) {
      const onChange = (task: JsonObject) => pass({ method: 'notifications/tasks', params: task });
      followTask(caller, taskId, reader, { onChange }, signal).catch(() => {});
    }
    const notifications = { ...acknowledged(lists, watched.uris), ...(taskIds.length > 0 && { taskIds }) };
    tell({ method: 'notifications/subscriptions/acknowledged', params: { notifications } }, { _meta });
    pass = (notice) => tell(notice, { _meta });
    early.forEach(pass);
    if (!signal.aborted) await new Promise((done) => signal.addEventListener('abort', done, { once: true }));
    return { _meta };
  } finally {
    await watched.close();
  }
}

/** Of these, the tasks of the caller. */
async function tasksFor(caller: McpCaller, asked: readonly string[], reader: TaskReader): Promise<string[]> {
  const found: string[] = [];
  for (const taskId of new Set(asked.slice(0, mcpLimits.at_once)))
    await lookAtTask(caller, taskId, reader).then(
      () => found.push(taskId),
      () => {},
    );
  return found;
}

/** What a client of the stateless protocol asks for, as far as it is served. */
function filterIn(notifications: JsonObject): Omit<WantedNotices, 'uris'> & {
  readonly asked: string[];
  readonly tasks: string[];
} {
  const { toolsListChanged, promptsListChanged, resourcesListChanged, resourceSubscriptions, taskIds } =
    notifications;
  const texts = (value: Json | undefined) =>
    Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
  return {
    tools: toolsListChanged === true,
    prompts: promptsListChanged === true,
    resources: resourcesListChanged === true,
    logging: false,
    asked: texts(resourceSubscriptions),
    tasks: texts(taskIds),
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
