import { createTables } from '../agent-sql.ts';
import { LEDGERS } from '../agent-tables.ts';

/** Only a rebuild lifts this, inside its own transaction and with the role that owns the tables. */
export const freeLedger = (table: string) => `ALTER TABLE keyturn.${table} DISABLE TRIGGER rows_are_kept;`;
export const keepLedger = (table: string) =>
  `ALTER TABLE keyturn.${table} ENABLE ALWAYS TRIGGER rows_are_kept;`;

const KEEP_AGENT_LEDGERS = LEDGERS.map(
  ({ name }) => `
  CREATE TRIGGER rows_are_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON keyturn.${name}
    FOR EACH STATEMENT EXECUTE FUNCTION keyturn.refuse_change();
  ${keepLedger(name)}`,
).join('');

/** Version 2 of the schema: the tables of 003 section 10.1. */
export const AGENT_MIGRATION =
  createTables({ schema: 'keyturn.', text: 'text COLLATE "C"', number: 'bigint', storage: '' }) +
  KEEP_AGENT_LEDGERS;
