import { generateKeyPair } from '../../canonical/ed25519.ts';
import { visible } from '../../canonical/visible.ts';
import {
  activeCredentials,
  type Credential,
  type Keyturn,
  keyCredential,
  onlyKeyOf,
  type Passkey,
  type Principal,
  requireLabel,
  type Result as Verb,
} from '../../keyturn.ts';
import { refuse } from '../../refusal.ts';
import type { Answer, Call } from '../answer.ts';
import { actAs, newKey, possible, requireKeyPlace, unlock, whoActs } from '../human.ts';
import { isKeyBeginning } from '../operand.ts';
import { nextAt, type Opened, reading, writing, writingHere } from '../project.ts';
import { serviceOf } from '../service.ts';
import { fields, table } from '../table.ts';
import { atTerminal } from '../terminal.ts';
import { addKeyFile, withPasskeysHere } from './key-file.ts';
import { addPasskey } from './passkey.ts';

/** A further key file or passkey: of the one who acts, or of a human who lost all that they had. */
export function add(call: Call): Promise<Answer> {
  const [reason, label] = [call.options.reason!, call.options.label!];
  requireLabel(label);
  const want = { reason, label };
  // A passkey is made in a browser, with the service that runs on this host.
  if (call.options.passkey || serviceOf(call) === null)
    return writingHere(call, (keyturn) => addHere(keyturn, call, want));
  return writing(call, async (keyturn) =>
    addFile(keyturn, call, want, await whoActs(keyturn, call.options.as)),
  );
}

interface Want {
  readonly reason: string;
  readonly label: string;
}

async function addHere(keyturn: Keyturn, call: Call, want: Want): Promise<Answer> {
  const { passkey, key, as } = call.options;
  const by = await whoAdds(keyturn, as);
  const person = await principalOf(keyturn, by);
  if (!passkey && hasOnlyPasskeys(keyturn, person)) {
    requireKeyPlace(keyturn, call.options.keyOut);
    const usable = await withPasskeysHere(keyturn, person);
    const signing = credentialIn(usable, key ?? onlyKeyOf(usable)) as Passkey;
    const [name = by] = call.operands;
    return told(name, want.label, await addKeyFile(keyturn, { name, by, passkey: signing, ...want }));
  }
  if (!passkey) return addFile(keyturn, call, want, by);
  const { name, asked } = await wanted(keyturn, call, want, by);
  return told(name, want.label, await addPasskey(keyturn, { name, by, ...want }, asked));
}

/** A key file, vouched for by another key file. */
async function addFile(keyturn: Opened, call: Call, want: Want, by: string): Promise<Answer> {
  const { keyOut } = call.options;
  requireKeyPlace(keyturn, keyOut);
  const { name, asked } = await wanted(keyturn, call, want, by);
  const result = await atTerminal(async (terminal) => {
    const signer = await unlock(keyturn, terminal, asked);
    const holder = await newKey(keyturn, terminal, name, keyOut);
    const credential = keyCredential(holder.public_key, want.label);
    return keyturn.people.addCredential({ name, credential, reason: want.reason, signer, holder });
  });
  return told(name, want.label, result, keyOut === undefined ? [] : fileFields(keyturn, name, keyOut));
}

function fileFields(keyturn: Opened, name: string, file: string): Said[] {
  const shown = visible(file);
  return [
    ['Key file', shown],
    ['Next', nextAt(keyturn, `keyturn login --as ${name} --key ${shown}`)],
  ];
}

/** Whose credential it is to be, and that nothing that can be known stands against it. A key that is never kept stands for it. */
async function wanted(keyturn: Opened, call: Call, { reason, label }: Want, by: string) {
  if (call.options.key !== undefined) refuse('USAGE', '--key is for a human who has only passkeys here.');
  const [name = by] = call.operands;
  const { public_key } = generateKeyPair();
  const asked = await possible(keyturn, by, (signer) =>
    keyturn.people.addCredential({
      name,
      credential: keyCredential(public_key, label),
      reason,
      signer,
      holder: { ...signer, name, public_key },
    }),
  );
  return { name, asked };
}

