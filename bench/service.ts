import { spawnSync } from 'node:child_process';
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Signer } from '../src/identity/act.ts';
import { Keyturn } from '../src/keyturn.ts';
import { createProject } from './project.ts';
import { Part, PROPOSAL, type Serving } from './service-part.ts';
import { median, p99, timed } from './timing.ts';
import { requestOf, Wire } from './wire.ts';

export interface ServiceAsked {
  readonly root: string;
  readonly rounds: number;
  /** Of each round. */
  readonly gets: number;
  readonly proposals: number;
  readonly starts: number;
  readonly mixed_s: number;
  readonly followers: number;
  /** Requests before the heap is looked at for the first and for the second time. */
  readonly heap_first: number;
  readonly heap_last: number;
}

interface GetTimes {
  readonly ratio: number;
  readonly per_s: number;
  readonly plain_per_s: number;
}

export interface ServiceTimes {
  readonly get: GetTimes;
  /** The same where no answer can be kept: another intent each time, and proposals in between. */
  readonly get_anew: GetTimes;
  readonly propose: {
    readonly together: number;
    readonly of_process: number;
    readonly alone_per_s: number;
    readonly per_s: number;
    readonly process_per_s: number;
  };
  readonly started: { readonly p99_ms: number; readonly usual_ms: number; readonly bare_ms: number };
  readonly mixed: {
    readonly longest_ms: number;
    readonly journeys: number;
    /** Of these, how many were plans. */
    readonly plans: number;
    readonly heard: number;
    /** Followers that were told nothing. */
    readonly silent: number;
    readonly refused: number;
    /** Why the first of those did not succeed. */
    readonly why: string | null;
  };
  readonly heap: { readonly ratio: number; readonly first_mb: number; readonly last_mb: number };
}

const TOOLS = `version: 1
tools:
  - name: bare
    summary: Does nothing, without a sandbox.
    executable: /bin/true
    cwd: /
    sandbox: none
    undo: exact
  - name: clock
    summary: Prints when it started, in nanoseconds.
    executable: /bin/date
    args: ["+%s%N"]
    cwd: /
    sandbox: none
    undo: exact
`;
const CONNECTIONS = 32;
const CALLERS = 64;
/** Until the code of both servers is compiled. */
const WARM_UP = 10_000;

/** A service of its own, what it is compared with, and this process, which asks. */
interface Bench {
  readonly asked: ServiceAsked;
  readonly service: Part;
  readonly port: number;
  readonly token: Readonly<Record<string, string>>;
  readonly session: Readonly<Record<string, string>>;
  readonly ada: Signer;
}

export async function measureService(asked: ServiceAsked): Promise<ServiceTimes> {
  const { keyturn, ada } = await createProject(asked.root, undefined, TOOLS);
  appendFileSync(
    join(asked.root, 'keyturn.yaml'),
    'service: { requests_minute: 10000000, at_once: 1000, streams: 1000 }\n',
  );
  const { token, digest } = Keyturn.makeToken('planner');
  await keyturn.agents.addToken({ name: 'planner', digest, reason: 'bench', signer: ada });
  await keyturn.close();
  const [service, { port, link }] = await Part.start<Serving>('servicePart', { root: asked.root });
  try {
    const session = await sessionOf(port, link);
    const bench = { asked, service, port, token: { authorization: `Bearer ${token}` }, session, ada };
    const gets = await measureGets(bench);
    const propose = await measureProposals(bench);
    const started = await measureStarted(bench);
    const mixed = await measureMixed(bench);
    return { ...gets, propose, started, mixed, heap: await measureHeap(bench) };
  } finally {
    service.end();
  }
}

async function sessionOf(port: number, link: string): Promise<Record<string, string>> {
  const wire = await Wire.to(port);
  const { head, body } = await wire.ask(requestOf(port, '/v1/session', {}, { link }));
  wire.close();
  const [, cookie] = /set-cookie: ([^;\r]*)/i.exec(head)!;
  return {
    cookie: cookie!,
    'keyturn-page': JSON.parse(String(body)).page,
    origin: `http://localhost:${port}`,
  };
}

/** An answer as a value; one that is a refusal fails the bench. */
async function told(wire: Wire, request: Buffer) {
  const { status, body } = await wire.ask(request);
  if (status >= 300) throw new Error(`${status} ${body}`);
  return JSON.parse(String(body));
}

