import { copyFileSync, cpSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { beforeAll, describe, expect, it } from 'vitest';
import { Keyturn } from '../../src/keyturn.ts';
import { leafHash } from '../../src/ledger/entry.ts';
import { AUTHORITY_TOOLS, granted, yes } from '../journey/authority.ts';
import { found, PASSPHRASE } from '../support/project.ts';
import { keyturn } from '../support/pty.ts';
import { freshFolder, scratch } from '../support/scratch.ts';
import { runSeen } from '../support/seen.ts';

/** The table of SECURITY.md, "What is noticed, and by which command": each row done to a real project, each command run. */

const COMMANDS = {
  status: () => ['status'],
  check: (id: string, hash: string) => ['check', id, hash],
  dry_run: (id: string, hash: string) => ['run', id, hash, '--dry-run'],
  doctor: () => ['doctor'],
  verify: () => ['ledger', 'verify', '--deep'],
  rebuild: () => ['ledger', 'rebuild'],
  store_verify: () => ['store', 'verify'],
} as const;
type Command = keyof typeof COMMANDS;
type Says = Readonly<Record<Command, string | null>>;

const all = (code: string): Says => ({
  status: code,
  check: code,
  dry_run: code,
  doctor: code,
  verify: code,
  rebuild: code,
  store_verify: code,
});
const NOTHING: Says = {
  ...all(''),
  status: null,
  check: null,
  dry_run: null,
  doctor: null,
  verify: null,
  rebuild: null,
  store_verify: null,
};

let model: string;
let backup: string;
let theirs: string;
let ran: { intent_id: string; hash: string };
let waiting: { intent_id: string; hash: string };

const storeOf = (root: string) => join(root, '.keyturn', 'store.db');
const keysOf = (root: string) => join(root, '.keyturn', 'keys');

const folder = () => freshFolder('keyturn-noticed-');

// Where a tool works is part of what is approved, and each case is done to a copy elsewhere.
const registry = AUTHORITY_TOOLS.replace('sandbox: {}', 'cwd: /\n    sandbox: {}');

beforeAll(async () => {
  theirs = folder();
  await (await found(theirs, { registry, which: 1 })).keyturn.close();
  model = folder();
  const p = await found(model, { registry });
  ran = await granted(p);
  waiting = await granted(p);
  await p.keyturn.close();
  backup = join(folder(), 'store.db');
  copyFileSync(storeOf(model), backup);
  const again = await Keyturn.open({ at: model });
  await runSeen(again, { ...ran, confirm: yes });
  await again.close();
}, 600_000);

function sql(root: string, text: string): void {
  const db = new DatabaseSync(storeOf(root));
  db.exec(text);
  db.close();
}

const FREE = 'DROP TRIGGER entry_no_delete; DROP TRIGGER entry_no_update;';

/** Another time in an entry, of the same length, with the hash that its bytes have now. */
function rewriteEntry(root: string, id: string): void {
  const db = new DatabaseSync(storeOf(root));
  db.exec(FREE);
  const { bytes } = db.prepare(`SELECT bytes FROM entry WHERE id = ${id}`).get() as { bytes: Uint8Array };
  const text = Buffer.from(bytes).toString('utf8');
  const other = Buffer.from(text.replace(/(?<="at":"[^"]*)\dZ/, (end) => `${9 - Number(end[0])}Z`));
  db.prepare(`UPDATE entry SET bytes = ?, hash = ? WHERE id = ${id}`).run(other, leafHash(other));
  db.close();
}

