import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import { sha256 } from '../../src/canonical/digest.ts';
import { fileFolder, makeProject, type Project } from './project.ts';
import { ended, type Laptop, laptop, served } from './remote-scene.ts';

/** A program between the command line and a real service. It knows the session, and changes what passes. */

// biome-ignore lint/suspicious/noExplicitAny: the answers of all verbs
export type Body = any;
/** What becomes of an answer; undefined leaves it as it is. */
export type Lie = (path: string, body: Body, asked: Body) => Body | Raw | undefined;
export interface Raw {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

export interface Liar {
  readonly address: string;
  /** Lies for as long as the act takes. */
  lying<T>(told: Lie, act: () => Promise<T>): Promise<T>;
  /** The machine of a user who is logged in, with the same session at this address: what a thief of the login would do, too. */
  laptopOf(project: Project, near: Laptop): Laptop;
  close(): void;
}

/** The first draft is only looked at, before the passphrase is asked for; the second one is signed. */
export const afterLook = () => {
  let drafts = 0;
  return () => ++drafts > 1;
};

/** Changes the statements that are to be signed, at this verb. */
export function drafting(
  verb: string,
  change: (statements: string[]) => string[],
  is_signed = afterLook(),
): Lie {
  return (path, body) => {
    if (!path.endsWith(`/${verb}`) || !body.draft || !is_signed()) return undefined;
    return { ...body, draft: { ...body.draft, statements: change(body.draft.statements) } };
  };
}

export const edited = (verb: string, from: string | RegExp, to: string): Lie =>
  drafting(verb, (all) => all.map((one) => one.replace(from, to)));

/** Changes the answer of this verb. */
export const answering =
  (verb: string, change: (body: Body) => Body): Lie =>
  (path, body) =>
    path.endsWith(`/${verb}`) ? change(body) : undefined;

interface FarScene {
  readonly project: Project;
  readonly liar: Liar;
  /** Logged in, and asks the service itself. */
  readonly near: Laptop;
  /** The same person, who asks through the liar. */
  readonly far: Laptop;
}

/** A project with its service, and the machine of its human, for one test file. In the end the ledger verifies. */
export function farScene() {
  const folder = fileFolder();
  const scene = {} as { -readonly [K in keyof FarScene]: FarScene[K] };
  let end = async () => {};
  beforeAll(async () => {
    for (const name of ['host', 'laptop']) mkdirSync(join(folder, name));
    scene.project = await makeProject(join(folder, 'host'));
    const service = await served(scene.project);
    scene.liar = await liarBefore(() => service.address);
    scene.near = laptop(scene.project, join(folder, 'laptop'), () => service.address);
    await scene.near.login();
    scene.far = scene.liar.laptopOf(scene.project, scene.near);
    end = () => ended(service);
  });
  afterAll(async () => {
    await scene.project.inside(({ ledger }) => ledger.verify({ deep: true }));
    scene.liar.close();
    await end();
  });
  /** Nothing is signed: the service is refused, whichever way it lies. */
  const refusing = async (
    lies: readonly Lie[],
    words: readonly string[],
    ...turns: (readonly [string, string])[]
  ): Promise<void> => {
    for (const lie of lies) {
      const { code, stderr } = await scene.liar.lying(lie, () => scene.far.talk(words, ...turns));
      expect([code, stderr]).toEqual([1, expect.stringContaining('ACT_OTHER')]);
    }
  };
  return { scene: scene as FarScene, refusing };
}

/** The headers of a request that is signed anew: a signature of a caller is for the address of the liar. */
type Resign = (asked: { readonly method: string; readonly path: string; readonly body?: string }) => object;

export async function liarBefore(service: () => string, resign?: Resign): Promise<Liar> {
  let lie: Lie = () => undefined;
  const between = createServer((request, response) => void pass(service(), lie, request, response, resign));
  await new Promise<void>((done) => between.listen(0, 'localhost', done));
  const address = `http://localhost:${(between.address() as AddressInfo).port}`;
  return {
    address,
    lying: async (told, act) => {
      lie = told;
      try {
        return await act();
      } finally {
        lie = () => undefined;
      }
    },
    laptopOf: (project, near) => {
      const kept = join(near.folder, '.config', 'keyturn');
      const login = JSON.parse(readFileSync(join(kept, readdirSync(kept)[0]!), 'utf8'));
      const file = join(kept, `${sha256(address).slice(0, 16)}.json`);
      writeFileSync(file, JSON.stringify({ ...login, service: address }), { mode: 0o600 });
      return laptop(project, near.folder, () => address);
    },
    close: () => void between.close(),
  };
}

async function bodyIn(message: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of message) parts.push(part as Buffer);
  return Buffer.concat(parts);
}

async function pass(
  address: string,
  lie: Lie,
  request: IncomingMessage,
  response: ServerResponse,
  resign?: Resign,
): Promise<void> {
  const body = await bodyIn(request);
  const headers = Object.fromEntries(
    Object.entries(request.headers).filter(
      ([name]) => !['host', 'connection', 'content-length'].includes(name),
    ),
  ) as Record<string, string>;
  if (headers.origin) headers.origin = address;
  const { method = 'GET', url = '/' } = request;
  const text_sent = body.toString();
  const asked = { method, path: url, ...(text_sent !== '' && { body: text_sent }) };
  const answer = await fetch(`${address}${url}`, {
    method,
    headers: { ...headers, ...resign?.(asked) },
    ...(body.length > 0 && { body: new Uint8Array(body) }),
  });
  const text = await answer.text();
  const [, is_lines] = /json(l?)/.exec(answer.headers.get('content-type') ?? '') ?? [];
  const said = is_lines === '' ? JSON.parse(text) : text;
  const told = is_lines === undefined ? undefined : lie(url, said, JSON.parse(text_sent || '{}'));
  const raw: Raw =
    told !== undefined && 'text' in told && 'headers' in told
      ? told
      : {
          status: answer.status,
          headers: { 'content-type': answer.headers.get('content-type') ?? '' },
          text: told === undefined ? text : JSON.stringify(told),
        };
  response.writeHead(raw.status, raw.headers).end(raw.text);
}
