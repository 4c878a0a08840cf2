import { PassThrough } from 'node:stream';
import { expect, onTestFinished } from 'vitest';
import type { McpCaller } from '../../src/mcp/call.ts';
import { entriesFromNow } from '../../src/mcp/notices.ts';
import { serveStdio } from '../../src/mcp/stdio.ts';
import { accepted, mcpProject, SERVERS } from '../mcp-call/servers.ts';

/** A message of the gate: an answer, or what it tells unasked. */
export interface Heard {
  readonly id?: unknown;
  readonly method?: string;
  // biome-ignore lint/suspicious/noExplicitAny: what a test reads out of it
  readonly params?: any;
  // biome-ignore lint/suspicious/noExplicitAny: what a test reads out of it
  readonly result?: any;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

/** The gate over pipes that the test holds, for an agent without a key. */
export async function piped(
  more: object = {},
  {
    mode = 'plain',
    hold_ms = 100,
    script = SERVERS.odd as string,
    link = null as string | null,
    clock = undefined as (() => Date) | undefined,
  } = {},
) {
  const p = await mcpProject({ odd: { script, args: [mode, '{files}/log'], more } }, clock);
  await accepted(p.keyturn, 'odd', p.ada);
  await p.keyturn.people.enrol({ name: 'bot', principal: 'agent', public_key: null, signer: p.ada });
  const [input, output] = [new PassThrough(), new PassThrough()];
  const caller: McpCaller = {
    ...{ name: 'bot', signer: null, face: p.keyturn.as({ name: 'bot' }), ask: null },
    ...{
      link: async () => link,
      hold_ms,
      holders: new Map(),
      hear: p.keyturn.host.hearServers,
    },
    entries: (signal) => entriesFromNow(p.keyturn.ledger, signal),
  };
  const served = serveStdio({ input, output, open: async () => caller });
  const answers: Heard[] = [];
  let rest = '';
  output.on('data', (chunk) => {
    const lines = `${rest}${chunk}`.split('\n');
    rest = lines.pop()!;
    answers.push(...lines.map((line) => JSON.parse(line)));
  });
  onTestFinished(async () => {
    input.end();
    await served;
  });
  const raw = (line: string) => input.write(`${line}\n`);
  const send = (id: number, method: string, params: object) =>
    raw(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
  const act = (id: number, values: object) => send(id, 'tools/call', { name: 'odd__act', arguments: values });
  const answer = async (id: number) => {
    await expect.poll(() => answers.some((one) => one.id === id), { timeout: 60_000 }).toBe(true);
    return answers.find((one) => one.id === id)!;
  };
  const told = (method: string) => answers.filter((one) => one.method === method).map(({ params }) => params);
  return { p, input, raw, send, act, answer, answers, told };
}
