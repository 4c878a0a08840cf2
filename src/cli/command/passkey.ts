import { visible } from '../../canonical/visible.ts';
import { type Draft, type Keyturn, onlyKeyOf, type Passkey, type Result as Verb } from '../../keyturn.ts';
import { cliLimits } from '../../limits.ts';
import { refuse } from '../../refusal.ts';
import { type Possible, unlock } from '../human.ts';
import { showAll } from '../pager.ts';
import { fields } from '../table.ts';
import { atTerminal, type Terminal } from '../terminal.ts';

interface Wanted {
  readonly name: string;
  readonly by: string;
  readonly label: string;
  readonly reason: string;
}

/** By the service that runs here: a link, two touches in a browser, then the key file of the person who acts vouches for the passkey. */
export function addPasskey(
  keyturn: Keyturn,
  wanted: Wanted,
  asked: Possible<unknown>,
): Promise<Verb<'people.addCredential'>> {
  return atTerminal(async (terminal) => {
    const { askLocally } = await import('../../serve/local.ts');
    const ask = (step: string, asked: object) =>
      askLocally(keyturn.layout.serve_socket, `/v1/enrolments/${step}`, asked);
    const key = await keyHere(keyturn, wanted.by);
    const { link, enrolment_id } = (await ask('open', { ...wanted, key })) as {
      link: string;
      enrolment_id: string;
    };
    try {
      terminal.write(`Open within 10 minutes, in the browser of ${wanted.name}:\n${link}\n`);
      const draft = await signedInBrowser(() => ask('list', { enrolment_id }));
      const statement = Buffer.from(draft.statements[0] ?? '', 'utf8');
      await showAll(terminal, linesOf(passkeyIn(keyturn, statement, wanted, key), wanted));
      const proofs = await vouch(keyturn, terminal, asked, key, statement);
      return (await ask('finish', { enrolment_id, proofs })) as Verb<'people.addCredential'>;
    } catch (error) {
      await ask('drop', { enrolment_id }).catch(() => {});
      throw error;
    }
  });
}

/** The key in a file here that will vouch. It is part of what is signed, so it is chosen before the passphrase is typed. */
async function keyHere(keyturn: Keyturn, by: string): Promise<string> {
  const person = (await keyturn.people.list()).principals.find(({ name }) => name === by)!;
  const here = keyturn.host.keysHere(by);
  return onlyKeyOf({
    ...person,
    credentials: person.credentials.filter((one) => here.includes(one.public_key)),
  });
}

async function signedInBrowser(look: () => Promise<unknown>): Promise<Draft> {
  for (;;) {
    const { enrolments } = (await look()) as { enrolments: { pending: { draft: Draft } | null }[] };
    const [one] = enrolments;
    if (one?.pending) return one.pending.draft;
    await new Promise((done) => setTimeout(done, cliLimits.enrolment_look_ms));
  }
}

/** What the statement itself says, and not what the service says of it. Refuses any other act than the one that was asked for. */
function passkeyIn(keyturn: Keyturn, statement: Buffer, { name, by, label }: Wanted, key: string): Passkey {
  const { origin, kind, subject, body } = JSON.parse(statement.toString('utf8'));
  const { credential } = body ?? {};
  const is_asked =
    origin === keyturn.host.origin &&
    kind === 'credential.added' &&
    subject === name &&
    body.by === by &&
    body.key === key &&
    credential?.kind === 'passkey' &&
    credential.label === label;
  return is_asked ? credential : refuse('ACT_CHANGED', 'The service gave something else to sign.');
}

function linesOf({ rp_id, origins, can_sync, aaguid, public_key, label }: Passkey, { name, reason }: Wanted) {
  return [
    `A passkey will sign for ${name} from now on:`,
    ...fields([
      ['Label', visible(label)],
      ['For', `${visible(rp_id)}, at ${origins.map((one) => visible(one)).join(', ')}`],
      ['Kind', can_sync ? 'can be copied to other devices' : 'bound to one device'],
      ['Model', visible(aaguid)],
      ['Public key', visible(public_key)],
      ['Reason', visible(reason)],
    ]),
  ];
}

async function vouch(
  keyturn: Keyturn,
  terminal: Terminal,
  asked: Possible<unknown>,
  key: string,
  statement: Buffer,
) {
  const signer = await unlock(keyturn, terminal, asked);
  if (signer.public_key !== key)
    refuse('CREDENTIAL_AMBIGUOUS', `"${asked.name}" has several key files here.`);
  return signer.sign([statement]);
}
