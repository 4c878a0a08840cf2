import * as postgres from '../../src/store/postgres/store.ts';
import * as sqlite from '../../src/store/sqlite/store.ts';
import { bringingDecisions } from './decisions.ts';

/** Stores as the journeys use them: with each fact comes the decision that it rests on, where a test's facts made it. */

export const openSqliteStore: typeof sqlite.openSqliteStore = async (options) =>
  bringingDecisions(await sqlite.openSqliteStore(options));

export const openPostgresStore: typeof postgres.openPostgresStore = async (options) =>
  bringingDecisions(await postgres.openPostgresStore(options));
