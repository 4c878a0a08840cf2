import { existsSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join, resolve } from 'node:path';
import { Keyturn } from '../../keyturn.ts';
import { refuse } from '../../refusal.ts';
import type { Answer, Call } from '../answer.ts';
import { newPassphrase } from '../human.ts';
import { folderOf } from '../project.ts';
import type { Result } from '../schema.ts';
import { fields } from '../table.ts';
import { atTerminal } from '../terminal.ts';

export async function init(call: Call): Promise<Answer> {
  const at = resolve(folderOf(call));
  const name = call.options.name ?? userInfo().username.toLowerCase();
  Keyturn.requireName(name);
  if (existsSync(join(at, '.keyturn'))) refuse('PROJECT_EXISTS');
  const passphrase = await atTerminal((terminal) => newPassphrase(terminal, name, at));
  const keyturn = await Keyturn.init({ at, name, passphrase });
  try {
    const { key: fingerprint } = await keyturn.ledger.head();
    const result: Result<'init'> = { project: at, name, ledger_key: fingerprint };
    return { result, lines: welcome(result) };
  } finally {
    await keyturn.close();
  }
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
