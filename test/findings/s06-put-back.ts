import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';

/** Behind the back of Keyturn, by an attacker who may write the file and has no key. */
export function sql(root: string, text: string): void {
  const db = new DatabaseSync(join(root, '.keyturn', 'store.db'));
  db.exec(text);
  db.close();
}

export const KEEP =
  'CREATE TABLE kept_lookup AS SELECT * FROM lookup; CREATE TABLE kept_rows AS SELECT * FROM projection;';
export const PUT_BACK = `DELETE FROM lookup; INSERT INTO lookup SELECT * FROM kept_lookup;
  DELETE FROM projection; INSERT INTO projection SELECT * FROM kept_rows;`;
