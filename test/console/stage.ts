import { randomBytes } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Browser, type BrowserContext, type CDPSession, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import type { Signer } from '../../src/identity/act.ts';
import { Keyturn, type Passkey, type Proof } from '../../src/keyturn.ts';
import { serve } from '../../src/serve/serve.ts';
import { found } from '../support/found.ts';
import { freshSigner } from '../support/keys.ts';
import { freshFolder } from '../support/scratch.ts';

/** A project with people, agents and tools, its service, and a real Chromium with authenticators in software. */

export const TOOLS = `version: 1
tools:
  - name: refund
    summary: Refunds a charge.
    executable: /usr/bin/printf
    args: ["%s ", "--charge", "{charge}", "--amount", "{amount}", "--currency", "{currency}", "--mode", "live"]
    parameters:
      charge: { type: string, max_length: 100000 }
      amount: { type: integer, min: 1, max: 1000000 }
      currency: { type: string, max_length: 3 }
    sandbox: { network: true }
    undo: none
  - name: say
    summary: Prints a word.
    executable: /usr/bin/printf
    args: ["%s\\\\n", "{word}"]
    parameters: { word: { type: string, max_length: 100000 } }
    sandbox: {}
    undo: none
  - name: fail
    summary: Fails.
    executable: /usr/bin/false
    args: []
    sandbox: {}
    undo: none
  - name: count
    summary: Prints a line from time to time.
    executable: /usr/bin/bash
    args: ["-c", "i=0; while true; do i=$((i+1)); printf 'line %s \\\\033[31mred\\\\n' $i; sleep 0.2; done"]
    sandbox: {}
    undo: none
  - name: switch-on
    summary: Switches a lamp on.
    executable: /usr/bin/printf
    args: ["on %s\\\\n", "{lamp}"]
    parameters: { lamp: { type: string, max_length: 40 } }
    sandbox: {}
    undo: compensating
    undone_by: { tool: switch-off, arguments: { lamp: "{lamp}" } }
  - name: switch-off
    summary: Switches a lamp off.
    executable: /usr/bin/printf
    args: ["off %s\\\\n", "{lamp}"]
    parameters: { lamp: { type: string, max_length: 40 } }
    sandbox: {}
    undo: none
  - name: wait
    summary: Waits.
    executable: /usr/bin/sleep
    args: ["{seconds}"]
    parameters: { seconds: { type: integer, min: 1, max: 60 } }
    sandbox: {}
    undo: none
pipelines:
  - name: nightly
    summary: Greets, and tidies up.
    steps:
      - { tool: say, arguments: { word: good night } }
      - { sql: tidy.sql, database: shop.duckdb }
`;

export interface Person {
  readonly context: BrowserContext;
  readonly page: Page;
  readonly cdp: CDPSession;
  readonly authenticator: string;
}

export interface Stage {
  readonly root: string;
  readonly keyturn: Keyturn;
  readonly ada: Signer;
  readonly browser: Browser;
  address(): string;
  write(path: string, text: string): void;
  /** Stops the service, and starts another one at the same port. */
  restart(): Promise<void>;
  stopService(): Promise<void>;
  /** A browser of its own, in which the link was opened. */
  person(options?: Parameters<Browser['newContext']>[0]): Promise<Person>;
  /** A passkey of this person, made in their browser, for which a key file signs. */
  enrol(person: Person, name: string, algorithm?: number, label?: string): Promise<void>;
  human(name: string): Promise<Signer>;
  propose(over?: Record<string, unknown>): Promise<{ readonly intent_id: string; readonly hash: string }>;
  close(): Promise<void>;
}

const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium';
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

export const launched = (): Promise<Browser> => chromium.launch({ executablePath: CHROMIUM, args: FLAGS });

