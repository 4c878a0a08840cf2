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
import { check } from '../../src/cli/command/check.ts';
import { parseEvent } from '../../src/event/event.ts';
import { Keyturn } from '../../src/keyturn.ts';
import { requireLaneAllowed } from '../../src/lane/project.ts';
import { authority, granted, type Intent, yes } from '../journey/authority.ts';
import { entriesAbout, newestOf, sizeOf } from '../support/ledger.ts';
import { PASSPHRASE, type Project } from '../support/project.ts';
import { expectRefusal } from '../support/refusal.ts';
import { scratch } from '../support/scratch.ts';
import { runSeen } from '../support/seen.ts';

const storeOf = (root: string) => join(root, '.keyturn', 'store.db');
const headOf = (root: string) => join(root, '.keyturn', 'head');
const opens = (at: string, mode: 'read' | 'write' = 'write') => Keyturn.open({ at, mode });
const sizeIn = (path: string) => Number(readFileSync(path, 'utf8').split('\n')[2]);

/** Not through Keyturn: by an attacker who may write the file and has no key. */
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
  await runSeen(again, { ...intent, confirm: yes });
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
    const asked = { command: 'check', operands: [p.intent_id, p.hash], options: { project: p.root } };
    expect((await check(asked)).refusal?.code).toBe('LEDGER_TRUNCATED');
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
    await runSeen(p.keyturn, { ...intent, confirm: yes });
    sql(p.root, cutTail(1));
    await expectRefusal('LEDGER_TRUNCATED', () =>
      p.keyturn.intents.check({ intent_id: other.intent_id, hash: other.hash }),
    );
    await expectRefusal('LEDGER_TRUNCATED', () => runSeen(p.keyturn, { ...other, confirm: yes }));
  });

  it('init keeps a head, a claim keeps it at once, and closing keeps the end', async () => {
    const p = await authority();
    const intent = await granted(p);
    let claimed = 0;
    await runSeen(p.keyturn, {
      ...intent,
      confirm: async () => true,
      onProgress: () => {},
    });
    const story = await entriesAbout(p.keyturn, intent.intent_id);
    claimed = story.find(({ kind }) => kind === 'execution.claimed')!.seq + 1;
    expect(sizeIn(headOf(p.root))).toBeGreaterThanOrEqual(claimed);
    const size = await sizeOf(p.keyturn);
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
    const size = await sizeOf(again);
    await again.close();
    expect(sizeIn(headOf(p.root))).toBe(size);
  });

  it('two processes that write in turn never take the head back', async () => {
    const p = await authority();
    const other = await opens(p.root);
    await granted(p);
    await granted({ ...p, keyturn: other });
    const size = await sizeOf(other);
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
    await expectRefusal('LEDGER_TRUNCATED', () =>
      accepting.intents.check({ intent_id: p.intent_id, hash: p.hash }),
    );
    const before = await sizeOf(accepting);
    const signer = await accepting.unlock('ada', PASSPHRASE);
    const accepted = await accepting.ledger.acceptHead({ reason: 'the disk was restored', signer });
    expect(accepted).toEqual({
      entries: before,
      kept_size: kept,
      forgets: true,
      by: 'ada',
      reason: 'the disk was restored',
    });
    await accepting.close();
    const again = await opens(p.root);
    expect(await sizeOf(again)).toBe(before + 1);
    await again.ledger.verify({ deep: true });
    expect((await again.ledger.rebuild({ write: false })).differences).toEqual([]);
    await again.close();
  });

  it('the same acceptance counts nowhere else in the ledger', async () => {
    const p = await authority();
    await p.keyturn.ledger.acceptHead({ reason: 'a test', signer: p.ada });
    const [accepted] = await newestOf(p.keyturn, 1);
    const { openSqliteStore } = await import('../../src/store/sqlite/store.ts');
    const options = {
      path: storeOf(p.root),
      tenant: 'default',
      clock: () => new Date(),
      mode: 'write',
    } as const;
    const store = await openSqliteStore(options);
    await expectRefusal('DECISION_STALE', () => store.commit({ events: [parseEvent(accepted!)] }));
    await store.close();
  });

  it('a second head elsewhere is kept and compared, and shows what a restored folder hides', async () => {
    const p = await authority();
    const elsewhere = join(scratch(), 'default.head');
    await p.keyturn.close();
    writeFileSync(join(p.root, 'keyturn.yaml'), `version: 1\nheads: ${elsewhere}\n`);
    await expectRefusal('KEPT_HEAD_INVALID', () => opens(p.root));
    const accepting = await Keyturn.open({ at: p.root, head: 'accept' });
    await accepting.ledger.acceptHead({ reason: 'a second place for heads', signer: p.ada });
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
    await keyturn.ledger.acceptHead({ reason: 'a second place for heads', signer: p.ada });
    for (const target of ['kept/place/head', 'kept/ops.log']) {
      const action = { action_type: 'FILE_DELETE', operation: { type: 'delete' }, action_id: 'a', target };
      const plan = { plan_id: 'PLAN-1', action_plan: [action] };
      const effect = { kind: 'plan', task_id: 'T', config: null, plan } as const;
      await expectRefusal('PLAN_PATH_OWN', () =>
        keyturn.intents.propose({ declared_goal: 'A test', issuer: 'ada', effect }),
      );
    }
    await keyturn.close();
    const [project] = requireLaneAllowed([p.root]);
    expect(project!.protected).toContain(join(p.root, 'kept', 'by', 'link', 'head'));
    expect(project!.protected).toContain(join(p.root, 'kept', 'ops.log'));
  });
});
