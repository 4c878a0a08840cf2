import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { describe, expect, it } from 'vitest';
import { sha256 } from '../../src/canonical/digest.ts';
import { askController } from '../../src/cli/controller.ts';
import { Keyturn } from '../../src/keyturn.ts';
import { requireLaneAllowed } from '../../src/lane/project.ts';
import { authority, granted, type Intent, yes } from '../journey/authority.ts';
import { PASSPHRASE, type Project } from '../support/project.ts';
import { expectRefusal } from '../support/refusal.ts';
import { scratch } from '../support/scratch.ts';

const storeOf = (root: string) => join(root, '.keyturn', 'store.db');
const headOf = (root: string) => join(root, '.keyturn', 'head');
const opens = (at: string, mode: 'read' | 'write' = 'write') => Keyturn.open({ at, mode });
const sizeIn = (path: string) => Number(readFileSync(path, 'utf8').split('\n')[2]);

/** Behind the back of Keyturn, by somebody who may write the file and has no key. */
function sql(root: string, text: string): void {
  const db = new DatabaseSync(storeOf(root));
  db.exec(text);
  db.close();
}

/** An intent that is ready, a backup of the store from then, and a run after it. */
async function ranAfterBackup(): Promise<Project & Intent & { backup: string }> {
  const p = await authority();
  const intent = await granted(p);
  await p.keyturn.close();
  const backup = join(scratch(), 'store.db');
  copyFileSync(storeOf(p.root), backup);
  const again = await opens(p.root);
  await again.run({ ...intent, confirm: yes });
  await again.close();
  return { ...p, ...intent, backup };
}

/** A head in its one form, with other lines. */
function writeHead(root: string, change: (lines: string[]) => string[]): void {
  const lines = readFileSync(headOf(root), 'utf8').split('\n').slice(0, 5);
  const text = `${change(lines).join('\n')}\n`;
  writeFileSync(headOf(root), `${text}${sha256(text).slice(0, 16)}\n`);
}

const FREE = 'DROP TRIGGER entry_no_delete; DROP TRIGGER entry_no_update;';
/** The last entries, with all that was stored because of them put back as it was. */
const cutTail = (count: number) => `${FREE}
  DELETE FROM entry WHERE id > (SELECT max(id) - ${count} FROM entry);
  DELETE FROM lookup WHERE seq >= (SELECT count(*) FROM entry);`;

