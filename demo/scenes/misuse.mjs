import { chmodSync } from 'node:fs';
import { codeOf, lastIntent } from '../stage.mjs';

/** What an agent tries that means no good. */
export async function misuse(stage) {
  const { title, run, ask, say, key } = stage;
  const backup = (file) => ['propose', '--by', 'bot', '--tool', 'backup', '--arg', file, '--goal', 'Back up'];

  title('The agent smuggles', 'A path that leads out, and an option dressed as a file name.');
  run(backup('file=../../etc/passwd'), { fails: true });
  run(backup('file=--target-directory=/etc'), { fails: true });

  title('The agent swaps the tool after your approval', 'You approved one script. Another one must not run.');
  const goal = ['--goal', 'Show me the report'];
  run(['propose', '--by', 'bot', '--tool', 'show', '--arg', 'file=data/report.txt', ...goal]);
  const [id, hash] = lastIntent(stage);
  await ask(['approve', id], [codeOf(stage, id), key]);
  await ask(['grant', id], [key]);
  chmodSync(stage.path('show.sh'), 0o755);
  stage.write('show.sh', '#!/bin/sh\necho stolen\n');
  say('\n   … the agent overwrites show.sh …');
  await ask(['run', id, hash], [], { fails: true });
}