export async function openStage({ most = 1 }: { readonly most?: number } = {}): Promise<Stage> {
  const root = freshFolder('keyturn-console-');
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  write('keyturn.yaml', 'version: 1\nproposals: { pending: 10000, minute: 100000 }\n');
  const { keyturn, ada } = await found(root, { registry: TOOLS });
  for (const name of ['billing-agent', 'docs-bot'])
    await keyturn.people.enrol({ name, principal: 'agent', public_key: null, signer: ada });
  let service = await serving(root, most, 0);
  const browser = await launched();
  const stopService = () => service.stop();
  const people = new Map<string, Signer>();
  const opened = new Map<string, Awaited<ReturnType<BrowserContext['storageState']>>>();
  return {
    ...{ root, keyturn, ada, browser, write, stopService },
    address: () => service.address,
    restart: async () => {
      const { port } = new URL(service.address);
      await service.stop();
      service = await serving(root, most, Number(port));
    },
    person: async (options = {}) => {
      // A link works once. The others are in the same session, as windows of one account are.
      const storageState = opened.get(service.link);
      const context = await browser.newContext({
        viewport: { width: 1440, height: 900 },
        ...(storageState && { storageState }),
        ...options,
      });
      // tsx names functions by a helper that a page has not.
      await context.addInitScript('globalThis.__name = (one) => one;');
      const page = await context.newPage();
      page.setDefaultTimeout(20_000);
      const cdp = await context.newCDPSession(page);
      await cdp.send('WebAuthn.enable');
      const authenticator = await newAuthenticator(cdp);
      await page.goto(storageState ? service.address : service.link);
      await page.waitForSelector('.live.live', { state: 'attached' });
      opened.set(service.link, await context.storageState());
      return { context, page, cdp, authenticator };
    },
    enrol: async (person, name, algorithm = -7, label = 'laptop') => {
      const signer = name === 'ada' ? ada : people.get(name)!;
      await enrolIn(keyturn, service.address, person, { name, signer, algorithm, label });
      await person.page.waitForSelector(`.me:has-text("${label}")`);
    },
    human: async (name) => {
      const signer = freshSigner(name);
      await keyturn.people.enrol({ name, principal: 'human', public_key: signer.public_key, signer: ada });
      people.set(name, signer);
      return signer;
    },
    propose: async (over = {}) => {
      const { issuer: name = 'billing-agent' } = over as { issuer?: string };
      // As with a token: who proposes has no account on this machine.
      const account = { host: `token:${name}`, machine: null, uid: -1, user: name };
      const { intent_id, hash } = await keyturn.as({ name, account }).intents.propose({
        issuer: name,
        declared_goal: 'Say hello to the first customer of the day.',
        effect: { kind: 'tool', tool: 'say', arguments: { word: `hello ${randomBytes(2).toString('hex')}` } },
        ...over,
      });
      return { intent_id, hash };
    },
    close: async () => {
      await browser.close();
      await service.stop();
      await keyturn.close();
      rmSync(root, { recursive: true, force: true });
    },
  };
}

async function serving(root: string, most: number, port: number) {
  const keyturn = await Keyturn.open({ at: root });
  const stopped = new AbortController();
  let done: Promise<void> = Promise.resolve();
  const { address, link } = await new Promise<{ address: string; link: string }>((listening, failed) => {
    const { signal } = stopped;
    done = serve(keyturn, { port, most, grace_ms: 100, signal, onListening: listening });
    done.catch(failed);
  });
  const stop = async () => {
    if (stopped.signal.aborted) return;
    stopped.abort();
    await done.catch(() => {});
    await keyturn.close();
  };
  return { address, link, stop };
}

export async function newAuthenticator(cdp: CDPSession, over: object = {}): Promise<string> {
  const options = {
    protocol: 'ctap2' as const,
    ctap2Version: 'ctap2_1' as const,
    transport: 'internal' as const,
    hasResidentKey: true,
    hasUserVerification: true,
    isUserVerified: true,
    automaticPresenceSimulation: true,
    ...over,
  };
  const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', { options });
  return authenticatorId;
}

interface Enrolling {
  readonly name: string;
  readonly signer: Signer;
  readonly algorithm: number;
  readonly label: string;
}

