import { randomUUID } from 'node:crypto';
import { appendFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { isSaidToGoOn, sayingThatItGoesOn } from '../../src/journey/run-words.ts';
import { Keyturn } from '../../src/keyturn.ts';
import { keepNotifying } from '../../src/serve/notify/notifier.ts';
import type { Store } from '../../src/store/store.ts';
import { authority, granted, proposeSay } from '../journey/authority.ts';
import { claimElsewhere } from '../journey/claim-elsewhere.ts';
import { anotherHost, shared } from '../journey/postgres-host.ts';
import { openSqliteStore } from '../store/open.ts';
import { postgres } from '../store/postgres-place.ts';
import { until } from '../support/processes.ts';
import { type Project, steady } from '../support/project.ts';

const server = postgres();

/** A target, and the types of what it was told. */
async function listener() {
  const heard: string[] = [];
  const hook = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (part) => {
      body += part;
    });
    request.on('end', () => {
      heard.push((JSON.parse(body) as { type: string }).type);
      response.writeHead(200).end();
    });
  }).listen(0, '127.0.0.1');
  await new Promise((done) => hook.once('listening', done));
  onTestFinished(() => void hook.close());
  return { heard, port: (hook.address() as { port: number }).port };
}

function routed({ root }: Pick<Project, 'root'>, port: number): void {
  const secret = join(root, '.keyturn', 'hook.secret');
  writeFileSync(secret, `whsec_${Buffer.alloc(24, 7).toString('base64')}`);
  const target = `{ webhook: "http://127.0.0.1:${port}/", secret: HOOK, allow: ["127.0.0.0/8"] }`;
  const text = `version: 1\nsecrets: { HOOK: { file: ${secret} } }\nnotify: { targets: { hook: ${target} } }\n`;
  writeFileSync(join(root, '.keyturn', 'executor.yaml'), text, { mode: 0o600 });
  appendFileSync(
    join(root, 'keyturn.yaml'),
    '\nnotify: { routes: [{ to: hook, on: [waiting, in_doubt] }] }\n',
  );
}

/** Longer than a host that runs something is silent. */
const LATER_MS = 20_000;

/** Notifies as a service does, at a time when the host of the run would have said that it goes on. */
async function notifying({ root }: Pick<Project, 'root'>) {
  const keyturn = await Keyturn.open({ at: root, ...steady(() => new Date(Date.now() + LATER_MS)) });
  const stopped = new AbortController();
  const given = { address: 'http://localhost:7717', tell: () => {}, counted: () => {}, look_ms: 20 };
  const done = keepNotifying(keyturn, { ...given, signal: stopped.signal });
  const stop = async () => {
    if (stopped.signal.aborted) return;
    stopped.abort();
    await done;
    await keyturn.close();
  };
  onTestFinished(stop);
  await until(async () => (await keyturn.host.notifyPositions().get('hook')) !== null);
  return { keyturn, stop };
}

type Notifying = Awaited<ReturnType<typeof notifying>>;

/** The notifier looked at what is due, a few times after now. */
async function looked({ keyturn }: Notifying): Promise<void> {
  const at = async () => (await keyturn.host.notifyPositions().get('hook'))!.until;
  for (let times = 0; times < 3; times += 1) {
    const before = await at();
    await until(async () => (await at()) > before);
  }
}

const places = {
  SQLite: async () => {
    const p = await authority();
    const clock = () => new Date();
    const path = join(p.root, '.keyturn', 'store.db');
    const open = () => openSqliteStore({ path, tenant: 'default', clock, mode: 'write' });
    return { p, open, other: async () => p };
  },
  PostgreSQL: async () => {
    const p = await shared(server(), `doubt-${randomUUID().slice(0, 8)}`);
    const open = () => server().open('write', { tenant: p.tenant });
    return { p, open, other: () => anotherHost(p) };
  },
} satisfies Record<
  string,
  () => Promise<{ p: Project; open: () => Promise<Store>; other: () => Promise<Project> }>
>;

describe.each(Object.entries(places))('a run in doubt, with %s', (_, place) => {
  it('of another host is told of once, by whichever service notifies', async () => {
    const { p, open, other } = await place();
    const { heard, port } = await listener();
    const host = await other();
    for (const { root } of new Set([p, host])) routed({ root }, port);
    await claimElsewhere(p, await open(), await granted(p));
    const first = await notifying(p);
    await until(() => heard.includes('keyturn.in_doubt'));
    await looked(first);
    await first.stop();
    const second = await notifying(host);
    await proposeSay(p);
    await until(() => heard.includes('keyturn.waiting'));
    await looked(second);
    expect(heard).toEqual(['keyturn.in_doubt', 'keyturn.waiting']);
  });

  it('is none while its host says that it goes on', async () => {
    const { p, open } = await place();
    const { heard, port } = await listener();
    routed(p, port);
    const execution_id = await claimElsewhere(p, await open(), await granted(p));
    const at = await Keyturn.open({ at: p.root });
    onTestFinished(() => at.close());
    const shares = place !== places.SQLite;
    const hosts = {
      service_state: shares ? at.host.serviceState() : null,
      runs_folder: join(p.root, '.keyturn', 'runs'),
    };
    let end: () => void = () => {};
    const going = sayingThatItGoesOn(hosts, execution_id, () => new Promise<void>((done) => (end = done)));
    await until(() => isSaidToGoOn(hosts, execution_id));
    const service = await notifying(p);
    await looked(service);
    expect(heard).toEqual([]);
    // What a service counts is what it tells of.
    expect((await service.keyturn.host.queue()).in_doubt).toBe(0);
    end();
    await going;
    await until(() => heard.length === 1);
    expect(heard).toEqual(['keyturn.in_doubt']);
    expect((await service.keyturn.host.queue()).in_doubt).toBe(1);
  });
});
