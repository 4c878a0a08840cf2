import type { ServiceState } from '../store.ts';
import { mapped } from './failure.ts';
import type { Tenant } from './rows.ts';
import type { Session } from './session.ts';

/** By the clock of the server: those of the hosts differ. */
const END = (n: number) => `now() + make_interval(secs => $${n}::float8 / 1000)`;
const ONE = 'tenant = $1 AND kind = $2 AND key = $3';
const LIVES = 'until > now()';

const STATEMENTS = {
  get: `SELECT value FROM keyturn.service_state WHERE ${ONE} AND ${LIVES}`,
  put: `INSERT INTO keyturn.service_state (tenant, kind, key, value, until, since)
  VALUES ($1, $2, $3, $4, ${END(5)}, clock_timestamp())
  ON CONFLICT (tenant, kind, key) DO UPDATE SET value = EXCLUDED.value, until = EXCLUDED.until`,
  trim: `DELETE FROM keyturn.service_state WHERE tenant = $1 AND kind = $2 AND (NOT ${LIVES} OR key IN (
  SELECT key FROM keyturn.service_state WHERE tenant = $1 AND kind = $2 AND ${LIVES}
  ORDER BY since DESC, key OFFSET $3))`,
  swap: `UPDATE keyturn.service_state SET value = $5 WHERE ${ONE} AND value = $4 AND ${LIVES} RETURNING key`,
  take: `DELETE FROM keyturn.service_state WHERE ${ONE} RETURNING CASE WHEN ${LIVES} THEN value END AS value`,
  list: `SELECT key, value FROM keyturn.service_state WHERE tenant = $1 AND kind = $2 AND ${LIVES}
  AND starts_with(key, $3) ORDER BY since, key`,
  lease: `INSERT INTO keyturn.service_state AS held (tenant, kind, key, value, until, since)
  VALUES ($1, $2, $3, $4, ${END(5)}, clock_timestamp())
  ON CONFLICT (tenant, kind, key) DO UPDATE SET value = EXCLUDED.value, until = EXCLUDED.until
    WHERE held.value = EXCLUDED.value OR NOT held.${LIVES} RETURNING key`,
};

/** On a session of its own: a commit that is under way is not to be joined. */
export function serviceStateOf(session: Session, tenant: Tenant): ServiceState {
  const ask = (name: keyof typeof STATEMENTS, ...values: unknown[]) => {
    const asked = { name: `state ${name}`, text: STATEMENTS[name], values: [tenant.id, ...values] };
    return mapped(async () => (await session.read((db) => db.ask(asked))).rows);
  };
  const valueIn = (rows: readonly unknown[]) =>
    (rows[0] as { value: string | null } | undefined)?.value ?? null;
  return {
    get: async (kind, key) => valueIn(await ask('get', kind, key)),
    put: async (kind, { key, value, ttl_ms }, most) => {
      await ask('put', kind, key, value, ttl_ms);
      await ask('trim', kind, most);
    },
    swap: async (kind, key, { from, to }) => (await ask('swap', kind, key, from, to)).length === 1,
    take: async (kind, key) => valueIn(await ask('take', kind, key)),
    list: async (kind, beginning = '') =>
      (await ask('list', kind, beginning)) as { key: string; value: string }[],
    lease: async (kind, key, holder, ttl_ms) => (await ask('lease', kind, key, holder, ttl_ms)).length === 1,
  };
}