async function enrolIn(
  keyturn: Keyturn,
  origin: string,
  { page }: Person,
  { name, signer, algorithm, label }: Enrolling,
): Promise<void> {
  const made = (await page.evaluate(createInPage, { name, algorithm })) as Omit<
    Passkey,
    'rp_id' | 'origins' | 'label'
  >;
  const passkey: Passkey = { ...made, rp_id: 'localhost', origins: [origin], label };
  const holder: Signer = {
    name,
    public_key: passkey.public_key,
    sign: async (statements) =>
      Promise.all(
        statements.map((one) =>
          page.evaluate(signInPage, {
            statement: Buffer.from(one).toString('base64'),
            credential_id: passkey.credential_id,
          }),
        ),
      ) as Promise<Proof[]>,
  };
  const credential = { kind: 'passkey' as const, ...passkey };
  await keyturn.people.addCredential({ name, credential, reason: 'a stage', signer, holder });
}

/** These two run in the page. */
async function createInPage({ name, algorithm }: { name: string; algorithm: number }) {
  const made = (await navigator.credentials.create({
    publicKey: {
      rp: { id: 'localhost', name: 'Keyturn' },
      user: { id: crypto.getRandomValues(new Uint8Array(16)), name, displayName: name },
      challenge: crypto.getRandomValues(new Uint8Array(32)),
      pubKeyCredParams: [{ type: 'public-key', alg: algorithm }],
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    },
  })) as PublicKeyCredential;
  const response = made.response as AuthenticatorAttestationResponse;
  const base64 = (bytes: ArrayBuffer) => btoa(String.fromCharCode(...new Uint8Array(bytes)));
  const url = (text: string) => text.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
  const data = new Uint8Array(response.getAuthenticatorData());
  const hex = [...data.subarray(37, 53)].map((one) => one.toString(16).padStart(2, '0')).join('');
  return {
    credential_id: url(base64(made.rawId)),
    public_key: base64(response.getPublicKey()!),
    can_sync: (data[32]! & 8) !== 0,
    aaguid: hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-'),
  };
}

async function signInPage({ statement, credential_id }: { statement: string; credential_id: string }) {
  const bytes = (text: string) => Uint8Array.from(atob(text), (one) => one.charCodeAt(0));
  const base64 = (buffer: ArrayBuffer) =>
    btoa(String.fromCharCode(...new Uint8Array(buffer)))
      .replaceAll('+', '-')
      .replaceAll('/', '_')
      .replace(/=+$/, '');
  const id = bytes(credential_id.replaceAll('-', '+').replaceAll('_', '/'));
  const got = (await navigator.credentials.get({
    publicKey: {
      rpId: 'localhost',
      challenge: await crypto.subtle.digest('SHA-256', bytes(statement)),
      allowCredentials: [{ type: 'public-key', id }],
      userVerification: 'required',
    },
  })) as PublicKeyCredential;
  const { authenticatorData, clientDataJSON, signature } = got.response as AuthenticatorAssertionResponse;
  return {
    authenticator_data: base64(authenticatorData),
    client_data: base64(clientDataJSON),
    signature: base64(signature),
    touch: null,
  };
}

/** A stage for all tests of a file, with ada at her browser, which `furnish` takes. */
export function stageOfFile(furnish: (stage: Stage, ada: Person) => void | Promise<void>): void {
  let stage: Stage | undefined;
  beforeAll(async () => {
    stage = await openStage();
    const ada = await stage.person();
    await stage.enrol(ada, 'ada');
    await furnish(stage, ada);
  }, 100_000);
  afterAll(() => stage?.close());
}

/** The page was drawn with what it is now, and told what of it is on the screen: an observer is told after a frame. */
export async function drawnAnew({ page }: Person): Promise<void> {
  await page.evaluate(
    () =>
      new Promise((done) =>
        requestAnimationFrame(() => requestAnimationFrame(() => queueMicrotask(() => done(null)))),
      ),
  );
}

/** Waits until the dock is in this state, and says what it says where that does not come. */
export async function reached({ page }: Person, state: string): Promise<void> {
  try {
    await page.waitForSelector(`.dock[data-state^="${state}"]`);
  } catch {
    const docks = await page.locator('.dock').allTextContents();
    throw new Error(`The dock is not "${state}". It says: ${docks.join(' | ')}`);
  }
}
