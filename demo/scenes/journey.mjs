import { codeOf, lastIntent } from '../stage.mjs';

/** From an empty folder to one run of one tool. Returns the id of what ran. */
export async function journey(stage) {
  const { title, run, ask, key } = stage;
  await beginning(stage);

  title(
    'The agent proposes a tool call',
    'The hash covers argv, the bytes of the executable, the sandbox: the effect, not the words.',
  );
  const goal = ['--goal', 'Keep a copy of the report'];
  run(['propose', '--by', 'bot', '--tool', 'backup', '--arg', 'file=data/report.txt', ...goal]);
  const [id, hash] = lastIntent(stage);

  title('The agent cannot run it', 'No human has approved it.');
  run(['check', id, hash], { fails: true });

  title(
    'You look at the exact effect and turn the key',
    'Approving means typing the beginning of its code, and your passphrase.',
  );
  await ask(['approve', id], [codeOf(stage, id), key]);
  run(['check', id, hash], { fails: true });

  title(
    'You grant a capability',
    'Policies decide. It is good for one run of this effect, for two minutes, and can be taken back.',
  );
  await ask(['grant', id, '--ttl', '2m'], [key]);
  run(['check', id, hash]);

  title('It runs, once', 'You say y at the terminal. No flag and no variable can say it for you.');
  await ask(['run', id, hash], [['(y/n)', 'y']]);
  stage.say(`\n   backups/report.txt now says: ${stage.read('backups/report.txt').trim()}`);
  await ask(['run', id, hash], [], { fails: true });
  return id;
}

async function beginning({ title, run, ask, key, secret, interactive }) {
  title('You make a project', 'It gets a store, and you get a key that only your passphrase opens.');
  const [chosen, again] = interactive ? ['a passphrase of your choice', 'the same again'] : [secret, secret];
  await ask(
    ['init', '--name', 'you'],
    [
      ['New passphrase', chosen],
      ['again', again],
    ],
  );
  run(['tool', 'lock']);

  title('You let an agent propose', 'An agent has a name and no key. It can ask, and nothing else.');
  await ask(['identity', 'add', 'bot', '--agent'], [key]);
}
