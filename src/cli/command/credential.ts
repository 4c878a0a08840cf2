import { visible } from '../../canonical/visible.ts';
import {
  activeCredentials,
  assuranceOf,
  type Credential,
  Keyturn,
  keyCredential,
  type Principal,
  type Result as Verb,
} from '../../keyturn.ts';
import { refuse } from '../../refusal.ts';
import type { Answer, Call } from '../answer.ts';
import { actAs, newPassphrase, unlock, whoActs } from '../human.ts';
import { isKeyBeginning } from '../operand.ts';
import { type Opened, reading, writing, writingHere } from '../project.ts';
import type { Result } from '../schema.ts';
import { fields, table } from '../table.ts';
import { atTerminal } from '../terminal.ts';
import { addPasskey } from './passkey.ts';

/** A further key file or passkey: of the one who acts, or of a human who lost all that they had. */
export function add(call: Call): Promise<Answer> {
  const { passkey, as } = call.options;
  const [reason, label] = [call.options.reason!, call.options.label!];
  Keyturn.requireLabel(label);
  return writingHere(call, async (keyturn) => {
    const by = await whoActs(keyturn, as);
    const [name = by] = call.operands;
    requireAddable(await principalOf(keyturn, name), by);
    if (passkey) return told(name, label, await addPasskey(keyturn, { name, by, label, reason }));
    const result = await atTerminal(async (terminal) => {
      const signer = await unlock(keyturn, terminal, by);
      const passphrase = await newPassphrase(terminal, name, keyturn.layout.root);
      const holder = await keyturn.createKey(name, passphrase);
      const credential = keyCredential(holder.public_key, label);
      return keyturn.people.addCredential({ name, credential, reason, signer, holder });
    });
    return told(name, label, result);
  });
}

function told(name: string, label: string, result: Verb<'people.addCredential'>): Answer {
  const lines = [`[OK] ${name} can sign with "${label}" from now on`];
  return { result, lines: [...lines, ...fields([['Public key', result.public_key]])] };
}

/** Before a passphrase is typed. The store looks again. */
function requireAddable(person: Principal, by: string): void {
  if (person.kind !== 'human')
    refuse('NOT_HUMAN', `"${person.name}" is an agent, which has one key at most.`);
  if (person.status === 'revoked') refuse('KEY_REVOKED', `"${person.name}" was revoked.`);
  if (by !== person.name && activeCredentials(person).length > 0) refuse('CREDENTIAL_FOREIGN');
}

export function list(call: Call): Promise<Answer> {
  const [name] = call.operands;
  return reading(call, async (keyturn) => {
    const people =
      name === undefined ? (await keyturn.people.list()).principals : [await principalOf(keyturn, name)];
    const credentials = people.flatMap((one) => one.credentials.map((each) => summaryOf(one, each)));
    const result: Result<'credential list'> = { credentials };
    const headings = ['NAME', 'LABEL', 'KIND', 'STATUS', 'ADDED', 'BY', 'PUBLIC KEY'];
    return { result, lines: table(headings, credentials.map(row)) };
  });
}

type Summary = Result<'credential list'>['credentials'][number];

function summaryOf({ name, status }: Principal, credential: Credential): Summary {
  const { label, public_key, added_at, added_by } = credential;
  const passkey = credential.kind === 'passkey' ? credential : null;
  return {
    name,
    label,
    public_key,
    assurance: assuranceOf(passkey),
    status: status === 'active' ? credential.status : 'revoked',
    added_at,
    added_by,
    passkey: passkey && { rp_id: passkey.rp_id, origins: passkey.origins, aaguid: passkey.aaguid },
  };
}

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
    await actAs(
      keyturn,
      by,
      (signer) => keyturn.people.revokeCredential({ name, public_key, reason, signer }),
      () => [`Revoke: "${label}" of ${name}, with all that it approved and delegated`],
    );
    const result: Result<'credential revoke'> = { name, label, public_key, by, reason };
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