/** So many connections share so many requests. Returns the milliseconds. */
async function shared(
  port: number,
  connections: number,
  count: number,
  ask: (wire: Wire, n: number) => Promise<unknown>,
): Promise<number> {
  const wires = await Promise.all(Array.from({ length: connections }, () => Wire.to(port)));
  let next = 0;
  const caller = async (wire: Wire) => {
    while (next < count) await ask(wire, next++);
  };
  const ms = await timed(() => Promise.all(wires.map(caller)));
  for (const wire of wires) wire.close();
  return ms;
}

/** Never sleeps meanwhile: to wake another process costs the one that answers, the more often the slower it is. */
async function awake<T>(act: () => Promise<T>): Promise<T> {
  let is_over = false;
  const spin = () => void (is_over || setImmediate(spin));
  spin();
  try {
    return await act();
  } finally {
    is_over = true;
  }
}

const proposing = ({ port, token }: Bench, tool = 'bare') =>
  requestOf(port, '/v1/intents/propose', token, {
    ...PROPOSAL,
    effect: { ...PROPOSAL.effect, tool },
  });

/** Intents that are asked for in turn, and after how many requests one is proposed. */
const INTENTS = 256;

async function measureGets(bench: Bench): Promise<Pick<ServiceTimes, 'get' | 'get_anew'>> {
  const { port, token, asked } = bench;
  const wire = await Wire.to(port);
  const getOf = async () => {
    const { intent_id } = await told(wire, proposing(bench));
    return requestOf(port, `/v1/intents/get?intent_id=${intent_id}`, token);
  };
  const get = await getOf();
  const gets: Buffer[] = [];
  while (gets.length < INTENTS) gets.push(await getOf());
  const { head, body } = await wire.ask(get);
  wire.close();
  const [plain, plain_port] = await Part.start<number>('plainPart', { head, body: String(body) });
  const hit = async (one: Wire, request = get) => {
    const { status, body: got } = await one.ask(request);
    if (status !== 200 || got.length !== body.length) throw new Error(`${status} ${got}`);
  };
  const anew = (one: Wire, n: number) =>
    n % INTENTS === 0 ? told(one, proposing(bench)) : hit(one, gets[n % INTENTS]);
  const round = (at: number, count: number, ask: (one: Wire, n: number) => Promise<unknown>) =>
    awake(() => shared(at, CONNECTIONS, count, ask));
  const same = (one: Wire) => hit(one);
  for (const ask of [same, anew]) await round(port, WARM_UP, ask);
  await round(plain_port, WARM_UP, same);
  const times: { readonly ours: number; readonly anew: number; readonly plain: number }[] = [];
  for (let n = 0; n < asked.rounds; n++)
    times.push({
      ours: await round(port, asked.gets, same),
      anew: await round(port, asked.gets, anew),
      plain: await round(plain_port, asked.gets, same),
    });
  plain.end();
  const rateOf = (ms: number) => (1000 * asked.gets) / ms;
  const against = (mine: (one: (typeof times)[number]) => number): GetTimes => ({
    ratio: median(times.map((one) => one.plain / mine(one))),
    per_s: rateOf(median(times.map(mine))),
    plain_per_s: rateOf(median(times.map((one) => one.plain))),
  });
  return { get: against(({ ours }) => ours), get_anew: against((one) => one.anew) };
}

/** One caller, 64, and 64 in a process that has a project of its own open, in turn. */
async function measureProposals(bench: Bench): Promise<ServiceTimes['propose']> {
  const { port, asked } = bench;
  const root = `${asked.root}-inside`;
  await (await createProject(root, undefined, TOOLS)).keyturn.close();
  const [inside] = await Part.start('proposingPart', { root });
  const request = proposing(bench);
  const over = (callers: number, count: number) =>
    shared(port, callers, count, (wire) => told(wire, request));
  const few = Math.ceil(asked.proposals / 4);
  await over(CALLERS, asked.proposals);
  await inside.ask(`propose ${asked.proposals} ${CALLERS}`);
  const times: { readonly alone: number; readonly many: number; readonly inside: number }[] = [];
  for (let n = 0; n < asked.rounds; n++)
    times.push({
      alone: (await over(1, few)) / few,
      many: (await over(CALLERS, asked.proposals)) / asked.proposals,
      inside: (await inside.ask<number>(`propose ${asked.proposals} ${CALLERS}`)) / asked.proposals,
    });
  inside.end();
  const per_s = (pick: (time: (typeof times)[number]) => number) => 1000 / median(times.map(pick));
  return {
    together: median(times.map(({ alone, many }) => alone / many)),
    of_process: median(times.map(({ inside: theirs, many }) => theirs / many)),
    alone_per_s: per_s(({ alone }) => alone),
    per_s: per_s(({ many }) => many),
    process_per_s: per_s(({ inside: theirs }) => theirs),
  };
}

