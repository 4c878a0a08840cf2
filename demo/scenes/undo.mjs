import { executionOf, lastIntent } from '../stage.mjs';

const SCHEMA = 'schemas/customer.json';

/** A plan of file changes, and its undo. */
export async function undo(stage) {
  const { title, run, ask, say, read, key } = stage;
  title(
    'The agent edits a file, and you undo it',
    'A plan is many changes, or none. You approve the diff; the backup is made before the first byte changes.',
  );
  run(['plan', 'preview', 'plan.json']);
  run(['propose', '--by', 'bot', '--plan', 'plan.json', '--goal', 'Give every customer an e-mail address']);
  const [id] = lastIntent(stage);
  await ask(['turn', id], [['(y/n)', 'y'], key]);
  say(`\n   ${SCHEMA} now says:\n${read(SCHEMA)}`);
  await ask(['rollback', executionOf(stage, id), '--reason', 'We have no consent for that'], [key]);
  say(`\n   ${SCHEMA} is back:\n${read(SCHEMA)}`);
}
