import { isDeepFrozen } from '../canonical/frozen.ts';
import type { JsonObject } from '../canonical/json.ts';
import type { Result } from '../keyturn.ts';
import type { McpCaller } from './call.ts';
import { CACHE } from './hello.ts';
import { RenderedResult } from './message.ts';
import { offeredFrom } from './offered.ts';

type Registered = Result<'tools.list'>['tools'];

interface KeptList {
  readonly registered: Registered;
  readonly results: Map<boolean, RenderedResult>;
}

/**
 * By what the accepted servers offer, which is another value whenever it changes. A list that was rendered is that of the same servers, and
 * is used again only with the same tools of the registry: everything else in it is part of this program.
 */
const kept = new WeakMap<Result<'mcp.tools'>, KeptList>();

/** Everything that can be called, as the answer to `tools/list`. */
export async function listTools({ face }: McpCaller, is_modern: boolean): Promise<RenderedResult> {
  const [{ tools: registered }, gated] = await Promise.all([face.tools.list(), face.mcp.tools()]);
  const known = kept.get(gated);
  const list = known && isSame(known.registered, registered) ? known : { registered, results: new Map() };
  if (list !== known && isDeepFrozen(gated) && registered.every(isDeepFrozen)) kept.set(gated, list);
  const found = list.results.get(is_modern) ?? new RenderedResult(listOf(registered, gated, is_modern));
  list.results.set(is_modern, found);
  return found;
}

function listOf(registered: Registered, gated: Result<'mcp.tools'>, is_modern: boolean): JsonObject {
  const tools = [...offeredFrom(registered, gated).values()].map(({ definition, is_shadow }) =>
    is_modern || is_shadow ? definition : { ...definition, execution: { taskSupport: 'optional' } },
  );
  return is_modern ? { resultType: 'complete', tools, ...CACHE } : { tools };
}

/** Only frozen values are kept, so the same ones have the same contents. */
function isSame(before: Registered, now: Registered): boolean {
  return before.length === now.length && before.every((one, n) => one === now[n]);
}
