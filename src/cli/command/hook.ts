import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { shellWord } from '../../canonical/shell-word.ts';
import { hookAnswer } from '../../hook/answer.ts';
import { CLIENTS } from '../../hook/client.ts';
import { Keyturn } from '../../keyturn.ts';
import { hookLimits } from '../../limits.ts';
import { Refusal, refuse } from '../../refusal.ts';
import type { Answer, Call } from '../answer.ts';
import { closingProject, folderOf } from '../project.ts';
import type { Result } from '../schema.ts';
import { tellError } from '../tell.ts';
import { agentKeyOf } from './mcp.ts';

/** One answer to one call, in time or not at all: what is late would be a yes for the client. */
export async function answer(call: Call): Promise<Answer> {
  const late = setTimeout(() => {
    tellError('hook', new Refusal('HOOK_LATE'), false);
    process.exit(2);
  }, hookLimits.answer_ms);
  try {
    const bytes = await readAsked();
    return await closingProject(await Keyturn.open({ at: folderOf(call) }), async (keyturn) => {
      const told = await hookAnswer(callerOf(keyturn, call), bytes);
      const result: Result<'hook'> = { answer: told };
      return { result, lines: told === null ? [] : [told] };
    });
  } finally {
    clearTimeout(late);
  }
}

function callerOf(keyturn: Keyturn, { options }: Call) {
  const name = options.as ?? refuse('USAGE', 'Name the agent with --as.');
  const client =
    CLIENTS.find((one) => one === options.client) ?? refuse('USAGE', 'Name the client with --client.');
  const path = options.agentKey ?? agentKeyOf(keyturn, name);
  const { root } = keyturn.layout;
  return {
    client,
    name,
    signer: existsSync(path) ? Keyturn.agentSigner(name, path) : null,
    face: keyturn.as({ name, account: keyturn.host.account }),
    root,
    waiting: (intent_id: string) =>
      [...thisProgram(), 'wait', intent_id, '--output', '--project', root].map(shellWord).join(' '),
  };
}

/** By its path: what a client starts must not follow the PATH that an agent can set. */
export function thisProgram(): string[] {
  return [process.execPath, resolve(process.argv[1] ?? refuse('INTERNAL'))];
}

async function readAsked(): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let total = 0;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    total += chunk.length;
    if (total > hookLimits.input_bytes)
      refuse('INPUT_TOO_LARGE', `A call of more than ${hookLimits.input_bytes} bytes is not let through.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
