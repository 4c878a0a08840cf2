import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { signedBy } from '../../src/event/event.ts';
import { Keyturn } from '../../src/keyturn.ts';
import { type Entry, openEntry, sealEntry } from '../../src/ledger/entry.ts';
import { cutPostgresStore } from '../../src/store/postgres/repair.ts';
import { answerOf, expectError, PASSPHRASE } from '../cli/project.ts';
import { keyturn } from '../support/pty.ts';
import { expectRefusal } from '../support/refusal.ts';
import { documentedServer, SECRET } from './s13-place.ts';

const { url, app, superuser, sqlAs, migrate, project } = documentedServer();
beforeAll(async () => void (await migrate('--application', 'keyturn_app')));

describe('S13: a ledger that one row stopped is repaired by the owner', () => {
  const junk = (id: string, far = 0) =>
    app(`INSERT INTO keyturn.entry (tenant, seq, hash, at, subject, kind, bytes)
      SELECT id, size + ${far}, '', '', 'x', 'x', 'junk' FROM keyturn.tenant WHERE id = ${id}`);
  const repair = (root: string, ...words: string[]) =>
    keyturn(['store', 'repair', url('keyturn_owner'), ...words], { cwd: root });
  const sizeOf = async (id: string) =>
    Number((await superuser(`SELECT size FROM keyturn.tenant WHERE id = ${id}`))[0]!.size);

  const OTHER = '00000000-0000-4000-8000-000000000000';

  /** The last entry once more, as the next one: its chain is right and what it says is not. */
  async function forge(id: string, subject: string, change: (entry: Entry) => Entry): Promise<void> {
    const [row] = await superuser(`SELECT e.bytes, e.hash, e.at, e.subject, t.size::int FROM keyturn.entry e
      JOIN keyturn.tenant t ON t.id = e.tenant WHERE e.tenant = ${id} AND e.seq = t.size - 1`);
    const last = openEntry(row!.bytes as Uint8Array);
    const { bytes, hash } = sealEntry(
      change({ ...last, seq: row!.size as number, prev: row!.hash as string }),
    );
    const signer = signedBy(last);
    const who = signer === null ? 'NULL' : `'${signer}'`;
    const values = `'${hash}', '${last.at}', '${subject}', '${last.kind}', ${who}, '\\x${Buffer.from(bytes).toString('hex')}'`;
    await app(`INSERT INTO keyturn.entry (tenant, seq, hash, at, subject, kind, signer, bytes)
      SELECT id, size, ${values} FROM keyturn.tenant WHERE id = ${id};
      UPDATE keyturn.tenant SET size = size + 1, last = '${hash}' WHERE id = ${id}`);
  }

  it('rows past the end are shown, then set aside, and the chain goes on with every entry that it had', async () => {
    const { root, propose, run, id, keyturn: opened } = await project('junk');
    await propose();
    const { size, root: tree } = await opened.ledger.head();
    await junk(id);
    await junk(id, 500);
    expectError('STORE_DENIED', await keyturn(['store', 'repair', url('keyturn_app')], { cwd: root }));
    const look = await repair(root);
    expect(look).toMatchObject({ code: 0, stderr: '' });
    expect(look.stdout).toContain(
      `Nothing was changed. To end the ledger after ${size} entries, repeat with --keep ${size}`,
    );
    expect(look.stdout).toContain(`${size + 500}  cannot be read`);
    expect(look.stdout).not.toContain(SECRET);
    expectError('LEDGER_OVERRUN', await run('ledger', 'verify'));
    expectError('SHAPE_INVALID', await repair(root, '--keep', String(size + 1)));
    for (const odd of ['0', '-1', 'all', '1e3']) expectError('USAGE', await repair(root, '--keep', odd));
    const done = answerOf(await repair(root, '--keep', String(size), '--json'));
    expect(done).toMatchObject({ result: { entries: size, stored_size: size, set_aside: 2, written: true } });
    expect(
      await superuser(
        `SELECT seq::int, convert_from(bytes, 'UTF8') AS bytes FROM keyturn.set_aside WHERE tenant = ${id}`,
      ),
    ).toEqual([
      { seq: size, bytes: 'junk' },
      { seq: size + 500, bytes: 'junk' },
    ]);
    expect(await opened.ledger.head()).toMatchObject({ size, root: tree });
    await propose();
    expect(await run('store', 'verify', '--deep')).toMatchObject({ code: 0, stderr: '' });
    expect((await repair(root)).stdout).toContain('[OK] Nothing to repair');
    await expect(sqlAs(url('keyturn_owner'), 'DELETE FROM keyturn.entry')).rejects.toMatchObject({
      code: '42501',
    });
    await expect(superuser('DELETE FROM keyturn.entry')).rejects.toThrow(/never changed/);
    await expect(superuser('DELETE FROM keyturn.set_aside')).rejects.toThrow(/never changed/);
  });

  it('an end that was moved back is moved forward, and nothing is set aside', async () => {
    const { root, propose, run, id, keyturn: opened } = await project('forward');
    for (let i = 0; i < 3; i++) await propose();
    const { size, root: tree, text } = await opened.ledger.head();
    writeFileSync(join(root, 'head.txt'), text);
    await app(`UPDATE keyturn.tenant t SET size = e.seq + 1, last = e.hash
      FROM keyturn.entry e WHERE t.id = ${id} AND e.tenant = t.id AND e.seq = 2`);
    const done = answerOf(await repair(root, '--keep', String(size), '--head', 'head.txt', '--json'));
    expect(done).toMatchObject({ result: { entries: size, stored_size: 3, set_aside: 0, problem: null } });
    expect(await opened.ledger.head()).toMatchObject({ size, root: tree });
    expect(await run('store', 'verify', '--deep', '--head', 'head.txt')).toMatchObject({
      code: 0,
      stderr: '',
    });
  });

  it('what Keyturn appended after a forged entry is set aside only when it is asked for', async () => {
    const { root, propose, id, keyturn: opened } = await project('built-upon');
    const { intent_id, hash } = await propose();
    const signer = await opened.unlock('alice', PASSPHRASE);
    await opened.intents.approve({ intent_id, hash, signer });
    const size = await sizeOf(id);
    await forge(id, OTHER, (entry) => ({ ...entry, subject: OTHER }));
    const other = await Keyturn.open({ at: root });
    onTestFinished(() => other.close());
    await other.intents.grant({ intent_id, hash, signer });
    expectError('REPAIR_READABLE', await repair(root, '--keep', String(size)));
    const done = await repair(root, '--keep', String(size), '--readable-too');
    expect(done).toMatchObject({ code: 0, stderr: '' });
    expect(await sizeOf(id)).toBe(size);
    expect(
      await superuser(`SELECT count(*)::int AS n FROM keyturn.set_aside WHERE tenant = ${id}`),
    ).not.toEqual([{ n: 1 }]);
    await opened.ledger.verifyStore({ deep: true });
  });

  it('an entry that verifies, stored under another subject than its own, is set aside as well', async () => {
    const { root, propose, id, keyturn: opened } = await project('other-subject');
    await propose();
    const size = await sizeOf(id);
    await forge(id, 'elsewhere', (entry) => ({ ...entry, subject: OTHER, claims: [`intent:${OTHER}`] }));
    const look = answerOf(await repair(root, '--json')) as never as { result: { problem: string } };
    expect(look).toMatchObject({ result: { entries: size, set_aside: 1, written: false } });
    expect(look.result.problem).toContain('what is stored beside it does not fit');
    expect(await repair(root, '--keep', String(size), '--readable-too')).toMatchObject({
      code: 0,
      stderr: '',
    });
    await opened.ledger.verifyStore({ deep: true });
  });

  it('an entry that was changed is no row past the end: a kept head refuses the repair', async () => {
    const { root, propose, id, keyturn: opened } = await project('changed');
    for (let i = 0; i < 3; i++) await propose();
    const { size, text } = await opened.ledger.head();
    writeFileSync(join(root, 'head.txt'), text);
    await superuser(`ALTER TABLE keyturn.entry DISABLE TRIGGER entry_is_kept;
      UPDATE keyturn.entry SET bytes = 'x' WHERE tenant = ${id} AND seq = ${size - 2};
      ALTER TABLE keyturn.entry ENABLE ALWAYS TRIGGER entry_is_kept`);
    expectError('LEDGER_TRUNCATED', await repair(root, '--head', 'head.txt'));
    expectError('LEDGER_TRUNCATED', await repair(root, '--head', 'head.txt', '--keep', String(size - 2)));
    expect(await sizeOf(id)).toBe(size);
    await superuser(`ALTER TABLE keyturn.entry DISABLE TRIGGER entry_is_kept;
      UPDATE keyturn.entry SET bytes = 'x' WHERE tenant = ${id} AND seq = 0;
      ALTER TABLE keyturn.entry ENABLE ALWAYS TRIGGER entry_is_kept`);
    expect((await repair(root)).code).toBe(1);
  });

  it('a ledger that grew since the look, or is not there, is not touched', async () => {
    const { root, propose, id } = await project('grew');
    const [{ last, size }] = (await superuser(
      `SELECT last, size::int FROM keyturn.tenant WHERE id = ${id}`,
    )) as [{ last: string; size: number }];
    await propose();
    const cut = { url: url('keyturn_owner'), tenant: 'grew', size, last, past: 0, write: true };
    await expectRefusal('STORE_BUSY', () => cutPostgresStore(cut));
    expect(await sizeOf(id)).toBe(size + 1);
    expectError('STORE_MISSING', await repair(root, '--tenant', 'nobody'));
  });
});