/** Asks about the intent that waits: whether it may run must not depend on what was done to the other one. */
const CASES: readonly (readonly [string, (root: string) => void, Says])[] = [
  [
    'another store in its place',
    (root) => copyFileSync(storeOf(theirs), storeOf(root)),
    all('LEDGER_FOREIGN'),
  ],
  [
    'a backup of the store that was put back',
    (root) => copyFileSync(backup, storeOf(root)),
    all('LEDGER_TRUNCATED'),
  ],
  [
    'a tail that was cut off',
    (root) => sql(root, `${FREE} DELETE FROM entry WHERE id > (SELECT max(id) - 2 FROM entry);`),
    all('LEDGER_TRUNCATED'),
  ],
  [
    'another entry in the place of the last one',
    (root) => rewriteEntry(root, '(SELECT max(id) FROM entry)'),
    all('LEDGER_FORKED'),
  ],
  [
    'an earlier entry that was changed in place, its stored hash with it',
    (root) => rewriteEntry(root, '(SELECT max(id) - 1 FROM entry)'),
    {
      ...NOTHING,
      dry_run: 'LEDGER_BROKEN',
      doctor: 'LEDGER_BROKEN',
      verify: 'LEDGER_BROKEN',
      rebuild: 'LEDGER_BROKEN',
      store_verify: 'LEDGER_BROKEN',
    },
  ],
  [
    'rows of the index that were removed',
    (root) => sql(root, `DELETE FROM lookup WHERE near = '${ran.intent_id}' AND kind = 'claim';`),
    { ...NOTHING, doctor: 'PROJECTION_DRIFT', rebuild: 'PROJECTION_DRIFT', store_verify: 'PROJECTION_DRIFT' },
  ],
  [
    'the state of another intent that was changed',
    (root) =>
      sql(
        root,
        `UPDATE projection SET status = 'approved' WHERE name = 'intent' AND key = '${ran.intent_id}';`,
      ),
    { ...NOTHING, doctor: 'PROJECTION_DRIFT', rebuild: 'PROJECTION_DRIFT', store_verify: 'PROJECTION_DRIFT' },
  ],
  [
    'the state of this intent that was changed',
    (root) =>
      sql(
        root,
        `UPDATE projection SET state = replace(state, '"attempt":1', '"attempt":2')
         WHERE name = 'intent' AND key = '${waiting.intent_id}';`,
      ),
    {
      ...NOTHING,
      dry_run: 'PROJECTION_DRIFT',
      doctor: 'PROJECTION_DRIFT',
      rebuild: 'PROJECTION_DRIFT',
      store_verify: 'PROJECTION_DRIFT',
    },
  ],
  [
    'the ledger key of another project',
    (root) => copyFileSync(join(keysOf(theirs), 'ledger.seed'), join(keysOf(root), 'ledger.seed')),
    { ...NOTHING, doctor: 'KEY_FILE_INVALID', verify: 'KEY_FILE_INVALID' },
  ],
];

function copied(): string {
  const root = scratch();
  cpSync(model, root, { recursive: true });
  return root;
}

async function codeOf(root: string, command: Command): Promise<string | null> {
  const { stdout } = await keyturn([...COMMANDS[command](waiting.intent_id, waiting.hash), '--json'], {
    cwd: root,
  });
  const answer = JSON.parse(stdout) as { ok: boolean; code?: string };
  return answer.ok ? null : (answer.code ?? 'none');
}

describe('S6: what was done to the store or the keys is noticed by these commands', () => {
  it('nothing was done: no command says anything', async () => {
    const root = copied();
    for (const command of Object.keys(COMMANDS) as Command[])
      expect([command, await codeOf(root, command)]).toEqual([command, null]);
  });

  it.each(CASES)('%s is noticed', async (_, damage, says) => {
    const root = copied();
    damage(root);
    const found: Record<string, string | null> = {};
    for (const command of Object.keys(COMMANDS) as Command[]) found[command] = await codeOf(root, command);
    expect(found).toEqual(says);
  });

  it('the key file of a human from another project signs nothing here', async () => {
    const root = copied();
    copyFileSync(join(keysOf(theirs), 'ada.json'), join(keysOf(root), 'ada.json'));
    const opened = await Keyturn.open({ at: root });
    const signed = async () => {
      const signer = await opened.unlock('ada', PASSPHRASE);
      return opened.system.freeze({ scope: 'system', reason: 'a test', signer });
    };
    await expect(signed()).rejects.toMatchObject({ code: 'KEY_FILE_INVALID' });
    await opened.close();
  });

  it('a control key of another project grants nothing here', async () => {
    const root = copied();
    const [name] = readdirSync(keysOf(root)).filter((file) => file.startsWith('control-'));
    const [other] = readdirSync(keysOf(theirs)).filter((file) => file.startsWith('control-'));
    writeFileSync(join(keysOf(root), name!), '');
    copyFileSync(join(keysOf(theirs), other!), join(keysOf(root), name!));
    const opened = await Keyturn.open({ at: root });
    const signer = await opened.unlock('ada', PASSPHRASE);
    const { intent_id, hash } = waiting;
    await expect(opened.intents.grant({ intent_id, hash, signer, is_issued: true })).rejects.toMatchObject({
      code: 'KEY_FILE_INVALID',
    });
    await opened.close();
  });
});
