import { isUuid } from '../../canonical/uuid.ts';
import { refuse } from '../../refusal.ts';

/**
 * The generated rollback script. It only calls Keyturn: a script that restored files by itself would be a second way to change
 * them, without a look at what is there now and without a record.
 */
export function rollbackScript(execution_id: string): string {
  if (!isUuid(execution_id)) refuse('ID_MALFORMED', 'The execution id is not a UUID.');
  return `#!/bin/sh
# Undoes one run of a plan. Keyturn checks every file before it restores it, and records what it did.
cd -- "$(dirname -- "$0")" || exit 1
exec keyturn rollback ${execution_id} "$@"
`;
}
