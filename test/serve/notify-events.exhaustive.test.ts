import { appendFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Keyturn } from '../../src/keyturn.ts';
import { keepNotifying } from '../../src/serve/notify/notifier.ts';
import { authority, call, granted, type Intent, named, proposeSay, yes } from '../journey/authority.ts';
import { claimElsewhere } from '../journey/claim-elsewhere.ts';
import { openSqliteStore } from '../store/open.ts';
import { until } from '../support/processes.ts';
import { type Project, steady } from '../support/project.ts';
import { expectRefusal } from '../support/refusal.ts';
import { runSeen } from '../support/seen.ts';

const EVENTS = 'waiting, reminder, escalation, decided, succeeded, failed, in_doubt, frozen';

interface Told {
  readonly type: string;
  readonly data: { readonly text: string };
}

async function listener() {
  const heard: Told[] = [];
  const hook = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    heard.push(JSON.parse(Buffer.concat(parts).toString()) as Told);
    response.writeHead(200).end();
  }).listen(0, '127.0.0.1');
  await new Promise((done) => hook.once('listening', done));
  onTestFinished(() => void hook.close());
  return { heard, port: (hook.address() as { port: number }).port };
}

/** A target that is told of every event. */
function routed({ root }: Pick<Project, 'root'>, port: number, times: string): void {
  const secret = join(root, '.keyturn', 'hook.secret');
  writeFileSync(secret, `whsec_${Buffer.alloc(24, 7).toString('base64')}`);
  const target = `{ webhook: "http://127.0.0.1:${port}/", secret: HOOK, allow: ["127.0.0.0/8"] }`;
  const text = `version: 1\nsecrets: { HOOK: { file: ${secret} } }\nnotify: { targets: { hook: ${target} } }\n`;
  writeFileSync(join(root, '.keyturn', 'executor.yaml'), text, { mode: 0o600 });
  appendFileSync(
    join(root, 'keyturn.yaml'),
    `\nnotify: { ${times} routes: [{ to: hook, on: [${EVENTS}] }] }\n`,
  );
}

/** Notifies as a service does, by a clock that is ahead where a host has to have been silent for long. */
async function notifying({ root }: Project, ahead_ms: number) {
  const now = () => new Date(Date.now() + ahead_ms);
  const keyturn = await Keyturn.open({ at: root, ...(ahead_ms > 0 ? steady(now) : {}) });
  const stopped = new AbortController();
  const given = { address: 'http://localhost:7717', tell: () => {}, counted: () => {}, look_ms: 20 };
  const done = keepNotifying(keyturn, { ...given, signal: stopped.signal });
  onTestFinished(async () => {
    stopped.abort();
    await done;
    await keyturn.close();
  });
  const position = async () => (await keyturn.host.notifyPositions().get('hook')) ?? null;
  await until(async () => (await position()) !== null);
  /** All that is in the ledger now was told, and what is due was looked at a few times. */
  return async () => {
    for (let times = 0; times < 3; times += 1) {
      const before = (await position())!.until;
      await until(async () => (await position())!.until > before);
    }
  };
}

async function turned(p: Project, effect: Record<string, unknown>): Promise<Intent> {
  const intent = await proposeSay(p, effect);
  await p.keyturn.intents.turn({ ...intent, signer: p.ada });
  return intent;
}

async function stopped(p: Project): Promise<void> {
  const intent = await turned(p, call('wait', { seconds: 30 }));
  const ended = runSeen(p.keyturn, {
    ...intent,
    confirm: yes,
    onClaimed: (execution_id) => p.keyturn.runs.stop({ execution_id, reason: 'It is wrong.', signer: p.ada }),
  });
  expect(await ended).toMatchObject({ result: 'partial', reason_code: 'RUN_STOPPED' });
}

async function lost(p: Project): Promise<void> {
  const path = join(p.root, '.keyturn', 'store.db');
  const clock = () => new Date();
  const intent = await granted(p);
  await claimElsewhere(p, await openSqliteStore({ path, tenant: 'default', clock, mode: 'write' }), intent);
}

interface Case {
  readonly event: string;
  readonly act: (p: Project) => Promise<unknown>;
  /** What is told before it. */
  readonly before: readonly string[];
  readonly text: string;
  readonly times?: string;
  readonly ahead_ms?: number;
}

const CASES: readonly Case[] = [
  { event: 'waiting', act: (p) => proposeSay(p), before: [], text: 'waits for a human' },
  {
    event: 'reminder',
    act: (p) => proposeSay(p),
    before: ['waiting'],
    text: 'expires soon',
    times: 'remind_before: 86398s,',
  },
  {
    event: 'escalation',
    act: (p) => proposeSay(p),
    before: ['waiting'],
    text: 'without a decision',
    times: 'escalate_after: 1s,',
  },
  {
    event: 'decided',
    act: async (p) =>
      p.keyturn.intents.reject({ ...named(await proposeSay(p)), reason: 'No.', signer: p.ada }),
    before: ['waiting'],
    text: 'was decided',
  },
  {
    event: 'succeeded',
    act: async (p) => runSeen(p.keyturn, { ...(await turned(p, {})), confirm: yes }),
    before: ['waiting', 'decided'],
    text: ' ran',
  },
  {
    event: 'failed',
    act: async (p) => runSeen(p.keyturn, { ...(await turned(p, call('fail'))), confirm: yes }),
    before: ['waiting', 'decided'],
    text: 'failed',
  },
  { event: 'in_doubt', act: stopped, before: ['waiting', 'decided'], text: 'was stopped or is partly done' },
  {
    event: 'in_doubt',
    act: lost,
    before: ['waiting', 'decided'],
    text: 'how it ended is not known',
    ahead_ms: 20_000,
  },
  {
    event: 'frozen',
    act: (p) => p.keyturn.system.freeze({ scope: 'tool', name: 'say', reason: 'A look.', signer: p.ada }),
    before: [],
    text: 'was frozen',
  },
];

describe('a target that is told of every event', () => {
  it.each(CASES)(
    'hears $event ($text) once, and nothing else but what came before',
    async (one) => {
      const p = await authority();
      const { heard, port } = await listener();
      routed(p, port, one.times ?? '');
      const looked = await notifying(p, one.ahead_ms ?? 0);
      await one.act(p);
      await until(() => heard.length > one.before.length);
      await looked();
      const types = [...one.before, one.event].map((event) => `keyturn.${event}`);
      // Entries and what is due are told apart, so either can be first.
      expect(heard.map(({ type }) => type).sort()).toEqual(types.sort());
      expect(heard.find(({ type }) => type === `keyturn.${one.event}`)!.data.text).toContain(one.text);
    },
    60_000,
  );

  it('is promised no reminder that is never sent', async () => {
    const p = await authority();
    await p.keyturn.close();
    appendFileSync(
      join(p.root, 'keyturn.yaml'),
      '\nnotify: { remind_before: 24h, routes: [{ to: hook, on: [reminder] }] }\n',
    );
    await expectRefusal('TIME_MALFORMED', () => Keyturn.open({ at: p.root }));
  });
});
