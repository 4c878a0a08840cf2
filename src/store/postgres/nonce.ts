import { postgresLimits } from '../../limits.ts';
import type { Nonces } from '../store.ts';
import { mapped } from './failure.ts';
import type { Tenant } from './rows.ts';
import type { Session } from './session.ts';

const TAKE = `INSERT INTO keyturn.nonce (tenant, nonce, until) VALUES ($1, $2, $3)
  ON CONFLICT DO NOTHING RETURNING nonce`;
/** An hour later than it must be kept: the clocks of services differ. */
const FORGET = "DELETE FROM keyturn.nonce WHERE tenant = $1 AND until < $2::timestamptz - interval '1 hour'";

/** On a session of its own: a commit that is under way is not to be joined. */
export function noncesOf(session: Session, tenant: Tenant): Nonces {
  let taken = 0;
  return {
    take: (nonce, until, now) =>
      mapped(async () => {
        if (taken++ % postgresLimits.nonces_taken === 0)
          await session.read((db) => db.ask({ text: FORGET, values: [tenant.id, now.toISOString()] }));
        const values = [tenant.id, nonce, until.toISOString()];
        return (await session.read((db) => db.ask({ text: TAKE, values }))).rows.length === 1;
      }),
  };
}
