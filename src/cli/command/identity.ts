import type { Keyturn, Principal } from '../../keyturn.ts';
import { refuse } from '../../refusal.ts';
import type { Answer, Call } from '../answer.ts';
import { newPassphrase, unlock, whoActs } from '../human.ts';
import { reading, writing } from '../project.ts';
import type { Result } from '../schema.ts';
import { table } from '../table.ts';
import { atTerminal } from '../terminal.ts';

export function add(call: Call): Promise<Answer> {
  const [name = ''] = call.operands;
  return writing(call, async (keyturn) => {
    await requireFree(keyturn, name);
    const public_key = await enrol(keyturn, name, call);
    const principal = call.options.agent ? 'agent' : 'human';
    const result: Result<'identity add'> = { name, kind: principal, public_key };
    return {
      result,
      lines: [`[OK] ${name} is enrolled as ${principal === 'agent' ? 'an agent' : 'a human'}`],
    };
  });
}

/** Asked before anything is typed or written: a key file for a name that is taken would be a trap. */
async function requireFree(keyturn: Keyturn, name: string): Promise<void> {
  const taken = (await keyturn.principals()).some((principal) => principal.name === name);
  if (taken) refuse('PRINCIPAL_EXISTS', `"${name}" is enrolled already.`);
}

function enrol(keyturn: Keyturn, name: string, { options }: Call): Promise<string | null> {
  return atTerminal(async (terminal) => {
    const signer = await unlock(keyturn, terminal, await whoActs(keyturn, options.as));
    if (options.agent) {
      await keyturn.enrol({ name, principal: 'agent', public_key: null, signer });
      return null;
    }
    const { public_key } = keyturn.createKey(name, await newPassphrase(terminal, name));
    await keyturn.enrol({ name, principal: 'human', public_key, signer });
    return public_key;
  });
}

export function list(call: Call): Promise<Answer> {
  return reading(call, async (keyturn) => {
    const principals = await keyturn.principals();
    const result: Result<'identity list'> = { principals };
    return { result, lines: table(['NAME', 'KIND', 'STATUS', 'ENROLLED', 'BY'], principals.map(row)) };
  });
}

function row({ name, kind, status, enrolled_at, enrolled_by }: Principal): string[] {
  return [name, kind, status, enrolled_at, enrolled_by];
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
