import { codeOf, lastIntent } from '../stage.mjs';

const CHAT = 'chat-1';
const DAYS = 'shop/closed.json';
const BEFORE = '{\n  "2026-12-25": "Christmas"\n}\n';

/** A simulation is one thing that a conversation may lead to. These two undo each other. */
const simulation = ({ id, summary, risk, operation, undo }) => `id: ${id}
version: 1
family: shop
summary: { en: ${summary} }
phrases: { en: [${summary.toLowerCase()}] }
risk: ${risk}
impactful: true
side_effecting: true
irreversible: false
access_action: ${id}
fields:
  day: { type: date, extract: date, question: { en: Which day? }, formats: ["2026-12-24", "24.12.2026"] }
effect:
  plan:
    plan_id: ${id}
    action_plan:
      - action_id: change
        action_type: FILE_MODIFY
        target: ${DAYS}
        operation: ${operation}
rollback_plan_ref: ${undo}
`;

const CLOSE = simulation({
  id: 'shop.close',
  summary: 'Close the shop for a day',
  risk: 'HIGH',
  operation: '{ type: json_add_property, path: $, key: "{day}", value: closed }',
  undo: 'shop.open',
});
const OPEN = simulation({
  id: 'shop.open',
  summary: 'Open the shop after all',
  risk: 'LOW',
  operation: '{ type: json_remove_property, path: $, key: "{day}" }',
  undo: 'shop.close',
});

/** A goal in plain words, one question, a yes, a run, and its undo: the agent core with the same gate behind it. */
export async function conversation(stage) {
  const { title, run, say } = stage;
  stage.write(DAYS, BEFORE);
  await activation(stage);
  const went_on = (await goal(stage)) && (await takenBack(stage));
  if (!went_on && !stage.interactive) stage.stop('The demo said yes, and expected it to count.');
  if (!went_on) say('\n   There was no clear yes, so nothing more is done. That is in the ledger too.');

  title('The conversation is proven as well', 'Every decision is made again from what was stored.');
  run(['agent', 'status', CHAT]);
  run(['agent', 'replay', CHAT]);
  run(['ledger', 'verify', '--deep']);
}

async function activation({ title, ask, say, write, key }) {
  title(
    'You decide what a conversation may lead to',
    'Nothing but simulations that you activated. One closes the shop for a day, the other undoes that.',
  );
  write('simulations/shop.close.yaml', CLOSE);
  write('simulations/shop.open.yaml', OPEN);
  say(`\n   simulations/shop.close.yaml says:\n\n${CLOSE.trimEnd()}`);
  const ids = ['shop.open', 'shop.close'];
  const why = ['--reason', 'We need a rest'];
  for (const id of ids) await ask(['simulation', 'register', id, ...why], [key]);
  for (const id of ids) await ask(['simulation', 'activate', id, '--ttl', '1d', ...why], [key]);
}

/** True when it ran. */
async function goal(stage) {
  const { title, say, run, ask, key } = stage;
  title(
    'A user states a goal, and leaves out the day',
    'The one question is about what is missing. Only a clear yes counts. The risk is HIGH, so you sign as well.',
  );
  run(['agent', 'ask', 'Please close the shop for a day', '--correlation', CHAT]);
  if ((await heard(stage, 'CLARIFY', 'on 24.12.2026')) !== 'CONFIRM') return false;
  say('\n   "okay" is not a yes:');
  run([...waited(stage), 'okay'], { fails: true });
  if ((await heard(stage, 'CONFIRM', 'yes')) !== 'AWAITS_APPROVER') return false;
  shown(stage, 'still says', (days) => days === BEFORE);
  const [id] = lastIntent(stage);
  await ask(['approve', id], [codeOf(stage, id), key]);
  run(['agent', 'resume', CHAT]);
  shown(stage, 'now says', (days) => days !== BEFORE);
  return true;
}

/** True when it was undone. */
async function takenBack(stage) {
  stage.title(
    'They change their mind',
    'An undo is confirmed like anything else. Its risk is LOW, so the yes is enough: you activated that.',
  );
  stage.run(['agent', 'undo', CHAT]);
  if ((await heard(stage, 'CONFIRM', 'yes')) !== 'OUTCOME') return false;
  shown(stage, 'is back', (days) => days === BEFORE);
  return true;
}

/** The command that the conversation waits for, without the words: it names the question or the prompt. */
function waited({ output }) {
  const [, next] = /^Next: keyturn (.*)$/m.exec(output(['agent', 'status', CHAT]));
  return next.split(' ').slice(0, -1);
}

/** Says it until the conversation no longer waits for that. Returns what it has come to. */
async function heard(stage, waiting, suggested) {
  const { attempt, speak, interactive, stop } = stage;
  for (;;) {
    const { stderr } = attempt([...waited(stage), await speak(suggested)]);
    const kind = /^Conversation: \S+ \((\w+), /m.exec(stderr)?.[1] ?? waiting;
    if (kind !== waiting) return kind;
    if (!interactive) stop('The demo expected to be understood.');
  }
}

function shown({ say, read, stop }, how, isExpected) {
  const days = read(DAYS);
  say(`\n   ${DAYS} ${how}:\n${days.trimEnd()}`);
  if (!isExpected(days)) stop('The demo expected something else there.');
}
