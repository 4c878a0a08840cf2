import { appendFileSync } from 'node:fs';
import { lastIntent } from '../stage.mjs';

const FORBIDDEN = `
@id("no-secrets") @version("1") @scope("intent")
@rationale("Secrets are not for agents.")
forbid (principal, action == Keyturn::Action::"submit", resource)
when { context.goal like "*secret*" };
`;

/** What holds for every agent and every human: the policies, and the freeze. */
export async function rules(stage) {
  const { title, run, ask, say, path, key } = stage;
  title(
    'A policy says no',
    'You forbid what touches secrets. From now on no one, not even you, can approve it.',
  );
  appendFileSync(path('policies/keyturn.cedar'), FORBIDDEN);
  say(`\n   policies/keyturn.cedar now also says:\n${FORBIDDEN}`);
  run(['policy', 'diff']);
  await ask(['policy', 'activate', '--reason', 'Secrets stay where they are'], [key]);
  const goal = ['--goal', 'Print the secret'];
  run(['propose', '--by', 'bot', '--tool', 'show', '--arg', 'file=data/report.txt', ...goal]);
  const [refused] = lastIntent(stage);
  await ask(['approve', refused], [], { fails: true });

  title(
    'You freeze everything',
    'Nothing runs until a human says so, whatever was approved and granted before.',
  );
  await ask(['freeze', '--reason', 'Something is odd'], [key]);
  run(['status']);
  await ask(['unfreeze', '--reason', 'It was nothing'], [key]);
}
