import { spawnSync } from 'node:child_process';
import { createHmac, generateKeyPairSync, verify } from 'node:crypto';
import { appendFileSync, chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { test as notifyTest } from '../../src/cli/command/notify.ts';
import { Keyturn } from '../../src/keyturn.ts';
import { isAllowed, requireTarget } from '../../src/network/address.ts';
import { deliver } from '../../src/serve/notify/deliver.ts';
import { slackText, testMessage } from '../../src/serve/notify/message.ts';
import { keepNotifying, type Notified, type NotifierRequest } from '../../src/serve/notify/notifier.ts';
import { webhookSignature } from '../../src/serve/notify/sign.ts';
import { authority, human, PERMITS, policy, proposeSay, rules } from '../journey/authority.ts';
import { until } from '../support/processes.ts';
import type { Project } from '../support/project.ts';
import { cliPath } from '../support/pty.ts';
import { expectRefusal } from '../support/refusal.ts';
import { scratch } from '../support/scratch.ts';
import { logged, logIn, readLog } from '../support/telemetry.ts';

const SECRET = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;
const LOCAL = 'allow: ["127.0.0.0/8", "::1/128"]';

interface Heard {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A target that answers each request with the next of these; the last of them stays. `null` never answers. */
async function target(...statuses: (number | string | null)[]) {
  const heard: Heard[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (part) => {
      body += part;
    });
    request.on('end', () => {
      const status = statuses[Math.min(heard.length, statuses.length - 1)]!;
      heard.push({ headers: request.headers, body });
      if (status === null) return;
      const location = typeof status === 'string' ? status : 'http://169.254.169.254/latest/';
      response.writeHead(typeof status === 'string' ? 307 : status, { location }).end();
    });
  }).listen(0, '127.0.0.1');
  await new Promise((done) => server.once('listening', done));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { heard, url: `http://127.0.0.1:${(server.address() as { port: number }).port}/hook` };
}

function targets({ root }: Pick<Project, 'root'>, yaml: string, routes = ''): void {
  const path = join(root, '.keyturn', 'executor.yaml');
  writeFileSync(join(root, '.keyturn', 'hook.secret'), SECRET);
  const secrets = `secrets: { HOOK: { file: ${join(root, '.keyturn', 'hook.secret')} } }`;
  writeFileSync(path, `version: 1\n${secrets}\nnotify: { targets: { ${yaml} } }\n`, { mode: 0o600 });
  chmodSync(path, 0o600);
  if (routes) appendFileSync(join(root, 'keyturn.yaml'), `\nnotify: ${routes}\n`);
}

/** Notifies until the test is over, or `stop` is called. */
async function notifying({ root: at }: Pick<Project, 'root'>, over: Partial<NotifierRequest> = {}) {
  const keyturn = await Keyturn.open({ at });
  const told: Notified[] = [];
  const stopped = new AbortController();
  const done = keepNotifying(keyturn, {
    address: 'http://localhost:7717',
    signal: stopped.signal,
    tell: (one) => told.push(one),
    counted: () => {},
    delays_ms: [1, 1],
    look_ms: 20,
    ...over,
  });
  const stop = async () => {
    stopped.abort();
    await done;
    await keyturn.close();
  };
  let is_over = false;
  const once = async () => {
    if (!is_over) await stop();
    is_over = true;
  };
  onTestFinished(once);
  await until(() => existsSync(join(at, '.keyturn', 'notify.json')) || told.length > 0);
  return { told, done, stop: once };
}

const WAITING = '{ routes: [{ to: hook, on: [waiting] }] }';

