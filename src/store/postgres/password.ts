import type { EventEmitter } from 'node:events';
import type { Client } from 'pg';
import { limits } from '../../limits.ts';
import { Refusal, refuse } from '../../refusal.ts';
import { namesHost, type Tls } from './address.ts';

/** The three methods of the driver through which a password, or what is derived from it, leaves this process. */
interface Wire extends EventEmitter {
  /** Cleartext and MD5. */
  password(text: string): void;
  sendSASLInitialResponseMessage(mechanism: string, text: string): void;
  sendSCRAMClientFinalMessage(text: string): void;
  attachListeners(stream: Pick<EventEmitter, 'on'>): void;
}

const BOUND = 'SCRAM-SHA-256-PLUS';

/**
 * The attacker is the server: a host that a changed keyturn.yaml names, a process that took a local port or socket, or a
 * machine in the middle. It may ask for the password in any way and in any order. Cleartext and MD5 (which is as good as
 * the password) go only to a server whose certificate names the host; every other server gets a SCRAM proof.
 */
export async function connectSafely(client: Client, tls: Tls | null): Promise<void> {
  const { connection: wire } = client as unknown as { connection: Wire };
  failOnNonsense(wire);
  let is_begun = false;
  let is_proven = false;
  wire.on('authenticationSASL', () => {
    is_begun = true;
  });
  // The driver compares the signature of the server next, and fails the connection where it is wrong.
  wire.on('authenticationSASLFinal', () => {
    is_proven = true;
  });
  if (!tls || !namesHost(tls)) sendOnlyScram(wire, tls !== null);
  await client.connect();
  // The driver does not mind a server that says welcome before it has proven anything.
  if (is_begun && !is_proven) refuse('STORE_UNPROVEN');
}

/** The driver throws at a message that it cannot read, where nothing catches it: any server could end this process. */
function failOnNonsense(wire: Wire): void {
  const attach = wire.attachListeners.bind(wire);
  wire.attachListeners = (stream) => {
    const on: EventEmitter['on'] = (name, listener) =>
      stream.on(name, (...values: unknown[]) => {
        try {
          listener(...values);
        } catch (error) {
          wire.emit('error', error);
        }
      });
    attach({ on });
  };
}

/** Replaces what sends, because nothing else is on the way of every message whatever the server says when. */
function sendOnlyScram(wire: Wire, is_encrypted: boolean): void {
  let is_cheap = false;
  const refuseToSend = (words: string) => {
    wire.emit('error', new Refusal('STORE_PASSWORD_UNSAFE', words));
  };
  const begin = wire.sendSASLInitialResponseMessage.bind(wire);
  const prove = wire.sendSCRAMClientFinalMessage.bind(wire);
  wire.on('authenticationSASLContinue', ({ data }: { data: string }) => {
    is_cheap ||= iterationsOf(data).some((count) => !(count >= limits.scram_iterations));
  });
  wire.password = () =>
    refuseToSend(
      'The server asks for the password in clear or as MD5, and is not verified. It was not sent.',
    );
  wire.sendSASLInitialResponseMessage = (mechanism, text) =>
    is_encrypted && mechanism !== BOUND
      ? refuseToSend('The certificate is not verified, and the server does not bind SCRAM to it.')
      : begin(mechanism, text);
  wire.sendSCRAMClientFinalMessage = (text) =>
    is_cheap
      ? refuseToSend(`The server asks for SCRAM with fewer than ${limits.scram_iterations} iterations.`)
      : prove(text);
}

/** All of them: where a message has several, the driver takes the last. */
function iterationsOf(text: string): number[] {
  return text
    .split(',')
    .filter((pair) => pair.startsWith('i='))
    .map((pair) => Number(pair.slice(2)));
}
