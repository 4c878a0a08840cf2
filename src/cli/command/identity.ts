import { generateKeyPair } from '../../canonical/ed25519.ts';
import { visible } from '../../canonical/visible.ts';
import {
  activeCredentials,
  Keyturn,
  type Principal,
  type Request,
  requireName,
  type Signer,
  type Result as Verb,
} from '../../keyturn.ts';
import { refuse } from '../../refusal.ts';
import type { Answer, Call } from '../answer.ts';
import { actAs, newKey, possible, requireKeyPlace, requireNew, unlock, whoActs } from '../human.ts';
import { type Opened, reading, writing } from '../project.ts';
import type { MadeHere } from '../schema.ts';
import { fields, table } from '../table.ts';
import { atTerminal } from '../terminal.ts';
import { tokenLines } from './token.ts';

type Enrolled = Verb<'people.enrol'> & Pick<MadeHere<'identity add'>, 'token'>;

export function add(call: Call): Promise<Answer> {
  const [name = ''] = call.operands;
  const { agent, keyOut: key_file = null, role: roles = [] } = call.options;
  if (call.options.token && !agent) refuse('USAGE', '--token goes with --agent. A human signs each act.');
  for (const role of roles) requireName(role);
  return writing(call, async (keyturn) => {
    await requireFree(keyturn, name);
    const { token, ...result } = await enrol(keyturn, name, call);
    const here: MadeHere<'identity add'> = { key_file, token };
    const lines = [
      `[OK] ${name} is enrolled as ${agent ? 'an agent' : 'a human'}`,
      ...(key_file === null ? [] : keyLines(key_file, result.public_key!)),
      ...(token === null ? [] : tokenLines(token)),
    ];
    return { result, here, lines };
  });
}

function keyLines(key_file: string, public_key: string): string[] {
  return fields([
    ['Key file', visible(key_file)],
    ['Public key', public_key],
  ]);
}

/** Asked before anything is typed or written: a key file for a name that is taken would be a trap. */
async function requireFree(keyturn: Opened, name: string): Promise<void> {
  const taken = (await keyturn.people.list()).principals.some((principal) => principal.name === name);
  if (taken) refuse('PRINCIPAL_EXISTS', `"${name}" is enrolled already.`);
}

async function enrol(keyturn: Opened, name: string, { options }: Call): Promise<Enrolled> {
  const { keyOut, role: roles = [] } = options;
  if (options.agent) requireNew(keyOut);
  else requireKeyPlace(keyturn, keyOut);
  const by = await whoActs(keyturn, options.as);
  // The key is made only when nothing else can be refused, and one that is never kept stands for it until then.
  const rehearsed = options.agent && keyOut === undefined ? null : generateKeyPair().public_key;
  const asked = await possible(keyturn, by, (signer) =>
    keyturn.people.enrol({
      name,
      principal: options.agent ? 'agent' : 'human',
      public_key: rehearsed,
      roles,
      signer,
    } as Request<'people.enrol'>),
  );
  return atTerminal(async (terminal) => {
    const signer = await unlock(keyturn, terminal, asked);
    if (options.agent) {
      const public_key = keyOut === undefined ? null : Keyturn.createAgentKey(keyOut).public_key;
      const enrolled = await keyturn.people.enrol({ name, principal: 'agent', public_key, roles, signer });
      return { ...enrolled, token: options.token ? await addToken(keyturn, name, signer) : null };
    }
    const { public_key } = await newKey(keyturn, terminal, name, keyOut);
    return {
      ...(await keyturn.people.enrol({ name, principal: 'human', public_key, roles, signer })),
      token: null,
    };
  });
}

async function addToken(keyturn: Opened, name: string, signer: Signer) {
  const { token, digest } = Keyturn.makeToken(name);
  const reason = 'enrolled with a token';
  const { token_id } = await keyturn.agents.addToken({ name, digest, reason, signer });
  return { token_id, token };
}

export function list(call: Call): Promise<Answer> {
  return reading(call, async (keyturn) => {
    const result = await keyturn.people.list();
    const headings = ['NAME', 'KIND', 'STATUS', 'KEYS', 'ROLES', 'ENROLLED', 'BY'];
    return { result, lines: table(headings, result.principals.map(row)) };
  });
}

function row(principal: Principal): string[] {
  const { name, kind, status, roles, enrolled_at, enrolled_by } = principal;
  const keys = String(activeCredentials(principal).length);
  return [name, kind, status, keys, roles.join(',') || '-', enrolled_at, enrolled_by];
}

/** The roles are all of them from now on: what is not named is taken away. */
export function assign(call: Call): Promise<Answer> {
  const [name = ''] = call.operands;
  const { role: roles = [], withoutRoles = false } = call.options;
  const reason = call.options.reason!;
  if (roles.length > 0 === withoutRoles)
    refuse('USAGE', 'Name all the roles with --role, or take them away with --without-roles.');
  for (const role of roles) requireName(role);
  return writing(call, async (keyturn) => {
    const by = await whoActs(keyturn, call.options.as);
    const found = (await keyturn.people.list()).principals.find((principal) => principal.name === name);
    if (!found) refuse('PRINCIPAL_UNKNOWN', `"${visible(name)}" is not enrolled.`);
    const { roles: replaces } = found;
    const result = await actAs(
      keyturn,
      by,
      (signer) => keyturn.people.assign({ name, roles, replaces, reason, signer }),
      () => [
        `${visible(name)} has ${replaces.length === 0 ? 'no roles' : `the roles ${replaces.join(', ')}`} now`,
      ],
    );
    const words = roles.length === 0 ? 'no roles' : `the roles ${roles.join(', ')}`;
    return { result, lines: [`[OK] ${name} has ${words} from now on`] };
  });
}

export function revoke(call: Call): Promise<Answer> {
  const [name = ''] = call.operands;
  const reason = call.options.reason!;
  return writing(call, async (keyturn) => {
    const by = await whoActs(keyturn, call.options.as);
    const result = await actAs(keyturn, by, (signer) => keyturn.people.revoke({ name, reason, signer }));
    return { result, lines: [`[OK] ${name} is revoked`] };
  });
}
