import { existsSync } from 'node:fs';
import { visible } from '../../canonical/visible.ts';
import { Keyturn, type Principal } from '../../keyturn.ts';
import { refuse } from '../../refusal.ts';
import type { Answer, Call } from '../answer.ts';
import { actAs, newPassphrase, unlock, whoActs } from '../human.ts';
import { reading, writing } from '../project.ts';
import type { Result } from '../schema.ts';
import { fields, table } from '../table.ts';
import { atTerminal } from '../terminal.ts';

export function add(call: Call): Promise<Answer> {
  const [name = ''] = call.operands;
  const { agent, keyOut: key_file = null, role: roles = [] } = call.options;
  if (key_file !== null && !agent)
    refuse('USAGE', "--key-out goes with --agent. A human's key is kept in the project.");
  for (const role of roles) Keyturn.requireName(role);
  return writing(call, async (keyturn) => {
    await requireFree(keyturn, name);
    const public_key = await enrol(keyturn, name, call);
    const kind = agent ? 'agent' : 'human';
    const result: Result<'identity add'> = { name, kind, public_key, roles: [...roles], key_file };
    const lines = [`[OK] ${name} is enrolled as ${kind === 'agent' ? 'an agent' : 'a human'}`];
    return { result, lines: key_file === null ? lines : [...lines, ...keyLines(key_file, public_key!)] };
  });
}

function keyLines(key_file: string, public_key: string): string[] {
  return fields([
    ['Key file', visible(key_file)],
    ['Public key', public_key],
  ]);
}

/** Asked before anything is typed or written: a key file for a name that is taken would be a trap. */
async function requireFree(keyturn: Keyturn, name: string): Promise<void> {
  const taken = (await keyturn.principals()).some((principal) => principal.name === name);
  if (taken) refuse('PRINCIPAL_EXISTS', `"${name}" is enrolled already.`);
}

function enrol(keyturn: Keyturn, name: string, { options }: Call): Promise<string | null> {
  const { keyOut, role: roles = [] } = options;
  if (keyOut !== undefined && existsSync(keyOut))
    refuse('WRITE_FAILED', `${keyOut} exists already. It is never overwritten: choose another name.`);
  return atTerminal(async (terminal) => {
    const signer = await unlock(keyturn, terminal, await whoActs(keyturn, options.as));
    if (options.agent) {
      const public_key = keyOut === undefined ? null : Keyturn.createAgentKey(keyOut).public_key;
      await keyturn.enrol({ name, principal: 'agent', public_key, roles, signer });
      return public_key;
    }
    const passphrase = await newPassphrase(terminal, name, keyturn.layout.root);
    const { public_key } = await keyturn.createKey(name, passphrase);
    await keyturn.enrol({ name, principal: 'human', public_key, roles, signer });
    return public_key;
  });
}

export function list(call: Call): Promise<Answer> {
  return reading(call, async (keyturn) => {
    const principals = (await keyturn.principals()).map(summaryOf);
    const result: Result<'identity list'> = { principals };
    const headings = ['NAME', 'KIND', 'STATUS', 'KEY', 'ROLES', 'ENROLLED', 'BY'];
    return { result, lines: table(headings, principals.map(row)) };
  });
}

type Summary = Result<'identity list'>['principals'][number];

function summaryOf({ roles, ...principal }: Principal): Summary {
  return { ...principal, roles: [...roles] };
}

function row({ name, kind, status, public_key, roles, enrolled_at, enrolled_by }: Summary): string[] {
  const key = public_key === null ? 'none' : 'yes';
  return [name, kind, status, key, roles.join(',') || '-', enrolled_at, enrolled_by];
}

/** The roles are all of them from now on: what is not named is taken away. */
export function assign(call: Call): Promise<Answer> {
  const [name = ''] = call.operands;
  const { role: roles = [], withoutRoles = false } = call.options;
  const reason = call.options.reason!;
  if (roles.length > 0 === withoutRoles)
    refuse('USAGE', 'Name all the roles with --role, or take them away with --without-roles.');
  for (const role of roles) Keyturn.requireName(role);
  return writing(call, async (keyturn) => {
    const by = await whoActs(keyturn, call.options.as);
    const found = (await keyturn.principals()).find((principal) => principal.name === name);
    if (!found) refuse('PRINCIPAL_UNKNOWN', `"${visible(name)}" is not enrolled.`);
    const { body } = await actAs(keyturn, by, (signer) => keyturn.assign({ name, roles, reason, signer }));
    const result: Result<'identity assign'> = { name, roles: [...body.roles], by: body.by, reason };
    const words = roles.length === 0 ? 'no roles' : `the roles ${roles.join(', ')}`;
    return { result, lines: [`[OK] ${name} has ${words} from now on`] };
  });
}

export function revoke(call: Call): Promise<Answer> {
  const [name = ''] = call.operands;
  const reason = call.options.reason!;
  return writing(call, async (keyturn) => {
    const by = await whoActs(keyturn, call.options.as);
    const { body } = await atTerminal(async (terminal) =>
      keyturn.revoke({ name, reason, signer: await unlock(keyturn, terminal, by) }),
    );
    const result: Result<'identity revoke'> = { name, reason, by: body.by };
    return { result, lines: [`[OK] ${name} is revoked`] };
  });
}
