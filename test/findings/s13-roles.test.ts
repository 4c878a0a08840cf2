import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { repairStore } from '../../src/keyturn.ts';
import { expectError, makeProject } from '../cli/project.ts';
import { sqlite } from '../store/sqlite-file.ts';
import { ask, fakePostgres } from '../support/fake-postgres.ts';
import { keyturn } from '../support/pty.ts';
import { expectRefusal } from '../support/refusal.ts';
import { scratch } from '../support/scratch.ts';

describe('S13: what the role of the application cannot do', () => {
  it('the set-up of two roles is a command, which sends the password of the owner to no server in clear', async () => {
    const server = await fakePostgres(({ type }, reply) => reply(...(type === 'startup' ? [ask.md5] : [])));
    const url = `postgres://owner:hunter2hunter2@127.0.0.1:${server.port}/keyturn`;
    const cwd = scratch();
    for (const words of [
      ['migrate', url, '--application', 'keyturn_app'],
      ['repair', url],
    ]) {
      const refused = await keyturn(['store', ...words], { cwd });
      expectError('STORE_PASSWORD_UNSAFE', refused);
      expect(refused.stderr).not.toContain('hunter2');
    }
    expect(server.heard.filter(({ type }) => type === 'p')).toEqual([]);
    expectError('SHAPE_INVALID', await keyturn(['store', 'migrate', 'sqlite:store.db'], { cwd }));
    await expectRefusal('SHAPE_INVALID', () => repairStore({ at: cwd, url: '.keyturn/store.db' }));
  });

  it('an entry past the end of an embedded ledger is found by every verification, and nothing is appended after it', async () => {
    const folder = scratch();
    const project = await makeProject(folder);
    const size = await project.size();
    sqlite(join(folder, '.keyturn', 'store.db'), (db) =>
      db.exec(
        `INSERT INTO entry SELECT id + 7, hash, peak, at, kind, signer, bytes FROM entry ORDER BY id DESC LIMIT 1`,
      ),
    );
    await expectRefusal('LEDGER_BROKEN', () =>
      project.inside((keyturn) => keyturn.ledger.verify({ deep: true })),
    );
    await expectRefusal('LEDGER_BROKEN', () => project.inside((keyturn) => keyturn.ledger.verifyStore({})));
    await expectRefusal('LEDGER_BROKEN', () => project.propose('greet', { name: 'Ada' }));
    expect(
      sqlite(join(folder, '.keyturn', 'store.db'), (db) => db.prepare('SELECT id FROM entry').all()),
    ).toHaveLength(size + 1);
  });
});
