import type { JsonObject } from '../canonical/json.ts';
import type { McpCaller } from './call.ts';
import { CACHE } from './hello.ts';
import { inputIn } from './input.ts';
import { listTools } from './listed.ts';
import { ERRORS, type Message, type RenderedResult, textIn, wrong } from './message.ts';
import type { WatchedResources } from './notices.ts';
import {
  completed as completion,
  getPassedPrompt,
  type PassedList,
  passedPrompts,
  passedTemplates,
  readPassed,
  setLevel,
} from './passed.ts';
import { getPrompt, listPrompts } from './prompts.ts';
import { isOwnResource, listResources, readResource } from './resources.ts';

/** What is asked for besides calls and tasks; null for a method that is none of these. */
export async function answerAsked(
  caller: McpCaller,
  message: Message,
  watched: WatchedResources | null,
): Promise<JsonObject | RenderedResult | null> {
  const { method, params, is_modern } = message;
  switch (method) {
    case 'tools/list':
      return listTools(caller, is_modern);
    case 'resources/list':
      return { ...(await listResources(caller, params)), ...(is_modern && CACHE) };
    case 'resources/templates/list':
      return templatesOf(await passedTemplates(caller), is_modern);
    case 'resources/read': {
      const uri = textIn(params, 'uri');
      const read = isOwnResource(uri) ? null : await readPassed(caller, uri, inputIn(message));
      return { ...(read ?? (await readResource(caller, uri))), ...(is_modern && CACHE) };
    }
    case 'prompts/list':
      return promptsOf(await passedPrompts(caller), is_modern);
    case 'prompts/get': {
      const name = textIn(params, 'name');
      return (await getPassedPrompt(caller, params, inputIn(message))) ?? getPrompt(name);
    }
    case 'completion/complete':
      return completion(caller, params);
    case 'logging/setLevel':
      await setLevel(caller, params.level ?? null);
      return {};
    case 'resources/subscribe':
      await requireWatched(watched).add(caller, textIn(params, 'uri'));
      return {};
    case 'resources/unsubscribe':
      await requireWatched(watched).remove(textIn(params, 'uri'));
      return {};
  }
  return null;
}

function templatesOf({ items, ...more }: PassedList, is_modern: boolean): JsonObject {
  return { resourceTemplates: items, ...more, ...(is_modern && CACHE) };
}

function promptsOf({ items, ...more }: PassedList, is_modern: boolean): JsonObject {
  return { prompts: [...listPrompts(), ...items], ...more, ...(is_modern && CACHE) };
}

function requireWatched(watched: WatchedResources | null): WatchedResources {
  return watched ?? wrong(ERRORS.request, 'Watching a resource needs a session.');
}
