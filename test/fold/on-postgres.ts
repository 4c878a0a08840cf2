import { OWNER, type Postgres, urlOf } from '../store/postgres-place.ts';
import type { Bench } from './judges.ts';

const ENTRY = `
  INSERT INTO keyturn.entry (tenant, seq, hash, peak, at, subject, kind, signer, bytes)
  SELECT t.id, v.* FROM keyturn.tenant t, unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::bytea[]) AS v
  WHERE t.name = 'default'`;
const END = `UPDATE keyturn.tenant SET size = $1, last = $2 WHERE name = 'default'`;

/** A ledger of a real PostgreSQL, and an attacker who can write its tables. */
export async function onPostgres(at: Postgres): Promise<Bench> {
  const place = await at.place();
  return {
    open: (mode, clock) =>
      // Only the role that owns the tables replaces rows.
      mode === 'write'
        ? at.open(mode, { url: urlOf(at.server, OWNER) })
        : place.open({ mode, ...(clock && { clock }) }),
    plant: async (entries) => {
      const column = <T>(of: (entry: (typeof entries)[number]) => T) => entries.map(of);
      await at.sql(ENTRY, [
        column(({ seq }) => seq),
        column(({ hash }) => hash),
        column(({ hash, peak }) => (peak === hash ? null : peak)),
        column((entry) => entry.at),
        column(({ event }) => event.subject),
        column(({ event }) => event.kind),
        column(({ signer }) => signer),
        column(({ bytes }) => Buffer.from(bytes)),
      ]);
      await at.sql(END, [entries.length, entries.at(-1)!.hash]);
    },
  };
}
