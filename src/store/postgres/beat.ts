import { limits } from '../../limits.ts';
import type { Beat, Beats } from '../store.ts';
import { mapped } from './failure.ts';
import type { Tenant } from './rows.ts';
import type { Session } from './session.ts';

const BEAT = `INSERT INTO keyturn.beat AS known (tenant, executor, instance, since, at, is_running)
  VALUES ($1, $2, $3, now(), now(), $4)
  ON CONFLICT (tenant, executor) DO UPDATE SET instance = excluded.instance, at = excluded.at, is_running = excluded.is_running,
    since = CASE WHEN known.instance = excluded.instance THEN known.since ELSE excluded.since END`;

/** The times are those of the server, as text in the form of all times here. */
const HEARD = `SELECT executor, ${timeOf('since')}, ${timeOf('at')},
    is_running AND at > now() - interval '${limits.beat_missed_ms} milliseconds' AS is_running
  FROM keyturn.beat WHERE tenant = $1 ORDER BY executor`;

function timeOf(column: string): string {
  return `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS ${column}`;
}

/** On a session of its own: a commit that is under way is not to be joined. */
export function beatsOf(writer: Session, reader: Session, tenant: Tenant): Beats {
  return {
    beat: ({ executor, instance, is_running }) =>
      mapped(async () => {
        const values = [tenant.id, executor, instance, is_running];
        await writer.read((db) => db.ask({ text: BEAT, values }));
      }),
    heard: () =>
      mapped(async () => {
        const ask = { text: HEARD, values: [tenant.id] };
        return (await reader.read((db) => db.ask<Beat & Record<string, unknown>>(ask))).rows.map(
          ({ executor, since, at, is_running }) => ({ executor, since, at, is_running }),
        );
      }),
  };
}