describe('a webhook', () => {
  it('leaves a line in the log for each attempt: what kind, what came of it, and no address', async () => {
    const p = await authority();
    const { url, heard } = await target(500, 200);
    logIn(p.root, '{ level: info, file: ops.log }');
    targets(p, `hook: { webhook: "${url}", secret: HOOK, ${LOCAL} }`, WAITING);
    await notifying(p);
    await proposeSay(p);
    await until(() => heard.length === 2);
    const lines = () => logged(p.root, 'ops.log').filter(({ operation }) => operation === 'notify');
    await until(() => lines().length === 2);
    expect(lines()).toMatchObject([
      { kind: 'webhook', result: 'failed', status: 500, code: 'NOTIFY_FAILED' },
      { kind: 'webhook', result: 'delivered', status: 200, code: 'OK' },
    ]);
    expect(readLog(p.root, 'ops.log')).not.toMatch(/127\.0\.0\.1|whsec_/);
  });

  it('is told of what waits, signed, and by a link alone', async () => {
    const p = await authority();
    const { url, heard } = await target(200);
    targets(p, `hook: { webhook: "${url}", secret: HOOK, ${LOCAL} }`, WAITING);
    await notifying(p);
    const { intent_id } = await proposeSay(p);
    await until(() => heard.length > 0);
    const [{ headers, body }] = heard as [Heard];
    const id = headers['webhook-id'] as string;
    const at = Number(headers['webhook-timestamp']);
    const mac = createHmac('sha256', Buffer.alloc(24, 7)).update(`${id}.${at}.${body}`).digest('base64');
    expect(headers['webhook-signature']).toBe(`v1,${mac}`);
    expect(JSON.parse(body)).toMatchObject({
      type: 'keyturn.waiting',
      data: { intent_id, tool: 'say', proposer: 'ada', link: `http://localhost:7717/#intent=${intent_id}` },
    });
    expect(body).not.toContain('hello');
  }, 60_000);

  it('is tried again under the same id, given up, and goes on with what comes next', async () => {
    const p = await authority();
    const { url, heard } = await target(500, 302, 404, 200);
    targets(p, `hook: { webhook: "${url}", secret: HOOK, ${LOCAL} }`, WAITING);
    const { told } = await notifying(p);
    await proposeSay(p);
    await until(() => heard.length === 3);
    expect(new Set(heard.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    await proposeSay(p);
    await until(() => told.at(-1)?.outcome === 'delivered');
    expect(told.map(({ status }) => status)).toEqual([500, 302, 404, 200]);
    expect(told[0]!.code).toBe('NOTIFY_FAILED');
  }, 60_000);

  it('that redirects is told there alone, and not where it leads, though that is allowed as well', async () => {
    const p = await authority();
    const other = await target(200);
    const { url, heard } = await target(other.url);
    targets(p, `hook: { webhook: "${url}", secret: HOOK, ${LOCAL} }`);
    const hook = p.keyturn.host.notifyTargets().targets.get('hook')!;
    const message = testMessage('http://localhost', new Date().toISOString());
    const tried = await deliver(p.keyturn, hook, message, AbortSignal.timeout(60_000));
    expect(tried).toMatchObject({ outcome: 'failed', code: 'NOTIFY_FAILED', status: 307 });
    expect([heard.length, other.heard.length]).toEqual([1, 0]);
  }, 60_000);

  it('goes on after a restart where it was, and tells nothing twice that arrived', async () => {
    const p = await authority();
    const { url, heard } = await target(200);
    targets(p, `hook: { webhook: "${url}", secret: HOOK, ${LOCAL} }`, WAITING);
    const first = await notifying(p);
    await proposeSay(p);
    await until(() => first.told.length === 1);
    await first.stop();
    await proposeSay(p);
    const second = await notifying(p);
    await until(() => second.told.length === 1);
    expect(new Set(heard.map(({ headers }) => headers['webhook-id'])).size).toBe(2);
    expect(heard).toHaveLength(2);
  }, 60_000);

  it('that answers 410 is told no more, until its target is another', async () => {
    const p = await authority();
    const { url, heard } = await target(410);
    targets(p, `hook: { webhook: "${url}", secret: HOOK, ${LOCAL} }`, WAITING);
    const first = await notifying(p);
    await proposeSay(p);
    await first.done;
    expect(first.told).toMatchObject([{ outcome: 'gone', status: 410 }]);
    await first.stop();
    await proposeSay(p);
    const again = await notifying(p);
    await again.done;
    expect(heard).toHaveLength(1);
    await again.stop();
    targets(p, `hook: { webhook: "${url}?new", secret: HOOK, ${LOCAL} }`);
    await notifying(p);
    await until(() => heard.length > 1);
  }, 60_000);

  it('that hangs, or that nobody answers for, is let go of in time', async () => {
    const p = await authority();
    const { url } = await target(null);
    targets(p, `hook: { webhook: "${url}", secret: HOOK, timeout_s: 1, ${LOCAL} }`);
    const hook = p.keyturn.host.notifyTargets().targets.get('hook')!;
    const message = testMessage('http://localhost', new Date().toISOString());
    const tried = await deliver(p.keyturn, hook, message, AbortSignal.timeout(60_000));
    expect(tried).toMatchObject({ outcome: 'failed', code: 'NOTIFY_FAILED' });
    expect(tried.words).toContain('within 1 s');
  }, 60_000);
});

describe('a target', () => {
  it('at an address of this machine, a private network or a cloud is refused, however it is written', async () => {
    const p = await authority();
    const { url, heard } = await target(200);
    const { port } = new URL(url);
    const hosts = [
      '127.0.0.1',
      'localhost',
      '[::1]',
      '[::ffff:127.0.0.1]',
      '0x7f.1',
      '2130706433',
      '169.254.169.254',
    ];
    const message = testMessage('http://localhost', new Date().toISOString());
    for (const host of hosts) {
      targets(p, `hook: { webhook: "https://${host}:${port}/", secret: HOOK }`);
      const hook = p.keyturn.host.notifyTargets().targets.get('hook')!;
      const tried = await deliver(p.keyturn, hook, message, AbortSignal.timeout(30_000));
      expect([host, tried.code]).toEqual([host, 'NOTIFY_ADDRESS_DENIED']);
    }
    expect(heard).toEqual([]);
    for (const address of [
      '10.1.2.3',
      '192.168.0.1',
      '100.100.100.200',
      'fd00:ec2::254',
      'fe80::1%eth0',
      '::',
      '::1',
      // IPv4-compatible, IPv4-mapped, IPv4-translated, NAT64, Teredo, 6to4.
      '::10.1.2.3',
      '::ffff:10.1.2.3',
      '::ffff:0:10.1.2.3',
      '64:ff9b::10.1.2.3',
      '64:ff9b:1::10.1.2.3',
      '2001:0:102:304::1',
      '2002:a01:203::1',
      // Site-local, discard, dummy, segment routing, documentation, multicast, and what is not assigned.
      'fec0::1',
      '100::1',
      '100:0:0:1::1',
      '5f00::1',
      '2001:db8::1',
      '3fff::1',
      'ff02::1',
      '4000::1',
      '8000::1',
      '192.0.0.8',
      '192.88.99.1',
      '198.19.0.1',
      '240.0.0.1',
      '255.255.255.255',
      // The platform of a cloud: Azure, IBM Cloud, Alibaba Cloud, Oracle Cloud, EC2, Google Cloud.
      '168.63.129.16',
      '161.26.0.10',
      '166.8.0.1',
      '166.11.255.255',
      '100.100.100.200',
      '192.0.0.192',
      'fd00:ec2::254',
      'fd20:ce::254',
    ])
      expect(isAllowed(address, []), address).toBe(false);
    for (const address of [
      '8.8.8.8',
      '168.63.129.17',
      '166.12.0.1',
      '2606:4700::1111',
      '2001:4860:4860::8888',
      '2a00::1',
      '3ffe::1',
    ])
      expect(isAllowed(address, []), address).toBe(true);
    expect(isAllowed('10.1.2.3', ['10.0.0.0/8'])).toBe(true);
    expect(isAllowed('10.1.2.3', ['192.168.0.0/16'])).toBe(false);
    // A network that its owner allows is no reason to ask a public host in the clear.
    expect(isAllowed('10.1.2.3', ['10.0.0.0/8'], 'http:')).toBe(true);
    expect(isAllowed('8.8.8.8', ['10.0.0.0/8'], 'http:')).toBe(false);
    await expectRefusal('NOTIFY_ADDRESS_DENIED', () => requireTarget(new URL('http://example.com/'), []));
  }, 60_000);

  it('whose name leads to such an address is refused, also where another of its addresses is allowed', async () => {
    const p = await authority();
    const hosts = join(scratch(), 'hosts');
    const places = {
      '127.0.0.1': 'near',
      '169.254.169.254': 'cloud',
      '10.1.2.3': 'inside',
      '8.8.8.8': 'mixed',
    };
    const lines = Object.entries(places).map(([address, name]) => `${address} ${name}.example`);
    writeFileSync(hosts, `${lines.join('\n')}\n192.168.0.1 mixed.example\n`);
    const names = Object.values(places);
    targets(
      p,
      names.map((name) => `${name}: { webhook: "https://${name}.example/", secret: HOOK }`).join(', '),
    );
    await p.keyturn.close();
    for (const name of names) {
      // The names of this machine, for one process.
      const words = ['--dev-bind', '/', '/', '--ro-bind', hosts, '/etc/hosts', process.execPath, cliPath()];
      const asked = spawnSync('bwrap', [...words, 'notify', 'test', name, '--json'], {
        cwd: p.root,
        encoding: 'utf8',
      });
      expect([name, asked.stdout]).toEqual([name, expect.stringContaining('which is not allowed')]);
    }
  }, 60_000);

  it('that an edited keyturn.yaml names, and this host does not, starts nothing', async () => {
    const p = await authority();
    const marker = join(scratch(), 'ran');
    appendFileSync(join(p.root, 'keyturn.yaml'), '\nnotify: { routes: [{ to: evil, on: [waiting] }] }\n');
    const { told, done } = await notifying(p);
    await done;
    expect(told).toMatchObject([{ target: 'evil', code: 'NOTIFY_TARGET_UNKNOWN' }]);
    const inline = `\nnotify: { routes: [{ to: evil, on: [waiting], command: ["/usr/bin/touch", "${marker}"] }] }\n`;
    const q = await authority();
    await q.keyturn.close();
    appendFileSync(join(q.root, 'keyturn.yaml'), inline);
    await expectRefusal('SHAPE_INVALID', () => Keyturn.open({ at: q.root }));
    expect(existsSync(marker)).toBe(false);
  }, 60_000);

  it('may be a command of this host, which gets the message and no shell', async () => {
    const p = await authority();
    const out = join(scratch(), 'told.json');
    const script = 'require("fs").writeFileSync(process.argv[1], process.env.KEYTURN_NOTIFICATION)';
    targets(
      p,
      `hook: { command: ["${process.execPath}", "-e", ${JSON.stringify(script)}, "${out}"] }`,
      WAITING,
    );
    const { told } = await notifying(p);
    const { intent_id } = await proposeSay(p);
    await until(() => told.length > 0);
    expect(told).toMatchObject([{ outcome: 'delivered' }]);
    expect(JSON.parse(readFileSync(out, 'utf8'))).toMatchObject({ data: { intent_id } });
  }, 60_000);

  it('is reminded before an intent expires, and others are asked when nobody decides; it approves nothing', async () => {
    const p = await authority();
    const { url, heard } = await target(200);
    const routes =
      '{ remind_before: 1h, escalate_after: 1s, routes: [{ to: hook, on: [escalation, reminder], for: [grace] }] }';
    targets(p, `hook: { webhook: "${url}", secret: HOOK, ${LOCAL} }`, routes);
    await notifying(p);
    const { intent_id } = await proposeSay(p);
    await until(() => heard.length === 1);
    expect(JSON.parse(heard[0]!.body)).toMatchObject({
      type: 'keyturn.escalation',
      // The policies name no reviewer, so every human is told.
      data: { intent_id, reviewers: [] },
    });
    expect((await p.keyturn.intents.get({ intent_id })).status).toBe('proposed');
  }, 60_000);

  it('reaches those whom the policies ask to look, and later those whom they add; nobody else is told', async () => {
    const p = await authority();
    await human(p, 'bob', ['finance']);
    await human(p, 'carol', ['lead']);
    const review = 'permit (principal, action == Keyturn::Action::"review", resource)';
    const asks = (role: string, s: number) =>
      policy(
        role,
        'review',
        `${review} when { principal.roles.contains("${role}") && context.waited_s >= ${s} };`,
      );
    await rules(p, [PERMITS, asks('finance', 0), asks('lead', 2)].join('\n'));
    const [bob, carol, ada] = [await target(200), await target(200), await target(200)];
    const hooks = Object.entries({ bob, carol, ada }).map(
      ([name, { url }]) => `${name}: { webhook: "${url}", secret: HOOK, ${LOCAL} }`,
    );
    const on = 'on: [waiting, escalation]';
    const routes = `[{ to: bob, ${on}, for: [bob] }, { to: carol, ${on}, for: ["role:lead"] }, { to: ada, ${on}, for: [ada] }]`;
    targets(p, hooks.join(', '), `{ routes: ${routes} }`);
    const { told } = await notifying(p);
    const { intent_id } = await proposeSay(p);
    await until(() => told.length >= 2);
    expect(JSON.parse(bob.heard[0]!.body)).toMatchObject({
      type: 'keyturn.waiting',
      data: { intent_id, reviewers: ['bob'] },
    });
    expect(carol.heard.map(({ body }) => JSON.parse(body))).toMatchObject([
      { type: 'keyturn.escalation', data: { intent_id, reviewers: ['bob', 'carol'] } },
    ]);
    // Bob was asked before, and is not asked again because carol is.
    expect(told.map(({ target: to }) => to)).toEqual(['bob', 'carol']);
    expect(ada.heard).toEqual([]);
    expect((await p.keyturn.intents.get({ intent_id })).status).toBe('proposed');
  }, 60_000);

  it('is tried by `keyturn notify test`, which says what became of it', async () => {
    const p = await authority();
    const { url, heard } = await target(200, 500);
    targets(p, `hook: { slack: "${url}", ${LOCAL} }`);
    const asked = { operands: [], options: { project: p.root } } as unknown as Parameters<
      typeof notifyTest
    >[0];
    expect((await notifyTest(asked)).lines).toEqual(['[OK] hook: delivered']);
    expect(JSON.parse(heard[0]!.body).text).toContain('test of the notifications');
    const answer = await notifyTest(asked);
    expect(answer.refusal?.code).toBe('NOTIFY_FAILED');
    expect(answer.result).toMatchObject({ targets: [{ target: 'hook', outcome: 'failed', status: 500 }] });
    const named = url.replace('127.0.0.1', 'localhost');
    targets(p, `hook: { slack: "${named}" }`);
    const { refusal } = await notifyTest(asked);
    expect(refusal?.code).toBe('NOTIFY_ADDRESS_DENIED');
    expect(refusal?.message).toContain(`hook: ${new URL(named).origin} has no TLS.`);
    await expectRefusal('NOTIFY_TARGET_UNKNOWN', () => notifyTest({ ...asked, operands: ['other'] }));
  }, 60_000);
});

it('a signature is that of Standard Webhooks, with a shared secret and with a key pair', () => {
  const known = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
  const body = '{"test": 2432232314}';
  const id = 'msg_p5jXN8AQM9LWM0D4loKWxJek';
  expect(webhookSignature(known, id, 1614265330, body)).toBe(
    'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  );
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const seed = privateKey.export({ format: 'der', type: 'pkcs8' }).subarray(-32);
  const both = webhookSignature(`${known} whsk_${seed.toString('base64')}`, id, 1614265330, body);
  const [, asymmetric] = both.split(' ') as [string, string];
  const signature = Buffer.from(asymmetric.replace('v1a,', ''), 'base64');
  expect(verify(null, Buffer.from(`${id}.1614265330.${body}`), publicKey, signature)).toBe(true);
  for (const bad of ['x', 'whsec_', 'whsec_AAAA', 'whsk_AAAA'])
    expect(() => webhookSignature(bad, id, 1, body)).toThrow();
});

it('a name in a chat is a name, and no mention, link or style', () => {
  const message = testMessage('http://localhost', '2026-01-01T00:00:00.000Z');
  const text = slackText({ ...message, data: { ...message.data, text: '<!channel> *x* <http://evil|ok>' } });
  expect(text).toBe('&lt;!channel&gt; ·x· &lt;http://evil·ok&gt; <http://localhost/|Look at it>');
});
