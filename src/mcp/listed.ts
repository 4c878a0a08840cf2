import { isDeepFrozen } from '../canonical/frozen.ts';
import type { JsonObject } from '../canonical/json.ts';
import type { Result } from '../keyturn.ts';
import type { McpCaller } from './call.ts';
import { CACHE } from './hello.ts';
import { RenderedResult } from './message.ts';
import { hiddenTools, offeredFrom } from './offered.ts';

type Registered = Result<'tools.list'>['tools'];

interface KeptList {
  readonly registered: Registered;
  readonly results: Map<string, RenderedResult>;
}

/**
 * By what the accepted servers offer, which is another value whenever it changes. A list that was rendered is that of the same servers, and
 * is used again only with the same tools of the registry: everything else in it is part of this program.
 */
const kept = new WeakMap<Result<'mcp.tools'>, KeptList>();

/** Everything that can be called, as the answer to `tools/list`. */
export async function listTools({ face, ask }: McpCaller, is_modern: boolean): Promise<RenderedResult> {
  const [{ tools: registered }, gated] = await Promise.all([face.tools.list(), face.mcp.tools()]);
  const known = kept.get(gated);
  const list = known && isSame(known.registered, registered) ? known : { registered, results: new Map() };
  if (list !== known && isDeepFrozen(gated) && registered.every(isDeepFrozen)) kept.set(gated, list);
  const how = { is_modern, can_ask: ask !== null };
  const key = JSON.stringify(how);
  const found = list.results.get(key) ?? new RenderedResult(listOf(registered, gated, how));
  list.results.set(key, found);
  return found;
}

function listOf(
  registered: Registered,
  gated: Result<'mcp.tools'>,
  { is_modern, can_ask }: { readonly is_modern: boolean; readonly can_ask: boolean },
): JsonObject {
  const tools = [...offeredFrom(registered, gated, { can_ask }).values()].map(({ definition, is_shadow }) =>
    is_modern || is_shadow ? definition : { ...definition, execution: { taskSupport: 'optional' } },
  );
  const hidden = hiddenTools(registered, gated);
  const list = { tools, ...(hidden.length > 0 && { _meta: { 'keyturn/hidden': hidden } }) };
  return is_modern ? { resultType: 'complete', ...list, ...CACHE } : list;
}

/** Only frozen values are kept, so the same ones have the same contents. */
function isSame(before: Registered, now: Registered): boolean {
  return before.length === now.length && before.every((one, n) => one === now[n]);
}
