import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { describe, expect, it } from 'vitest';
import { backupProject, Keyturn, restoreProject } from '../../src/keyturn.ts';
import { authority, granted, named, proposeSay, yes } from '../journey/authority.ts';
import { serving } from '../serve/service.ts';
import { sizeOf } from '../support/ledger.ts';
import type { Project } from '../support/project.ts';
import { expectRefusal } from '../support/refusal.ts';
import { scratch } from '../support/scratch.ts';
import { runSeen } from '../support/seen.ts';

const backupOf = ({ root: at }: Pick<Project, 'root'>) =>
  backupProject({ at, out: join(scratch(), 'backup') });
const restoring = (at: string, from: string) => restoreProject({ at, from, confirm: yes });

/** What a clone of the repository has, on a host that has nothing else. */
function newHost({ root }: Pick<Project, 'root'>): string {
  const at = scratch();
  for (const name of ['keyturn.yaml', 'tools.yaml', 'policies'])
    cpSync(join(root, name), join(at, name), { recursive: true });
  return at;
}

function loseStore(root: string): void {
  for (const end of ['', '-wal', '-shm']) rmSync(join(root, '.keyturn', `store.db${end}`), { force: true });
}

async function accepted(at: string, signer: Project['ada']): Promise<Keyturn> {
  const accepting = await Keyturn.open({ at, head: 'accept' });
  expect(await accepting.ledger.acceptHead({ reason: 'the disk broke', signer })).toMatchObject({
    forgets: true,
  });
  await accepting.close();
  return Keyturn.open({ at });
}

describe('a backup', () => {
  it('is the ledger up to an entry while others go on writing, and verifies', async () => {
    const p = await authority();
    let stop = false;
    let proposed = 0;
    const writing = (async () => {
      while (!stop) {
        await proposeSay(p, {}).catch(() => {});
        proposed += 1;
        await new Promise((done) => setImmediate(done));
      }
    })();
    while (proposed < 3) await new Promise((done) => setImmediate(done));
    const made = await backupOf(p);
    stop = true;
    await writing;
    expect(made.entries).toBeLessThanOrEqual(await sizeOf(p.keyturn));
    expect(made.head).toContain(`\n${made.entries}\n`);
    const at = newHost(p);
    expect(await restoring(at, made.folder)).toMatchObject({ entries: made.entries, kept_size: null });
  }, 60_000);

  it('is made in a folder of its own, whole or not at all', async () => {
    const p = await authority();
    const { folder } = await backupOf(p);
    await expectRefusal('FILE_EXISTS', () => backupProject({ at: p.root, out: folder }));
    rmSync(join(folder, 'backup.json'));
    await expectRefusal('BACKUP_DAMAGED', () => restoring(newHost(p), folder));
  });

  it('that was changed is not restored', async () => {
    const p = await authority();
    await proposeSay(p);
    const changed = async (change: (folder: string) => void) => {
      const { folder } = await backupOf(p);
      change(folder);
      return () => restoring(newHost(p), folder);
    };
    const key = await changed((folder) => appendFileSync(join(folder, 'keys', 'ledger.seed'), 'x'));
    await expectRefusal('BACKUP_DAMAGED', key);
    const cut = await changed((folder) => {
      const path = join(folder, 'backup.json');
      const text = readFileSync(path, 'utf8');
      writeFileSync(path, text.replace(/"entries":\d+/, '"entries":3'));
    });
    await expectRefusal('BACKUP_DAMAGED', cut);
    const rewritten = await changed((folder) => {
      const db = new DatabaseSync(join(folder, 'store.db'));
      db.exec(
        `DROP TRIGGER entry_no_update; UPDATE entry SET bytes = CAST(replace(CAST(bytes AS TEXT), 'say', 'SAY') AS BLOB)`,
      );
      db.close();
    });
    await expectRefusal('LEDGER_BROKEN', rewritten);
  });
});

