import { isUuid } from '../../canonical/uuid.ts';
import { Keyturn, type Result as Verb } from '../../keyturn.ts';
import { refuse } from '../../refusal.ts';
import type { Answer, Call } from '../answer.ts';
import { actAs, whoActs } from '../human.ts';
import { shortIds } from '../list-table.ts';
import { requireTyped } from '../operand.ts';
import { type Opened, reading, writing } from '../project.ts';
import type { MadeHere } from '../schema.ts';
import { fields, table } from '../table.ts';

export function add(call: Call): Promise<Answer> {
  const [name = ''] = call.operands;
  const reason = call.options.reason!;
  return writing(call, async (keyturn) => {
    const by = await whoActs(keyturn, call.options.as);
    const { token, digest } = Keyturn.makeToken(name);
    const result = await actAs(keyturn, by, (signer) =>
      keyturn.agents.addToken({ name, digest, reason, signer }),
    );
    const here: MadeHere<'token add'> = { token };
    const lines = [`[OK] ${name} has a new token`, ...tokenLines({ ...result, ...here })];
    return { result, here, lines };
  });
}

/** The only time that it is shown. */
export function tokenLines({ token, token_id }: { token: string; token_id: string }): string[] {
  return [
    ...fields([
      ['Token', token],
      ['Id', token_id],
    ]),
    'It is shown only now. Every program that has it can propose in this name.',
  ];
}

export function list(call: Call): Promise<Answer> {
  return reading(call, async (keyturn) => {
    const result = await keyturn.agents.tokens();
    const headings = ['AGENT', 'TOKEN', 'STATUS', 'ADDED', 'BY', 'LAST USED'];
    const short = shortIds(result.tokens.map(({ token_id }) => token_id));
    return {
      result,
      lines: table(
        headings,
        result.tokens.map((one) => row(one, short(one.token_id))),
      ),
    };
  });
}

function row(token: Verb<'agents.tokens'>['tokens'][number], token_id: string): string[] {
  const { name, status, added_at, added_by, last_used_at } = token;
  return [name, token_id, status, added_at, added_by, last_used_at ?? 'never'];
}

export function revoke(call: Call): Promise<Answer> {
  const [name = '', typed = ''] = call.operands;
  const reason = call.options.reason!;
  return writing(call, async (keyturn) => {
    const token_id = await meantToken(keyturn, name, typed);
    const by = await whoActs(keyturn, call.options.as);
    const result = await actAs(keyturn, by, (signer) =>
      keyturn.agents.revokeToken({ name, token_id, reason, signer }),
    );
    return { result, lines: [`[OK] The token ${token_id} of ${name} is revoked`] };
  });
}

/** By its id, or the beginning of one among those of this agent. */
async function meantToken(keyturn: Opened, name: string, typed: string): Promise<string> {
  requireTyped(typed);
  if (isUuid(typed)) return typed;
  const { tokens } = await keyturn.agents.tokens();
  const found = tokens.filter((one) => one.name === name && one.token_id.startsWith(typed));
  const [only, ...others] = found;
  if (!only) refuse('CREDENTIAL_UNKNOWN', `No token of ${name} has an id that begins with "${typed}".`);
  if (others.length > 0) {
    const fit = found.map(({ token_id, added_at }) => `${token_id} (added ${added_at})`).join(', ');
    refuse('ID_AMBIGUOUS', `${found.length} tokens of ${name} fit "${typed}": ${fit}.`);
  }
  return only.token_id;
}
