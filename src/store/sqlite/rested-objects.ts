import { type Digest, sha256 } from '../../canonical/digest.ts';
import { refuse } from '../../refusal.ts';
import { refuseLost } from '../rests.ts';
import type { Database } from './database.ts';
import type { Tenant } from './rows.ts';
import { idOf } from './schema.ts';

/** The stored objects that the entries of a rebuild rest on. */
export interface RestedObjects {
  /** Null for one that is not there: whether an entry says that it was removed is asked at the end. */
  find(digest: Digest, seq: number): Uint8Array | null;
  /** Refuses the first entry that rests on an object which is not there, and which no entry says was removed. */
  finish(): void;
}

const ABSENT_TABLE = 'CREATE TEMP TABLE absent (digest TEXT PRIMARY KEY, seq INTEGER) STRICT, WITHOUT ROWID';

/** In a table, because a gc may have removed any number of them. The rebuild compares the kinds that stand beside the entries. */
const LOST = `
  SELECT digest, seq FROM temp.absent WHERE digest NOT IN (
    SELECT CAST(bytes AS TEXT) ->> '$.subject' FROM entry
    WHERE id >= ? AND id < ? AND kind IN ('object.erased', 'object.expired'))
  ORDER BY seq LIMIT 1`;

interface Lost {
  readonly digest: Digest;
  readonly seq: number;
}

export function restedObjects(db: Database, tenant: Tenant): RestedObjects {
  db.exec(ABSENT_TABLE);
  let absent = 0;
  return {
    find: (digest, seq) => {
      const found = db
        .sql('SELECT bytes FROM object WHERE tenant = ? AND digest = ?')
        .get(tenant.id, digest) as { bytes: Uint8Array } | undefined;
      if (found && sha256(found.bytes) !== digest) refuse('OBJECT_CORRUPT', undefined, { digest });
      if (!found) {
        db.sql('INSERT OR IGNORE INTO temp.absent VALUES (?, ?)').run(digest, seq);
        absent += 1;
      }
      return found?.bytes ?? null;
    },
    finish: () => {
      if (absent === 0) return;
      const lost = db.sql(LOST).get(idOf(tenant.id, 0), idOf(tenant.id + 1, 0)) as Lost | undefined;
      if (lost) refuseLost(lost);
    },
  };
}
