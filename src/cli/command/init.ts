import { existsSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join, resolve } from 'node:path';
import { Keyturn, loneCredentialWords, makeKey, requireName } from '../../keyturn.ts';
import { refuse } from '../../refusal.ts';
import type { Answer, Call } from '../answer.ts';
import { newPassphrase } from '../human.ts';
import { folderOf } from '../project.ts';
import type { Result } from '../schema.ts';
import { fields } from '../table.ts';
import { atTerminal } from '../terminal.ts';
import { untilStopped } from '../until-stopped.ts';

export async function init(call: Call): Promise<Answer> {
  const at = resolve(folderOf(call));
  const name = call.options.name ?? userInfo().username.toLowerCase();
  requireName(name);
  const { passkey, label, port, recoveryKey } = call.options;
  if (!passkey && (label !== undefined || port !== undefined || recoveryKey))
    refuse('USAGE', '--label, --port and --recovery-key go with --passkey.');
  if (existsSync(join(at, '.keyturn'))) refuse('PROJECT_EXISTS');
  const keyturn = await (passkey ? byPasskey(call, at, name) : byKeyFile(at, name));
  try {
    const { key: fingerprint } = await keyturn.ledger.head();
    const result: Result<'init'> = { project: at, name, ledger_key: fingerprint };
    const { principals } = await keyturn.people.list();
    const credential = credentialLines(keyturn, name, loneCredentialWords(principals));
    return { result, lines: [...welcome(result), ...(passkey ? credential : [])] };
  } finally {
    await keyturn.close();
  }
}

async function byKeyFile(at: string, name: string): Promise<Keyturn> {
  const passphrase = await atTerminal((terminal) => newPassphrase(terminal, name, at));
  return Keyturn.init({ at, name, passphrase });
}

/** The person at this terminal gets the link, and is trusted with what it founds. */
function byPasskey({ options }: Call, at: string, name: string): Promise<Keyturn> {
  const { port, recoveryKey, label = 'passkey' } = options;
  return atTerminal(async (terminal) => {
    const recovery = recoveryKey && (await makeKey(name, at, await newPassphrase(terminal, name, at)));
    const { foundWithPasskey } = await import('../../serve/founding.ts');
    const { portOf } = await import('../../serve/serve.ts');
    const { signal, letGo } = untilStopped();
    try {
      return await foundWithPasskey({
        ...{ at, name, label, signal },
        ...(recovery && { recovery }),
        ...(port !== undefined && { port: portOf(port) }),
        onListening: (link) =>
          terminal.write(`There is no project yet. Open within 10 minutes, in your browser:\n${link}\n`),
      });
    } finally {
      letGo();
    }
  });
}

function credentialLines(keyturn: Keyturn, name: string, lone: string | null): string[] {
  if (lone !== null) return [lone];
  const [file = ''] = keyturn.host.keyFiles().get(name) ?? [];
  return [`Keep the recovery key elsewhere, and away from the passkey: ${file}`];
}

function welcome({ project, name, ledger_key }: Result<'init'>): string[] {
  return [
    `[OK] ${project} is a Keyturn project`,
    ...fields([
      ['Human', name],
      ['Ledger key', ledger_key],
    ]),
    'Next: keyturn tool list, then keyturn propose --tool greet --arg name=Ada',
  ];
}