/** Turned over HTTP: drawn up, signed here, finished. Answers when the finish was sent. */
async function turned({ port, session, ada }: Bench, wire: Wire, request: object): Promise<number> {
  const at = '/v1/intents/turn';
  const by = { request, by: ada.name, key: ada.public_key };
  const { draft } = await told(wire, requestOf(port, at, session, by));
  const statements = (draft.statements as string[]).map((one) => Buffer.from(one));
  const proofs = await ada.sign(statements);
  const finish = requestOf(port, at, session, { request, draft, proofs });
  const sent_ms = Date.now();
  await told(wire, finish);
  return sent_ms;
}

/** The first runs of a service also start what starts the others. */
const WARM_UP_STARTS = 5;
/** Long enough for the service to be idle again, and no rhythm of it. */
const IDLE_MS = 60;

/** From the moment when the human's finish is sent, with its commit, to what the process itself calls now. */
async function measureStarted(bench: Bench): Promise<ServiceTimes['started']> {
  const { port, token, asked } = bench;
  const wire = await Wire.to(port);
  const times: number[] = [];
  const bare: number[] = [];
  for (let n = -WARM_UP_STARTS; n < asked.starts; n++) {
    const { intent_id, hash } = await told(wire, proposing(bench, 'clock'));
    await pause(IDLE_MS + Math.random() * IDLE_MS);
    const sent_ms = await turned(bench, wire, { intent_id, hash });
    const ended = requestOf(port, '/v1/intents/waitFor', token, { intent_id });
    const { run } = await told(wire, ended);
    if (n >= 0) times.push(Number(run.output.stdout) / 1e6 - sent_ms);
    const from_ms = Date.now();
    bare.push(Number(spawnSync('/bin/date', ['+%s%N'], { encoding: 'utf8' }).stdout) / 1e6 - from_ms);
  }
  wire.close();
  return { p99_ms: p99(times), usual_ms: median(times), bare_ms: median(bare) };
}

const MIXED_CALLERS = 8;
/** One journey of so many changes files. */
const PLAN_EVERY = 3;
const PLAN_FILES = 5;
const PLAN_LINES = 60;

/** The files of one caller: each plan changes a line in each of them, and the next one changes it back. */
class Plans {
  readonly #names: readonly string[];
  #made = 0;

  constructor(root: string, caller: number) {
    mkdirSync(join(root, 'data'), { recursive: true });
    this.#names = Array.from({ length: PLAN_FILES }, (_, i) => `data/${caller}-${i}.txt`);
    const lines = Array.from({ length: PLAN_LINES }, (_, i) => `The quick brown fox number ${i} jumps.\n`);
    for (const name of this.#names) writeFileSync(join(root, name), `state-0\n${lines.join('')}`);
  }

  next(): string {
    const [from, to] = [this.#made % 2, (this.#made + 1) % 2];
    this.#made += 1;
    const action_plan = this.#names.map((target, i) => ({
      ...{ action_id: `a${i}`, action_type: 'FILE_MODIFY', target },
      operation: { type: 'text_replace', pattern: `state-${from}`, replacement: `state-${to}` },
    }));
    return JSON.stringify({ plan_id: `mixed-${this.#made}`, action_plan });
  }
}

/** As an agent asks for changes of files: validated, read and proposed. */
async function proposedPlan({ port, token, session }: Bench, wire: Wire, plan: string) {
  const { problems } = await told(wire, requestOf(port, '/v1/plans/validate', session, { plan }));
  if (problems.length > 0) throw new Error(`The plan has problems: ${JSON.stringify(problems)}`);
  const { spec } = await told(wire, requestOf(port, '/v1/plans/read', token, { plan }));
  const request = { declared_goal: 'Change files.', effect: { kind: 'plan', ...spec } };
  return told(wire, requestOf(port, '/v1/intents/propose', token, request));
}

/**
 * Each caller proposes a call or a plan, a human turns the key, the service runs it and tells the caller; all of it is told to every client
 * that follows.
 */
