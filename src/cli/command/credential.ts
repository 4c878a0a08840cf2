import { generateKeyPair } from '../../canonical/ed25519.ts';
import { visible } from '../../canonical/visible.ts';
import {
  activeCredentials,
  type Credential,
  Keyturn,
  keyCredential,
  type Principal,
  type Result as Verb,
} from '../../keyturn.ts';
import { refuse } from '../../refusal.ts';
import type { Answer, Call } from '../answer.ts';
import { actAs, newKey, possible, requireKeyPlace, unlock, whoActs } from '../human.ts';
import { isKeyBeginning } from '../operand.ts';
import { type Opened, reading, writing, writingHere } from '../project.ts';
import { fields, table } from '../table.ts';
import { atTerminal } from '../terminal.ts';
import { addPasskey } from './passkey.ts';

/** A further key file or passkey: of the one who acts, or of a human who lost all that they had. */
export function add(call: Call): Promise<Answer> {
  const { passkey, keyOut } = call.options;
  const [reason, label] = [call.options.reason!, call.options.label!];
  Keyturn.requireLabel(label);
  const want = { reason, label };
  // A passkey is made in a browser, with the service that runs on this host.
  if (passkey)
    return writingHere(call, async (keyturn) => {
      const { by, name, asked } = await wanted(keyturn, call, want);
      return told(name, label, await addPasskey(keyturn, { name, by, ...want }, asked));
    });
  return writing(call, async (keyturn) => {
    requireKeyPlace(keyturn, keyOut);
    const { name, asked } = await wanted(keyturn, call, want);
    const result = await atTerminal(async (terminal) => {
      const signer = await unlock(keyturn, terminal, asked);
      const holder = await newKey(keyturn, terminal, name, keyOut);
      const credential = keyCredential(holder.public_key, label);
      return keyturn.people.addCredential({ name, credential, reason, signer, holder });
    });
    return told(name, label, result);
  });
}

interface Want {
  readonly reason: string;
  readonly label: string;
}

/** Whose credential it is to be, and that nothing that can be known stands against it. A key that is never kept stands for it. */
async function wanted(keyturn: Opened, { operands, options: { as } }: Call, { reason, label }: Want) {
  const by = await whoActs(keyturn, as);
  const [name = by] = operands;
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
  return { by, name, asked };
}

function told(name: string, label: string, result: Verb<'people.addCredential'>): Answer {
  const lines = [`[OK] ${name} can sign with "${label}" from now on`];
  return { result, lines: [...lines, ...fields([['Public key', result.public_key]])] };
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
