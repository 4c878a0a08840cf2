import { visible } from '../../canonical/visible.ts';
import { backupProject, restoreProject } from '../../keyturn.ts';
import type { Answer, Call } from '../answer.ts';
import { folderOf } from '../project.ts';
import type { Result } from '../schema.ts';
import { fields } from '../table.ts';
import { atTerminal } from '../terminal.ts';
import { confirmLedger } from './join.ts';

export async function backup(call: Call): Promise<Answer> {
  const [out] = call.operands as [string];
  const { keys = true } = call.options;
  const result: Result<'backup'> = await backupProject({ at: folderOf(call), out, without_keys: !keys });
  return {
    result,
    lines: [
      `[OK] ${visible(result.folder)} holds the ledger up to entry ${result.entries - 1}, with its head`,
      ...fields([
        ['Entries', String(result.entries)],
        ['Last', result.last],
        ['Objects', String(result.objects)],
        ['Keys', result.keys === 0 ? 'none' : `${result.keys} files: keep it as you keep those`],
      ]),
    ],
  };
}

export async function restore(call: Call): Promise<Answer> {
  const [from] = call.operands as [string];
  const result: Result<'restore'> = await restoreProject({
    at: folderOf(call),
    from,
    confirm: (found) => atTerminal((terminal) => confirmLedger(terminal, found)),
  });
  const { entries, kept_size, forgets } = result;
  const known =
    kept_size === null ? 'no head was kept here' : `the head that was kept here knows ${kept_size}`;
  const next = forgets
    ? [
        `The backup has ${entries} entries; ${known}. What ran since the backup is forgotten.`,
        'Nothing opens until a human accepts that: `keyturn ledger accept-head --reason …`. Everything is frozen then, and what was proposed before never runs.',
      ]
    : ['Nothing is forgotten that was kept here.'];
  const lines = fields([
    ['Store', visible(result.store)],
    ['Entries', String(entries)],
    ['Keys', `${result.keys} files of the backup; those that were here stay`],
  ]);
  return { result, lines: [`[OK] Restored ${visible(result.project)}`, ...lines, ...next] };
}