async function measureMixed(bench: Bench): Promise<ServiceTimes['mixed']> {
  const { port, token, session, asked, service } = bench;
  const heard = new Array<number>(asked.followers).fill(0);
  const followers = await Promise.all(
    Array.from({ length: asked.followers }, async (_, n) => {
      const follower = await Follower.at(port, n % 2 === 0 ? session : token);
      follower.onEntry = () => {
        heard[n]! += 1;
      };
      return follower;
    }),
  );
  let [journeys, plans, refused] = [0, 0, 0];
  let why: string | null = null;
  await service.ask('watch');
  const until = performance.now() + asked.mixed_s * 1000;
  const caller = async (_: unknown, n: number) => {
    const wire = await Wire.to(port);
    const files = new Plans(asked.root, n);
    for (let made = n; performance.now() < until; made++) {
      const is_plan = made % PLAN_EVERY === 0;
      const { intent_id, hash } = is_plan
        ? await proposedPlan(bench, wire, files.next())
        : await told(wire, proposing(bench));
      await told(wire, requestOf(port, '/v1/intents/list?limit=50', session));
      await turned(bench, wire, { intent_id, hash });
      const { status, run } = await told(wire, requestOf(port, '/v1/intents/waitFor', token, { intent_id }));
      if (status === 'succeeded') journeys += 1;
      else {
        refused += 1;
        why ??= `${is_plan ? 'plan' : 'call'} ${status} ${run?.reason_code ?? ''}`.trim();
      }
      if (is_plan) plans += 1;
    }
    wire.close();
  };
  await Promise.all(Array.from({ length: MIXED_CALLERS }, caller));
  const longest_ms = await service.ask<number>('longest');
  for (const follower of followers) follower.close();
  const all = heard.reduce((sum, one) => sum + one, 0);
  return {
    longest_ms,
    journeys,
    plans,
    heard: all,
    silent: heard.filter((one) => one === 0).length,
    refused,
    why,
  };
}

/** A stream of events, of which only the entries are counted. */
class Follower {
  onEntry: () => void = () => {};
  readonly #end: AbortController;

  private constructor(end: AbortController) {
    this.#end = end;
  }

  static async at(port: number, headers: Readonly<Record<string, string>>): Promise<Follower> {
    const end = new AbortController();
    const answer = await fetch(`http://localhost:${port}/v1/events`, { headers, signal: end.signal });
    if (answer.status !== 200) throw new Error(`${answer.status} ${await answer.text()}`);
    const follower = new Follower(end);
    void follower.#drain(answer).catch(() => {});
    return follower;
  }

  close(): void {
    this.#end.abort();
  }

  async #drain({ body }: Response): Promise<void> {
    for await (const part of body as unknown as AsyncIterable<Uint8Array>)
      for (
        let n = (
          Buffer.from(part)
            .toString('latin1')
            .match(/^event: /gm) ?? []
        ).length;
        n > 0;
        n--
      )
        this.onEntry();
  }
}

/** Reads, refusals, drafts and a proposal now and then, as long as it takes. */
async function measureHeap(bench: Bench): Promise<ServiceTimes['heap']> {
  const { port, token, session, asked, service, ada } = bench;
  const first = await Wire.to(port);
  const { intent_id, hash } = await told(first, proposing(bench));
  first.close();
  const kinds = [
    requestOf(port, `/v1/intents/get?intent_id=${intent_id}`, token),
    requestOf(port, '/v1/intents/get', token, { intent_id }),
    requestOf(port, '/v1/intents/list?limit=5', session),
    requestOf(port, '/v1/intents/get?intent_id=none', token),
    requestOf(port, '/v1/nothing/here', token),
    requestOf(port, '/v1/intents/list', {}),
    requestOf(port, '/livez', {}),
    requestOf(port, '/v1/intents/turn', session, { request: { intent_id, hash }, by: ada.name }),
  ];
  const proposal = proposing(bench);
  const ask = (wire: Wire, n: number) => wire.ask(n % 50 === 0 ? proposal : kinds[n % kinds.length]!);
  await shared(port, CONNECTIONS, asked.heap_first, ask);
  const first_mb = (await service.ask<number>('heap')) / 1e6;
  await shared(port, CONNECTIONS, asked.heap_last - asked.heap_first, ask);
  const last_mb = (await service.ask<number>('heap')) / 1e6;
  return { ratio: last_mb / first_mb, first_mb, last_mb };
}