/** As for every act; where no human has a key file here, the only human there is. */
async function whoAdds(keyturn: Keyturn, as: string | undefined): Promise<string> {
  const { principals } = await keyturn.people.list();
  const humans = principals.filter(({ kind, status }) => kind === 'human' && status === 'active');
  const is_alone = as === undefined && humans.length === 1 && !keyturn.host.keyFiles().has(humans[0]!.name);
  return is_alone ? humans[0]!.name : whoActs(keyturn, as);
}

/** No key file here is one of theirs, and they have a passkey. */
function hasOnlyPasskeys(keyturn: Keyturn, person: Principal): boolean {
  const here = keyturn.host.keysHere(person.name);
  const active = activeCredentials(person);
  return (
    !active.some(({ public_key }) => here.includes(public_key)) &&
    active.some(({ kind }) => kind === 'passkey')
  );
}

type Said = readonly [name: string, value: string];

function told(
  name: string,
  label: string,
  result: Verb<'people.addCredential'>,
  more: readonly Said[] = [],
): Answer {
  const lines = [`[OK] ${name} can sign with "${label}" from now on`];
  return { result, lines: [...lines, ...fields([['Public key', result.public_key], ...more])] };
}

export function list(call: Call): Promise<Answer> {
  const [name] = call.operands;
  return reading(call, async (keyturn) => {
    const result = await keyturn.people.credentials(name === undefined ? {} : { name });
    const headings = ['NAME', 'LABEL', 'KIND', 'STATUS', 'ADDED', 'BY', 'PUBLIC KEY'];
    return { result, lines: table(headings, result.credentials.map(row)) };
  });
}

type Summary = Verb<'people.credentials'>['credentials'][number];

const KIND: Readonly<Record<Summary['assurance'], string>> = {
  key_file: 'key',
  synced_passkey: 'passkey, synced',
  device_bound_passkey: 'passkey, one device',
};

function row({ name, label, assurance, status, added_at, added_by, public_key }: Summary): string[] {
  return [name, label, KIND[assurance], status, added_at, added_by, public_key];
}

/** What it signed counts no longer from then on. */
export function revoke(call: Call): Promise<Answer> {
  const [name = '', which = ''] = call.operands;
  const reason = call.options.reason!;
  return writing(call, async (keyturn) => {
    const by = await whoActs(keyturn, call.options.as);
    const { public_key, label } = credentialIn(await principalOf(keyturn, name), which);
    const result = await actAs(
      keyturn,
      by,
      (signer) => keyturn.people.revokeCredential({ name, public_key, reason, signer }),
      () => [`Revoke: "${label}" of ${name}, with all that it approved and delegated`],
    );
    return { result, lines: [`[OK] "${label}" of ${name} is revoked`] };
  });
}

function credentialIn(person: Principal, which: string): Credential {
  const active = activeCredentials(person);
  const exact = active.filter((one) => [one.label, one.public_key].includes(which));
  const meant = exact.length > 0 ? exact : active.filter((one) => isKeyBeginning(one.public_key, which));
  const [only, ...others] = meant;
  if (!only) refuse('CREDENTIAL_UNKNOWN', `"${person.name}" has no active credential "${visible(which)}".`);
  if (others.length > 0)
    refuse(
      'CREDENTIAL_AMBIGUOUS',
      `"${visible(which)}" fits several: ${meant.map((one) => `${one.public_key} (${one.label})`).join(', ')}.`,
    );
  return only;
}

async function principalOf(keyturn: Opened, name: string): Promise<Principal> {
  const found = (await keyturn.people.list()).principals.find((principal) => principal.name === name);
  return found ?? refuse('PRINCIPAL_UNKNOWN', `"${visible(name)}" is not enrolled.`);
}
