import { visible } from '../../canonical/visible.ts';
import { type Executor, requireName } from '../../keyturn.ts';
import { refuse } from '../../refusal.ts';
import type { Answer, Call } from '../answer.ts';
import { actAs, whoActs } from '../human.ts';
import { isKeyBeginning } from '../operand.ts';
import { type Opened, reading, writing, writingHere } from '../project.ts';
import type { Result } from '../schema.ts';
import { fields, table } from '../table.ts';

/** This host, or the one whose key is named, may run what is ordered. */
export function add(call: Call): Promise<Answer> {
  const [public_key] = call.operands;
  const { name: named, serves: labels = [], reason = '' } = call.options;
  for (const one of [...(named === undefined ? [] : [named]), ...labels]) requireName(one);
  // What is not named is that of the host, which only a command there can know.
  const asked = public_key !== undefined && named !== undefined ? writing : writingHere;
  return asked(call, async (keyturn: Opened) => {
    const human = await whoActs(keyturn, call.options.as);
    const key = public_key === undefined ? {} : { public_key: requireKey(public_key) };
    const name = named === undefined ? {} : { name: named };
    const result = await actAs(keyturn, human, (signer) =>
      keyturn.system.addExecutor({ ...key, ...name, labels: [...new Set(labels)].sort(), reason, signer }),
    );
    const more = result.labels.length === 0 ? '' : ` and for ${result.labels.join(', ')}`;
    const lines = [`[OK] An executor "${result.name}" may run what is ordered for that name${more}`];
    return { result, lines: [...lines, ...fields([['Public key', result.public_key]])] };
  });
}

/** Before a passphrase is typed. The store looks again. */
function requireKey(text: string): string {
  if (Buffer.from(text, 'base64').length === 32 && Buffer.from(text, 'base64').toString('base64') === text)
    return text;
  return refuse(
    'USAGE',
    `"${visible(text.slice(0, 60))}" is not the public key of a host: 44 characters of base64.`,
  );
}

export function list(call: Call): Promise<Answer> {
  return reading(call, async (keyturn) => {
    const result = await keyturn.system.get();
    const headings = ['NAME', 'SERVES', 'HOST', 'STATUS', 'HEARD', 'ADDED', 'BY', 'PUBLIC KEY'];
    return { result, lines: table(headings, result.executors.map(row)) };
  });
}

function row(one: Result<'executor list'>['executors'][number]): string[] {
  const { name, labels, is_this_host, revoked_at, added_at, added_by, public_key, heard } = one;
  const status = revoked_at === null ? 'active' : 'revoked';
  const said = heard === null ? 'never' : heard.is_running ? 'running' : heard.at;
  const host = is_this_host ? 'this one' : '';
  return [name, labels.join(' '), host, status, said, added_at, added_by, public_key];
}

/** What it runs is stopped, and what it says of that decides nothing. */
export function revoke(call: Call): Promise<Answer> {
  const [which = ''] = call.operands;
  const reason = call.options.reason!;
  return writing(call, async (keyturn) => {
    const by = await whoActs(keyturn, call.options.as);
    const { name, public_key } = await executorOf(keyturn, which);
    const result = await actAs(
      keyturn,
      by,
      (signer) => keyturn.system.revokeExecutor({ public_key, reason, signer }),
      () => [`Revoke: the executor "${name}" with the key ${public_key}; what it runs is stopped`],
    );
    return { result, lines: [`[OK] The executor "${name}" is revoked`] };
  });
}

async function executorOf(keyturn: Opened, which: string): Promise<Executor> {
  const { executors } = await keyturn.system.get();
  const unknown = `No executor has the key "${visible(which.slice(0, 60))}".`;
  return withKey(executors, which) ?? refuse('EXECUTOR_UNKNOWN', unknown);
}

/** The name or the whole public key that is meant, where a list takes one. */
export async function executorMeant(keyturn: Opened, which: string): Promise<string> {
  const { executors } = await keyturn.system.get();
  if (executors.some(({ name }) => name === which)) return which;
  return withKey(executors, which)?.public_key ?? which;
}

/** The one whose public key is this one, or begins like this. */
function withKey(executors: readonly Executor[], which: string): Executor | undefined {
  const [only, ...others] = executors.filter((one) => isKeyBeginning(one.public_key, which));
  if (only && others.length > 0)
    refuse(
      'ID_AMBIGUOUS',
      `Several keys begin like this: ${[only, ...others].map((one) => `${one.public_key} (${one.name})`).join(', ')}.`,
    );
  return only;
}
