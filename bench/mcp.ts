import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Keyturn } from '../src/keyturn.ts';
import { commitInTurn, openStore } from './facts.ts';
import { createProject } from './project.ts';
import { timed, usual } from './timing.ts';

interface Asked {
  readonly root: string;
  readonly cli: string;
  readonly filesystem: string;
  readonly many: string;
  readonly calls: number;
}

export interface McpTimes {
  readonly direct_ms: number;
  readonly gated_ms: number;
  readonly commit_ms: number;
  /** One at a time, and 32 at once. */
  readonly alone_per_s: number;
  readonly together_per_s: number;
  readonly list_direct_ms: number;
  readonly list_gated_ms: number;
  /** Of a server that answers with a fixed text. */
  readonly list_fixed_ms: number;
}

/** Calls before any is measured, until most of the code of the gate is compiled: it lives as long as the agent that it serves. */
const WARM_UP = 150;
const AT_ONCE = 32;
const SERVERS = 10;

/** A server over standard input and output, asked by hand: the client of an SDK would be measured, too. */
class Line {
  readonly #child;
  readonly #waiting = new Map<number, (message: { error?: unknown; result?: unknown }) => void>();
  #last = 0;
  #heard_ms = 0;

  constructor(words: readonly string[]) {
    this.#child = spawn(process.execPath, words, { stdio: ['pipe', 'pipe', 'ignore'] });
    createInterface({ input: this.#child.stdout }).on('line', (line) => {
      this.#heard_ms = performance.now();
      const message = JSON.parse(line);
      this.#waiting.get(message.id)?.(message);
    });
  }

  async ask(method: string, params: object): Promise<unknown> {
    this.#last += 1;
    const id = this.#last;
    const answered = new Promise<{ error?: unknown; result?: unknown }>((done) =>
      this.#waiting.set(id, done),
    );
    this.#child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    const { error, result } = await answered;
    this.#waiting.delete(id);
    if (error || (result as { isError?: boolean }).isError) throw new Error(JSON.stringify(error ?? result));
    return result;
  }

  /** Until the whole answer was there. That a client reads ten times as many tools is its own cost, and as high without the gate. */
  async listing(): Promise<number> {
    const asked_ms = performance.now();
    await this.ask('tools/list', {});
    return this.#heard_ms - asked_ms;
  }

  async begin(): Promise<this> {
    const clientInfo = { name: 'bench', version: '1' };
    await this.ask('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo });
    return this;
  }

  close(): void {
    this.#child.kill();
  }
}

/** Lists over ten servers; then server-filesystem directly and through the gate, one commit between them. */
export async function measureMcp({ root, cli, filesystem, many, calls }: Asked): Promise<McpTimes> {
  const { keyturn, ada } = await createProject(root);
  const files = join(root, 'files');
  mkdirSync(files);
  const server = async (name: string, args: string[]) => {
    keyturn.host.configureServer(name, {
      executable: process.execPath,
      args,
      sandbox: 'none',
      run_as: 'root',
    });
    await keyturn.mcp.accept({ looked: await keyturn.host.lookAtServer(name), reason: 'bench', signer: ada });
  };
  await server('fs', [filesystem, files]);
  for (let n = 0; n < SERVERS; n++) await server(`many-${n}`, [many]);
  mkdirSync(join(root, '.keyturn', 'agents'), { recursive: true });
  const { public_key } = Keyturn.createAgentKey(join(root, '.keyturn', 'agents', 'bench.key'));
  await keyturn.people.enrol({ name: 'bench', principal: 'agent', public_key, signer: ada });
  const all = { delegate: 'bench', actions: ['mcp:fs:*'], ttl_s: 3600, approves: true };
  await keyturn.agents.delegate({ ...all, grant: { uses: 10_000 }, reason: 'bench', signer: ada });
  const store = await openStore(join(root, 'commit.db'), 'create');
  await commitInTurn(store, 64);

  const direct = await new Line([filesystem, files]).begin();
  const gate = await new Line([cli, 'mcp', '--project', root, '--as', 'bench']).begin();
  const slowest = await new Line([many]).begin();
  const fixed = await new Line([many, 'fixed']).begin();
  let last = 0;
  const write = (line: Line, name: string) => {
    last += 1;
    const path = join(files, `${last}.txt`);
    return line.ask('tools/call', { name, arguments: { path, content: 'x' } });
  };
  // Calls and lists are compared in rounds of their own: a list of 500 tools between two calls would push the code of the other out of the caches.
  const called = async () => ({
    direct: await timed(() => write(direct, 'write_file')),
    commit: await timed(() => commitInTurn(store, 1)),
    gated: await timed(() => write(gate, 'fs__write_file')),
  });
  const listed = async () => ({
    direct: await slowest.listing(),
    fixed: await fixed.listing(),
    gated: await gate.listing(),
  });
  const rounds = async <T>(measured: () => Promise<T>): Promise<T[]> => {
    for (let n = 0; n < WARM_UP; n++) await measured();
    const times: T[] = [];
    for (let n = 0; n < calls; n++) times.push(await measured());
    return times;
  };
  const lists = await rounds(listed);
  const times = await rounds(called);
  const rate = async (at_once: number) => {
    const total = Math.max(AT_ONCE * 2, calls);
    let left = total;
    const worker = async () => {
      while (left-- > 0) await write(gate, 'fs__write_file');
    };
    const ms = await timed(() => Promise.all(Array.from({ length: at_once }, worker)));
    return (total / ms) * 1000;
  };
  await rate(AT_ONCE);
  const [alone, together] = [
    [await rate(1), await rate(1)],
    [await rate(AT_ONCE), await rate(AT_ONCE)],
  ];
  for (const line of [direct, gate, slowest, fixed]) line.close();
  await store.close();
  await keyturn.close();
  const of = <T>(some: readonly T[], pick: (time: T) => number) => usual(some.map(pick));
  return {
    direct_ms: of(times, ({ direct: ms }) => ms),
    gated_ms: of(times, ({ gated }) => gated),
    commit_ms: of(times, ({ commit }) => commit),
    alone_per_s: Math.max(...alone),
    together_per_s: Math.max(...together),
    list_direct_ms: of(lists, ({ direct: ms }) => ms),
    list_gated_ms: of(lists, ({ gated }) => gated),
    list_fixed_ms: of(lists, ({ fixed: ms }) => ms),
  };
}