describe('S6: a ledger that is behind its kept head is refused', () => {
  it('a backup that was put back is refused, and what ran since does not run again', async () => {
    const p = await ranAfterBackup();
    copyFileSync(p.backup, storeOf(p.root));
    for (const mode of ['read', 'write'] as const)
      await expectRefusal('LEDGER_TRUNCATED', () => opens(p.root, mode));
    expect((await askController(p.root, p.intent_id, p.hash)).refusal?.code).toBe('LEDGER_TRUNCATED');
  });

  it('a tail that was cut off is refused', async () => {
    const p = await ranAfterBackup();
    sql(p.root, cutTail(1));
    await expectRefusal('LEDGER_TRUNCATED', () => opens(p.root, 'read'));
  });

  it('another entry in the place of the last one is refused', async () => {
    const p = await ranAfterBackup();
    sql(
      p.root,
      `${FREE} UPDATE entry SET hash = '${'0'.repeat(64)}' WHERE id = (SELECT max(id) FROM entry);`,
    );
    await expectRefusal('LEDGER_FORKED', () => opens(p.root, 'read'));
  });

  it('a store that is exchanged under a process that has it open is refused by check and by run', async () => {
    const p = await authority();
    const intent = await granted(p);
    const other = await granted(p);
    await p.keyturn.run({ ...intent, confirm: yes });
    sql(p.root, cutTail(1));
    await expectRefusal('LEDGER_TRUNCATED', () => p.keyturn.check(other.intent_id, other.hash));
    await expectRefusal('LEDGER_TRUNCATED', () => p.keyturn.run({ ...other, confirm: yes }));
  });

  it('init keeps a head, a claim keeps it at once, and closing keeps the end', async () => {
    const p = await authority();
    const intent = await granted(p);
    let claimed = 0;
    await p.keyturn.run({
      ...intent,
      confirm: async () => true,
      onProgress: () => {},
    });
    const story = await p.keyturn.story(intent.intent_id);
    claimed = story.find(({ kind }) => kind === 'execution.claimed')!.seq + 1;
    expect(sizeIn(headOf(p.root))).toBeGreaterThanOrEqual(claimed);
    const size = await p.keyturn.size();
    await p.keyturn.close();
    expect(sizeIn(headOf(p.root))).toBe(size);
  });

  it('a head that is behind the ledger is no refusal: a crash may come between a commit and its head', async () => {
    const p = await authority();
    const before = readFileSync(headOf(p.root));
    await granted(p);
    await p.keyturn.close();
    writeFileSync(headOf(p.root), before);
    const again = await opens(p.root);
    const size = await again.size();
    await again.close();
    expect(sizeIn(headOf(p.root))).toBe(size);
  });

  it('two processes that write in turn never take the head back', async () => {
    const p = await authority();
    const other = await opens(p.root);
    await granted(p);
    await granted({ ...p, keyturn: other });
    const size = await other.size();
    await other.close();
    expect(sizeIn(headOf(p.root))).toBe(size);
    await p.keyturn.close();
    expect(sizeIn(headOf(p.root))).toBe(size);
  });

  it.each<[string, (text: string) => string | null]>([
    ['missing', () => null],
    ['empty', () => ''],
    ['cut off', (text) => text.slice(0, 40)],
    ['half old and half new', (text) => text.replace(/\n(\d+)\n/, (_, size) => `\n${Number(size) + 1}\n`)],
    ['longer than itself', (text) => `${text}0\n`],
    ['of another ledger', (text) => text.replace(/keyturn\/[0-9a-f]/, 'keyturn/x')],
  ])('a head file that is %s is refused', async (_, damage) => {
    const p = await authority();
    await p.keyturn.close();
    const text = damage(readFileSync(headOf(p.root), 'utf8'));
    if (text === null) rmSync(headOf(p.root));
    else writeFileSync(headOf(p.root), text);
    for (const mode of ['read', 'write'] as const)
      await expectRefusal('KEPT_HEAD_INVALID', () => opens(p.root, mode));
  });

  it.each([1, Number.MAX_SAFE_INTEGER])('a head file from the future is refused: size + %i', async (more) => {
    const p = await authority();
    await p.keyturn.close();
    const size = Math.min(sizeIn(headOf(p.root)) + more, Number.MAX_SAFE_INTEGER);
    writeHead(p.root, (lines) => lines.with(2, String(size)));
    for (const mode of ['read', 'write'] as const) {
      const { message } = await expectRefusal('LEDGER_TRUNCATED', () => opens(p.root, mode));
      expect(message).toContain(`knows ${size}`);
    }
  });

  it('a head file whose clock is in the future stops nothing', async () => {
    const p = await authority();
    await p.keyturn.close();
    writeHead(p.root, (lines) => lines.with(4, lines[4]!.replace(/^\d{4}/, '2999')));
    const keyturn = await opens(p.root);
    await granted({ ...p, keyturn });
    await keyturn.close();
  });

  it('a human accepts what is there with a reason, the ledger says so for good, and then it goes on', async () => {
    const p = await ranAfterBackup();
    const kept = sizeIn(headOf(p.root));
    copyFileSync(p.backup, storeOf(p.root));
    const accepting = await Keyturn.open({ at: p.root, head: 'accept' });
    await expectRefusal('LEDGER_TRUNCATED', () => accepting.check(p.intent_id, p.hash));
    const before = await accepting.size();
    const signer = await accepting.unlock('ada', PASSPHRASE);
    const { body } = await accepting.acceptHead({ reason: 'the disk was restored', signer });
    expect(body).toMatchObject({ seq: before, kept_size: kept, by: 'ada', reason: 'the disk was restored' });
    await accepting.close();
    const again = await opens(p.root);
    expect(await again.size()).toBe(before + 1);
    await again.verify({ deep: true });
    expect((await again.rebuild({ write: false })).differences).toEqual([]);
    await again.close();
  });

  it('the same acceptance counts nowhere else in the ledger', async () => {
    const p = await authority();
    const accepted = await p.keyturn.acceptHead({ reason: 'a test', signer: p.ada });
    const { openSqliteStore } = await import('../../src/store/sqlite/store.ts');
    const options = {
      path: storeOf(p.root),
      tenant: 'default',
      clock: () => new Date(),
      mode: 'write',
    } as const;
    const store = await openSqliteStore(options);
    await expectRefusal('DECISION_STALE', () => store.commit({ events: [accepted] }));
    await store.close();
  });

  it('a second head elsewhere is kept and compared, and shows what a restored folder hides', async () => {
    const p = await authority();
    const elsewhere = join(scratch(), 'default.head');
    await p.keyturn.close();
    writeFileSync(join(p.root, 'keyturn.yaml'), `version: 1\nheads: ${elsewhere}\n`);
    await expectRefusal('KEPT_HEAD_INVALID', () => opens(p.root));
    const accepting = await Keyturn.open({ at: p.root, head: 'accept' });
    await accepting.acceptHead({ reason: 'a second place for heads', signer: p.ada });
    await accepting.close();
    expect(existsSync(elsewhere)).toBe(true);

    const backup = scratch();
    for (const name of ['store.db', 'head']) copyFileSync(join(p.root, '.keyturn', name), join(backup, name));
    const again = await opens(p.root);
    await granted({ ...p, keyturn: again });
    await again.close();
    for (const name of ['store.db', 'head']) copyFileSync(join(backup, name), join(p.root, '.keyturn', name));
    const { message } = await expectRefusal('LEDGER_TRUNCATED', () => opens(p.root));
    expect(message).toContain(elsewhere);
  });

  it('a second head beneath the project, and the log, are open to no plan and to no tool of the lane', async () => {
    const p = await authority();
    await p.keyturn.close();
    const settings =
      'heads: kept/by/link/head\nlog: { level: info, file: kept/ops.log }\nlane: { allow: true }\n';
    mkdirSync(join(p.root, 'kept', 'place'), { recursive: true });
    mkdirSync(join(p.root, 'kept', 'by'));
    symlinkSync('../place', join(p.root, 'kept', 'by', 'link'));
    writeFileSync(join(p.root, 'keyturn.yaml'), `version: 1\n${settings}`);
    const keyturn = await Keyturn.open({ at: p.root, head: 'accept' });
    await keyturn.acceptHead({ reason: 'a second place for heads', signer: p.ada });
    for (const target of ['kept/place/head', 'kept/ops.log']) {
      const action = { action_type: 'FILE_DELETE', operation: { type: 'delete' }, action_id: 'a', target };
      const plan = { plan_id: 'PLAN-1', action_plan: [action] };
      const effect = { kind: 'plan', task_id: 'T', config: null, plan } as const;
      await expectRefusal('PLAN_PATH_OWN', () =>
        keyturn.propose({ declared_goal: 'A test', issuer: 'ada', effect }),
      );
    }
    await keyturn.close();
    const [project] = requireLaneAllowed([p.root]);
    expect(project!.protected).toContain(join(p.root, 'kept', 'by', 'link', 'head'));
    expect(project!.protected).toContain(join(p.root, 'kept', 'ops.log'));
  });

  it.fails('S6: rows of the index that are put back do not let an intent run twice', async () => {
    const p = await authority();
    const intent = await granted(p);
    const ran = await opens(p.root);
    const keep = new DatabaseSync(storeOf(p.root));
    keep.exec(
      'CREATE TABLE kept_lookup AS SELECT * FROM lookup; CREATE TABLE kept_rows AS SELECT * FROM projection;',
    );
    keep.close();
    await ran.run({ ...intent, confirm: yes });
    await ran.close();
    await p.keyturn.close();
    sql(
      p.root,
      `DELETE FROM lookup; INSERT INTO lookup SELECT * FROM kept_lookup;
       DELETE FROM projection; INSERT INTO projection SELECT * FROM kept_rows;`,
    );
    const again = await opens(p.root);
    try {
      await expect(again.run({ ...intent, confirm: yes })).rejects.toThrow();
    } finally {
      await again.close();
    }
  });
});
