import { createTables } from '../agent-sql.ts';
import { LEDGERS } from '../agent-tables.ts';

/** Only a rebuild lifts these, inside its own transaction, to replace rows that were changed behind the store's back. */
export const KEEP_AGENT_LEDGERS = LEDGERS.map(
  ({ name }) => `
  CREATE TRIGGER main.${name}_no_update BEFORE UPDATE ON ${name}
    BEGIN SELECT RAISE(ABORT, '${name} rows are never changed'); END;
  CREATE TRIGGER main.${name}_no_delete BEFORE DELETE ON ${name}
    BEGIN SELECT RAISE(ABORT, '${name} rows are never deleted'); END;`,
).join('');

export const FREE_AGENT_LEDGERS = LEDGERS.map(
  ({ name }) =>
    `DROP TRIGGER IF EXISTS main.${name}_no_update; DROP TRIGGER IF EXISTS main.${name}_no_delete;`,
).join('');

/** Version 2 of the schema: the tables of 003 section 10.1. */
export const AGENT_MIGRATION =
  createTables({ schema: '', text: 'TEXT', number: 'INTEGER', storage: ' STRICT, WITHOUT ROWID' }) +
  KEEP_AGENT_LEDGERS;
