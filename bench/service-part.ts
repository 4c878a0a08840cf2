import { type ChildProcess, spawn } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface, type Interface } from 'node:readline';
import { Keyturn } from '../src/keyturn.ts';
import { serve } from '../src/serve/serve.ts';
import { longestTurn } from './loop.ts';
import { openProject } from './project.ts';
import { timed } from './timing.ts';

type Commands = Readonly<Record<string, (...words: string[]) => unknown>>;

/** Does what each line of the input says, and answers with a line. */
async function obey(first: unknown, commands: Commands): Promise<void> {
  const tell = (value: unknown) => process.stdout.write(`${JSON.stringify(value ?? null)}\n`);
  tell(first);
  for await (const line of createInterface(process.stdin)) {
    const [name = '', ...words] = line.split(' ');
    tell(await commands[name]!(...words));
  }
}

/** A process of its own that does what it is told. */
export class Part {
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  private constructor(child: ChildProcess, lines: Interface) {
    this.#child = child;
    this.#lines = lines[Symbol.asyncIterator]();
  }

  /** `worker` is the program of the bench, where this process is another one. */
  static async start<T>(
    job: string,
    options: object,
    worker: readonly string[] = [process.argv[1]!],
  ): Promise<[Part, T]> {
    const words = ['--expose-gc', ...worker, job, JSON.stringify(options)];
    const child = spawn(process.execPath, words, { stdio: ['pipe', 'pipe', 'inherit'] });
    const part = new Part(child, createInterface(child.stdout!));
    return [part, (await part.#next()) as T];
  }

  ask<T>(line: string): Promise<T> {
    this.#child.stdin!.write(`${line}\n`);
    return this.#next() as Promise<T>;
  }

  /** The time that it was on a core, in milliseconds. */
  cpu(): Promise<number> {
    return this.ask('cpu');
  }

  end(): void {
    this.#child.kill('SIGKILL');
  }

  async #next(): Promise<unknown> {
    const { value, done } = await this.#lines.next();
    if (done) throw new Error('A process of the bench ended.');
    return JSON.parse(value);
  }
}

const cpu = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

export interface Serving {
  readonly port: number;
  readonly link: string;
}

/** The service of a project, as `keyturn serve` runs it. */
export async function servicePart({ root }: { root: string }): Promise<void> {
  const keyturn = await Keyturn.open({ at: root });
  const { port, link } = await new Promise<Serving>((onListening, failed) => {
    const { signal } = new AbortController();
    serve(keyturn, { port: 0, most: 2, grace_ms: 0, signal, onListening }).catch(failed);
  });
  let loop = longestTurn();
  await obey({ port, link: link.split('#link=')[1]! } satisfies Serving, {
    cpu,
    watch: () => {
      loop.end();
      loop = longestTurn();
    },
    longest: () => loop.end(),
    heap: async () => {
      // What ends with a request can be given back a turn later.
      for (let i = 0; i < 4; i++) {
        await new Promise((done) => setTimeout(done, 50));
        globalThis.gc!();
      }
      return process.memoryUsage().heapUsed;
    },
  });
}

/** node:http that answers the same bytes to whatever is asked. */
export async function plainPart({ head, body }: { head: string; body: string }): Promise<void> {
  const [, ...lines] = head.trimEnd().split('\r\n');
  const headers = lines.map((line) => line.split(/: (.*)/).slice(0, 2) as [string, string]);
  const own = new Set(['date', 'connection', 'keep-alive']);
  const told = Object.fromEntries(headers.filter(([name]) => !own.has(name.toLowerCase())));
  const server = createServer((_, response) => {
    response.writeHead(200, told);
    response.end(body);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  await obey((server.address() as AddressInfo).port, { cpu });
}

/** Proposals in the process that has the project open. */
export async function proposingPart({ root }: { root: string }): Promise<void> {
  const { keyturn } = await openProject(root);
  const face = keyturn.as({ name: 'planner', account: null });
  await obey(null, {
    propose: async (count, callers) => {
      let left = Number(count);
      const caller = async () => {
        while (left-- > 0) await face.intents.propose(PROPOSAL);
      };
      return timed(() => Promise.all(Array.from({ length: Number(callers) }, caller)));
    },
  });
}

export const PROPOSAL = {
  declared_goal: 'Measure.',
  effect: { kind: 'tool', tool: 'bare', arguments: {} },
} as const;
