import type { Readable, Writable } from 'node:stream';
import type { JsonObject } from '../canonical/json.ts';
import { mcpLimits } from '../limits.ts';
import type { McpCaller } from './call.ts';
import { McpEndpoint } from './endpoint.ts';
import { ERRORS, errorFor, errorOf, idIn, messageIn, messageParts, type Response } from './message.ts';
import { WatchedResources } from './notices.ts';

export interface StdioRequest {
  readonly input: Readable;
  readonly output: Writable;
  readonly open: () => Promise<McpCaller>;
}

/** Serves one client line by line, until it closes its end. What runs then runs to its end; what waits goes on waiting in the ledger. */
export async function serveStdio({ input, output, open }: StdioRequest): Promise<void> {
  const gone = new AbortController();
  const going = new Set<Promise<void>>();
  const write = (message: Response | JsonObject): Promise<boolean> =>
    new Promise((done) => {
      const parts = messageParts(message, '', '\n');
      // One system call for all parts, and none of another message between them.
      output.cork();
      for (const [i, part] of parts.entries())
        output.write(part, (error) => i === parts.length - 1 && done(!error));
      output.uncork();
    });
  output.on('error', () => gone.abort());
  // What cannot be written is left out: nothing that one message brings ends the process of all others.
  const notify = (message: JsonObject) => void write(message).catch(() => {});
  const endpoint = new McpEndpoint(once(open), { notify, watched: new WatchedResources(), is_lasting: true });
  const take = async (line: Buffer): Promise<void> => {
    const answered = await answerTo(endpoint, line, gone.signal);
    if (answered === null) return;
    const { response, written } = answered;
    const is_written = await write(response).catch(async (error: unknown) => {
      await write(errorOf(response.id, error));
      return false;
    });
    // Where this fails, the same call gets the recorded answer once more.
    if (is_written) await written().catch(() => {});
  };
  const begin = (line: Buffer) => {
    const done = take(line).finally(() => going.delete(done));
    going.add(done);
  };
  await eachLine(
    input,
    begin,
    () => void write(errorFor(null, ERRORS.request, 'INPUT_TOO_LARGE: a message is too long.')),
  );
  gone.abort(new Error('The client is gone.'));
  await Promise.allSettled(going);
  await endpoint.close();
}

/** What failed is tried again by the next request. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | null = null;
  return () => {
    made ??= make();
    made.catch(() => {
      made = null;
    });
    return made;
  };
}

async function answerTo(endpoint: McpEndpoint, line: Buffer, gone: AbortSignal) {
  try {
    const message = messageIn(line);
    return message && (await endpoint.take(message, gone));
  } catch (error) {
    return { response: errorOf(idIn(line), error), written: async () => {} };
  }
}

/** Whole lines, none longer than a message may be. What is too long is left out, up to its end. */
async function eachLine(input: Readable, tell: (line: Buffer) => void, tooLong: () => void): Promise<void> {
  let parts: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of input) {
    let rest = chunk as Buffer;
    for (let end = rest.indexOf(0x0a); ; end = rest.indexOf(0x0a)) {
      const part = end < 0 ? rest : rest.subarray(0, end);
      bytes += part.length;
      if (bytes <= mcpLimits.message_bytes) parts.push(part);
      if (end < 0) break;
      if (bytes > mcpLimits.message_bytes) tooLong();
      else if (bytes > 0) tell(Buffer.concat(parts));
      parts = [];
      bytes = 0;
      rest = rest.subarray(end + 1);
    }
  }
}
