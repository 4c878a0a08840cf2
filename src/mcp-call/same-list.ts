import type { Json } from '../canonical/json.ts';
import { mcpLimits } from '../limits.ts';
import type { ToolDefinition } from './definition.ts';

interface Kept {
  /** The line without its id: what stands before it, and after it. */
  readonly before: Buffer;
  readonly after: Buffer;
  readonly result: Json;
  readonly definitions: readonly ToolDefinition[];
}

/**
 * The last list of a server. It is asked for before each call, and is nearly always the same bytes but for the id of the request: these are
 * compared, and nothing of them is read again. One other byte, and the whole list is read.
 */
export class SameList {
  #kept: Kept | null = null;

  /** The result of this line, which answers this request; undefined where it has to be read. */
  resultIn(line: Buffer, id: number): Json | undefined {
    if (this.#kept === null) return undefined;
    const { before, after, result } = this.#kept;
    const text = String(id);
    const behind = line.length - after.length;
    const is_same =
      behind === before.length + text.length &&
      line.compare(before, 0, before.length, 0, before.length) === 0 &&
      line.compare(after, 0, after.length, behind) === 0 &&
      line.toString('latin1', before.length, behind) === text;
    return is_same ? result : undefined;
  }

  /** What the result of an earlier line defines; undefined where it is another one. */
  definitionsOf(result: Json): readonly ToolDefinition[] | undefined {
    return this.#kept?.result === result ? this.#kept.definitions : undefined;
  }

  keep(line: Buffer | null, id: number, result: Json, definitions: readonly ToolDefinition[]): void {
    const at = line === null || line.length > mcpLimits.kept_list_bytes ? null : idAt(line, id);
    this.#kept = at === null ? null : { ...partsOf(line!, at, id), result, definitions };
  }
}

function partsOf(line: Buffer, at: number, id: number) {
  // A copy: the line is a part of what the pipe gave.
  const kept = Buffer.from(line);
  return { before: kept.subarray(0, at), after: kept.subarray(at + String(id).length) };
}

/**
 * Where the id of a message stands, if it is its first or its last member as servers write it. There it cannot be a part of a text or of
 * another value. Null where it is elsewhere.
 */
function idAt(line: Buffer, id: number): number | null {
  const last = `"id":${id}}`;
  if (line.toString('latin1', line.length - last.length) === last) return line.length - last.length + 5;
  const first = `{"jsonrpc":"2.0","id":${id},`;
  return line.toString('latin1', 0, first.length) === first ? 22 : null;
}
