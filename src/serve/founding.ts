import { randomBytes } from 'node:crypto';
import { getRequestListener } from '@hono/node-server';
import { Hono } from 'hono';
import { sha256 } from '../canonical/digest.ts';
import {
  type HumanKey,
  Keyturn,
  type Passkey,
  type Proof,
  requireLabel,
  requireMadeBy,
  requireName,
  verifyProof,
} from '../keyturn.ts';
import { webLimits } from '../limits.ts';
import { Refusal, refuse } from '../refusal.ts';
import { answerProblem, respond } from './answer.ts';
import { FOUNDING_FILES } from './enrol-page.ts';
import { linkRoutes } from './enrolling.ts';
import { type Ceremony, freshEnrolment, type LinkedEnrolments, type ToSign } from './enrolment.ts';
import { requireHost, requireOwnPage, type Site, siteOf } from './guard.ts';
import { closed, listen, PORT } from './serve.ts';

export interface FoundRequest {
  readonly at: string;
  readonly name: string;
  readonly label: string;
  /** Enrolled with the same touch. */
  readonly recovery?: HumanKey;
  readonly port?: number;
  readonly signal: AbortSignal;
  readonly onListening: (link: string) => void;
}

/**
 * A project by a passkey. The terminal that prints the link is the root of trust: until the passkey that its link makes has signed what a
 * project begins with, there is no project.
 */
export async function foundWithPasskey(request: FoundRequest): Promise<Keyturn> {
  const { name, label, signal } = request;
  requireName(name);
  requireLabel(label);
  const { servers, port } = await listen('localhost', request.port ?? PORT);
  const site = siteOf('localhost', port);
  const founding = foundingOf(request);
  const secret = randomBytes(32).toString('base64url');
  const app = new Hono();
  app.use('*', async ({ req }, next) => {
    requireHost(req.raw, site);
    await next();
  });
  for (const { path, type, text } of FOUNDING_FILES)
    app.get(path, () => respond(text, 200, { 'content-type': type }));
  for (const { path, answer } of linkRoutes(onlyOne(founding, secret, site)))
    app.post(path, ({ req }) => {
      requireOwnPage(req.raw, site);
      return answer(req.raw);
    });
  app.onError((error) => answerProblem(error));
  app.notFound(() => answerProblem(new Refusal('ROUTE_UNKNOWN')));
  const listener = getRequestListener(app.fetch, { overrideGlobalObjects: false });
  for (const server of servers) server.on('request', listener);
  try {
    request.onListening(`${site.origin}/enrol#link=${secret}`);
    return await founding.founded(signal);
  } finally {
    await Promise.all(servers.map((server) => closed(server, webLimits.founding_grace_ms)));
  }
}

/** There is one, of this process: before the project there is nothing to keep it in. */
function onlyOne(founding: Founding, secret: string, site: Site): LinkedEnrolments<Founding> {
  const enrolment = freshEnrolment(founding, site, new Date(Date.now() + webLimits.enrolment_ms));
  return {
    withSecret: async (shown, act) => {
      const is_it = sha256(shown) === sha256(secret) && Date.parse(enrolment.expires_at) > Date.now();
      return is_it ? act(enrolment) : refuse('ENROLMENT_UNKNOWN');
    },
  };
}

interface Founding extends Ceremony {
  /** The project, once it is there. */
  founded(signal: AbortSignal): Promise<Keyturn>;
}

interface Asked {
  readonly statements: readonly Uint8Array[];
  readonly at: string;
  readonly answer: (proofs: readonly Proof[]) => void;
  readonly giveUp: (why: unknown) => void;
}

interface Attempt {
  readonly passkey: Passkey;
  readonly asked: Promise<Asked>;
  readonly project: Promise<Keyturn>;
}

function foundingOf(request: FoundRequest): Founding {
  const { name, label } = request;
  let attempt: Attempt | null = null;
  let is_founded = false;
  const done = later<Keyturn>();
  const ended = async () => {
    const before = attempt;
    attempt = null;
    if (before === null) return;
    const asked = await before.asked.catch(() => null);
    asked?.giveUp(new Refusal('ACT_LATE'));
    await before.project.catch(() => {});
  };
  return {
    name,
    label,
    known: async () => [],
    draw: async (passkey): Promise<ToSign> => {
      if (is_founded) refuse('PROJECT_EXISTS');
      await ended();
      attempt = attemptOf(request, passkey);
      const { statements, at: time } = await Promise.race([attempt.asked, attempt.project.then(never)]);
      return { statements: statements.map((one) => Buffer.from(one).toString('utf8')), at: time };
    },
    prove: async (proofs) => {
      const current = attempt ?? refuse('ACT_CHANGED', 'Nothing was drawn up to sign.');
      const { passkey, project } = current;
      const { statements, answer } = await current.asked;
      if (proofs.length !== statements.length)
        refuse('SIGNATURE_INVALID', 'There is not one proof for each act.');
      for (const [i, one] of statements.entries()) {
        verifyProof(one, passkey.public_key, proofs[i]!, 'A proof does not verify.');
        requireMadeBy({ ...passkey, kind: 'passkey' }, proofs[i]!);
      }
      answer(proofs);
      const keyturn = await project;
      is_founded = true;
      done.resolve(keyturn);
    },
    status: () => (is_founded ? 'enrolled' : 'open'),
    founded: async (signal) => {
      const stopped = new Promise<never>((_, failed) => {
        const stop = () =>
          failed(new Refusal('CONFIRMATION_DECLINED', 'It was stopped before the passkey signed.'));
        if (signal.aborted) stop();
        signal.addEventListener('abort', stop, { once: true });
      });
      try {
        return await Promise.race([done.promise, stopped]);
      } finally {
        if (!is_founded) await ended();
      }
    },
  };
}

const never = () => refuse('INTERNAL', 'The project was founded without a signature.');

/** Builds the project up to the signature, and waits for that. */
function attemptOf({ at, name, recovery }: FoundRequest, passkey: Passkey): Attempt {
  const asked = later<Asked>();
  const time = new Date();
  const holder = {
    name,
    public_key: passkey.public_key,
    drawn: { at: time, id: '' },
    sign: (statements: readonly Uint8Array[]) =>
      new Promise<readonly Proof[]>((answer, giveUp) =>
        asked.resolve({ statements, at: time.toISOString(), answer, giveUp }),
      ),
  };
  const project = Keyturn.init({ at, passkey, holder, ...(recovery && { recovery }) });
  project.catch((error: unknown) => asked.reject(error));
  asked.promise.catch(() => {});
  return { passkey, asked: asked.promise, project };
}

function later<T>() {
  let resolve: (value: T) => void = () => {};
  let reject: (error: unknown) => void = () => {};
  const promise = new Promise<T>((done, failed) => {
    resolve = done;
    reject = failed;
  });
  return { promise, resolve, reject };
}
