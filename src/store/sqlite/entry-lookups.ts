import { sqliteLimits } from '../../limits.ts';
import type { Database } from './database.ts';
import type { Tenant } from './rows.ts';
import { idOf } from './schema.ts';

/** Which entries are about a name: nearly all of `lookup`. So a rebuild compares these where they are, and copies none of them. */
export interface EntryLookups {
  /** An entry after the one before it. */
  add(subject: string): void;
  /** After the last entry: what is missing, wrong, or there without an entry. */
  finish(): string[];
}

const FOUND = `
  SELECT count(*) AS found FROM json_each(?) AS entry CROSS JOIN main.lookup AS stored
  WHERE stored.tenant = ? AND stored.near = entry.value AND stored.kind = 'entry'
    AND stored.key = ? + entry.key AND stored.seq = stored.key`;
const STORED = `SELECT count(*) AS stored FROM main.lookup WHERE tenant = ? AND kind = 'entry'`;

/** Of what `bytes` hold the rebuild has read every one, and found it an entry. */
const RIGHT = `
  SELECT json_extract(CAST(bytes AS TEXT), '$.subject') AS near, id - :first AS key, id - :first AS seq
  FROM main.entry WHERE id >= :first AND id < :end`;
const THERE = `SELECT near, key, seq FROM main.lookup WHERE tenant = :tenant AND kind = 'entry'`;
const DIFFERENCES = `
  SELECT DISTINCT 'entry ' || near AS what FROM (
    SELECT * FROM (${RIGHT} EXCEPT ${THERE}) UNION ALL SELECT * FROM (${THERE} EXCEPT ${RIGHT})
  ) LIMIT :most`;

export function entryLookups(db: Database, tenant: Tenant, most: number): EntryLookups {
  let subjects: string[] = [];
  let first = 0;
  let found = 0;

  function look(): void {
    const answer = db.sql(FOUND).get(JSON.stringify(subjects), tenant.id, first) as { found: number };
    found += answer.found;
    first += subjects.length;
    subjects = [];
  }

  return {
    add: (subject) => {
      subjects.push(subject);
      if (subjects.length === sqliteLimits.compared_subjects) look();
    },
    finish: () => {
      look();
      const { stored } = db.sql(STORED).get(tenant.id) as { stored: number };
      if (found === first && stored === first) return [];
      const differing = db.sql(DIFFERENCES).all({ ...placeOf(tenant), tenant: tenant.id, most });
      return (differing as { what: string }[]).map(({ what }) => what);
    },
  };
}

/** Where nothing of this kind is left. */
export function insertEntryLookups(db: Database, tenant: Tenant): void {
  db.sql(`INSERT INTO main.lookup (tenant, near, kind, key, seq)
    SELECT :tenant, near, 'entry', key, seq FROM (${RIGHT})`).run({ ...placeOf(tenant), tenant: tenant.id });
}

const placeOf = ({ id }: Tenant) => ({ first: idOf(id, 0), end: idOf(id + 1, 0) });