describe('a restore', () => {
  it('that forgets nothing which was kept here opens at once', async () => {
    const p = await authority();
    const intent = await proposeSay(p);
    await p.keyturn.close();
    const { folder } = await backupOf(p);
    loseStore(p.root);
    expect(await restoring(p.root, folder)).toMatchObject({ forgets: false });
    const again = await Keyturn.open({ at: p.root });
    await again.intents.turn({ ...intent, signer: p.ada });
    await again.ledger.verify({ deep: true });
    await again.close();
  });

  it('behind what was kept runs nothing a second time, whoever accepts it', async () => {
    const p = await authority();
    const ready = await granted(p);
    const turned = await proposeSay(p);
    await p.keyturn.intents.turn({ ...turned, signer: p.ada });
    const approved = await proposeSay(p);
    await p.keyturn.intents.approve({ ...approved, signer: p.ada });
    const waits = await proposeSay(p);
    const { folder } = await backupOf(p);
    for (const one of [ready, turned]) await runSeen(p.keyturn, { ...named(one), confirm: yes });
    await p.keyturn.close();
    loseStore(p.root);

    const restored = await restoring(p.root, folder);
    expect(restored).toMatchObject({ forgets: true });
    expect(restored.kept_size).toBeGreaterThan(restored.entries);
    await expectRefusal('LEDGER_TRUNCATED', () => Keyturn.open({ at: p.root }));
    await expectRefusal('LEDGER_TRUNCATED', () => serving(p));

    const again = await accepted(p.root, p.ada);
    const q = { ...p, keyturn: again };
    expect((await again.system.status()).frozen).toMatchObject([{ scope: 'system', by: 'ada' }]);
    const fresh = await proposeSay(q);
    await expectRefusal('FROZEN', () => again.intents.turn({ ...fresh, signer: p.ada }));
    await again.system.unfreeze({ scope: 'system', name: '', reason: 'looked', signer: p.ada });

    for (const one of [ready, turned])
      await expectRefusal('LEDGER_SET_BACK', () => runSeen(again, { ...named(one), confirm: yes }));
    for (const one of [turned, approved, waits])
      await expectRefusal('LEDGER_SET_BACK', () => again.intents.turn({ ...named(one), signer: p.ada }));
    const stop = new AbortController();
    const told: unknown[] = [];
    const executing = again.host.execute({
      most: 2,
      grace_ms: 1_000,
      signal: stop.signal,
      onReady: () => stop.abort(),
      tell: (one) => told.push(one),
    });
    await executing;
    expect(told.filter((one) => (one as { outcome: string }).outcome !== 'refused')).toEqual([]);

    await again.intents.turn({ ...fresh, signer: p.ada });
    await runSeen(again, { ...fresh, confirm: yes });
    await again.ledger.verify({ deep: true });
    expect((await again.ledger.rebuild({ write: false })).differences).toEqual([]);
    await again.close();
  }, 60_000);

  it('on a new host opens for nobody until a human accepted it, and then with the keys of the old one', async () => {
    const p = await authority();
    const { folder } = await backupOf(p);
    const at = newHost(p);
    const declined = () => restoreProject({ at, from: folder, confirm: async () => false });
    await expectRefusal('CONFIRMATION_DECLINED', declined);
    expect(existsSync(join(at, '.keyturn'))).toBe(false);
    expect(await restoring(at, folder)).toMatchObject({ forgets: true, kept_size: null });
    await expectRefusal('KEPT_HEAD_INVALID', () => Keyturn.open({ at }));
    const keyturn = await accepted(at, p.ada);
    await keyturn.system.unfreeze({ scope: 'system', name: '', reason: 'looked', signer: p.ada });
    const intent = await proposeSay({ ...p, keyturn });
    await keyturn.intents.turn({ ...intent, signer: p.ada });
    await runSeen(keyturn, { ...intent, confirm: yes });
    await keyturn.close();
  });

  it('into another store than before asks the human, and keeps the new one', async () => {
    const p = await authority();
    const { folder } = await backupOf(p);
    await p.keyturn.close();
    const path = join(p.root, '.keyturn', 'ledger.json');
    const here = readFileSync(path, 'utf8');
    rmSync(path);
    writeFileSync(path, here.replace('"sqlite"', '"postgres://db.example:5432/keyturn"'));
    await expectRefusal('STORE_ELSEWHERE', () => Keyturn.open({ at: p.root }));
    const declined = () => restoreProject({ at: p.root, from: folder, confirm: async () => false });
    await expectRefusal('CONFIRMATION_DECLINED', declined);
    await expectRefusal('STORE_ELSEWHERE', () => Keyturn.open({ at: p.root }));
    await restoring(p.root, folder);
    expect(readFileSync(path, 'utf8')).toBe(here);
    await (await Keyturn.open({ at: p.root })).close();
  });

  it('replaces no store: one that is ahead, one of another ledger, and one in use are refused', async () => {
    const p = await authority();
    const { folder } = await backupOf(p);
    await proposeSay(p);
    await expectRefusal('BACKUP_BEHIND', () => restoring(p.root, folder));
    const s = await serving(p);
    await expectRefusal('SERVICE_RUNNING', () => restoring(p.root, folder));
    await s.stop();
    const other = scratch();
    mkdirSync(join(other, '.keyturn'));
    for (const name of ['keyturn.yaml', '.keyturn/ledger.json'])
      cpSync(join(p.root, name), join(other, name));
    const path = join(other, '.keyturn', 'ledger.json');
    const text = readFileSync(path, 'utf8').replace(/"name":"ada"/, '"name":"eve"');
    renameSync(path, `${path}.old`);
    writeFileSync(path, text);
    await expectRefusal('LEDGER_FOREIGN', () => restoring(other, folder));
  });
});
