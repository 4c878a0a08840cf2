import { setTimeout } from 'node:timers/promises';
import { generateKeyPair } from '../../canonical/ed25519.ts';
import { visible } from '../../canonical/visible.ts';
import {
  activeCredentials,
  type Keyturn,
  keyCredential,
  type Passkey,
  type Principal,
  type Signer,
  type Result as Verb,
} from '../../keyturn.ts';
import { cliLimits } from '../../limits.ts';
import { refuse } from '../../refusal.ts';
import { newPassphrase } from '../human.ts';
import { showAll } from '../pager.ts';
import { fields } from '../table.ts';
import { atTerminal } from '../terminal.ts';

interface Wanted {
  readonly name: string;
  readonly by: string;
  /** The passkey that vouches. */
  readonly passkey: Passkey;
  readonly label: string;
  readonly reason: string;
}

/** By the service that runs here: this terminal makes the key file, and a passkey signs for it in the console, with one touch. */
export async function addKeyFile(keyturn: Keyturn, wanted: Wanted): Promise<Verb<'people.addCredential'>> {
  const { name, by, passkey, label, reason } = wanted;
  const key = passkey.public_key;
  const act = (holder: Signer) => (signer: Signer) =>
    keyturn.people.addCredential({
      name,
      credential: keyCredential(holder.public_key, label),
      reason,
      signer,
      holder,
    });
  // Nothing is typed for what would be refused. The key of the draft is not kept.
  const { public_key } = generateKeyPair();
  await keyturn.draft({ name: by, public_key: key }, act({ name, public_key, sign: async () => [] }));
  return atTerminal(async (terminal) => {
    const holder = await keyturn.host.createKey(
      name,
      await newPassphrase(terminal, name, keyturn.layout.root),
    );
    const open = () => opened(keyturn, wanted, holder, act(holder));
    const first = await open();
    await showAll(terminal, linesOf(wanted, holder.public_key));
    terminal.write(
      `Open within 5 minutes, in the browser with your passkey, and sign there:\n${first.link}\n`,
    );
    let waiting = first;
    try {
      while ((await statusOf(keyturn, waiting)) !== 'enrolled') {
        if (Date.now() > Date.parse(first.expires_at)) refuse('ACT_LATE');
        // The human may still be on the way to the browser: what was drawn up can be signed for two minutes.
        if (Date.now() > waiting.until_ms) {
          await drop(keyturn, waiting);
          waiting = await open();
        }
        await setTimeout(cliLimits.enrolment_look_ms);
      }
      return await addedIn(keyturn, wanted, holder.public_key);
    } catch (error) {
      await drop(keyturn, waiting).catch(() => {});
      throw error;
    }
  });
}

/** The ledger has it, whatever the service says. */
async function addedIn(
  keyturn: Keyturn,
  { name, by, label, reason }: Wanted,
  public_key: string,
): Promise<Verb<'people.addCredential'>> {
  const { credentials } = await keyturn.people.credentials({ name });
  const is_there = credentials.some((one) => one.public_key === public_key && one.status === 'active');
  return is_there
    ? { name, label, public_key, by, reason }
    : refuse('ACT_CHANGED', 'The service says that the key was added, and the ledger does not have it.');
}

interface Waiting {
  readonly enrolment_id: string;
  readonly link: string;
  readonly expires_at: string;
  readonly until_ms: number;
}

async function ask(keyturn: Keyturn, path: string, asked: object): Promise<unknown> {
  const { askLocally } = await import('../../serve/local.ts');
  return askLocally(keyturn.layout.serve_socket, path, asked);
}

/** Draws it up, signs it with the new key, and leaves it to be signed in the console. */
async function opened(
  keyturn: Keyturn,
  { passkey, ...wanted }: Wanted,
  holder: Signer,
  act: (signer: Signer) => Promise<unknown>,
): Promise<Waiting> {
  const key = passkey.public_key;
  const draft = await keyturn.draft({ name: wanted.by, public_key: key }, act);
  const [proof] = await holder.sign(draft.statements.map((one) => Buffer.from(one, 'utf8')));
  const made = { public_key: holder.public_key, draft, proof };
  const told = await ask(keyturn, '/v1/enrolments/open', { ...wanted, key, made });
  return { ...(told as Omit<Waiting, 'until_ms'>), until_ms: Date.parse(deadlineIn(draft.statements[0]!)) };
}

function deadlineIn(statement: string): string {
  return (JSON.parse(statement) as { body: { deadline: string } }).body.deadline;
}

async function statusOf(keyturn: Keyturn, { enrolment_id }: Waiting): Promise<string> {
  const told = await ask(keyturn, '/v1/enrolments/list', { enrolment_id });
  return (told as { enrolments: readonly { status: string }[] }).enrolments[0]!.status;
}

async function drop(keyturn: Keyturn, { enrolment_id }: Waiting): Promise<void> {
  await ask(keyturn, '/v1/enrolments/drop', { enrolment_id });
}

function linesOf({ name, label, reason }: Wanted, public_key: string): string[] {
  return [
    `A key file will sign for ${visible(name)} from now on:`,
    ...fields([
      ['Label', visible(label)],
      ['Public key', public_key],
      ['Reason', visible(reason)],
    ]),
  ];
}

/** With only those passkeys that can sign at the service that runs here. */
export async function withPasskeysHere(keyturn: Keyturn, person: Principal): Promise<Principal> {
  const { address } = (await ask(keyturn, '/v1/address', {})) as { address: string };
  const credentials = activeCredentials(person).filter(
    (one) => one.kind === 'passkey' && one.origins.includes(address),
  );
  if (credentials.length === 0)
    refuse(
      'PASSKEY_ORIGIN',
      `${visible(person.name)} has no passkey for ${address}, where the service runs.`,
    );
  return { ...person, credentials };
}
