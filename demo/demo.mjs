/**
 * The whole journey on the embedded store, in a scratch folder. At a terminal you play the approver. Without one, the demo
 * types your part into a real pseudo-terminal, and says so each time.
 */
import { spawn, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters, styleText } from 'node:util';

const cli = fileURLToPath(new URL('../dist/cli.js', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'keyturn-demo-'));
const interactive = process.stdin.isTTY && process.stdout.isTTY;
const passphrase = 'correct horse battery staple';
const sandboxed =
  spawnSync('bwrap', ['--version']).status === 0 && spawnSync('prlimit', ['--version']).status === 0;

const registry = `version: 1
tools:
  - name: backup
    summary: Copies one file of data/ into backups/.
    executable: /bin/cp
    args: ["--", "{file}", "backups/"]
    parameters:
      file: { type: path, description: "The file to copy, such as data/report.txt" }
    sandbox: ${sandboxed ? '{ read: [data], write: [backups] }' : 'none'}
    undo: none
  - name: show
    summary: Prints one file.
    executable: ./show.sh
    args: ["{file}"]
    parameters:
      file: { type: path }
    sandbox: ${sandboxed ? '{ read: [data] }' : 'none'}
    undo: none
`;

const plan = {
  plan_id: 'customer-email',
  action_plan: [
    {
      action_id: 'add-email',
      action_type: 'SCHEMA_UPDATE',
      target: 'schemas/customer.json',
      operation: { type: 'json_add_property', path: '$.properties', key: 'email', value: { type: 'string' } },
    },
  ],
};

const forbidden = `
@id("no-secrets") @version("1") @scope("intent")
@rationale("Secrets are not for agents.")
forbid (principal, action == Keyturn::Action::"submit", resource)
when { context.goal like "*secret*" };
`;

const colour = (style, text) =>
  process.stdout.isTTY && !process.env.NO_COLOR ? styleText(style, text) : text;
const say = (text = '') => console.log(text);

function title(number, text, why) {
  say(`\n${colour(['bold', 'cyan'], `${number}. ${text}`)}`);
  say(colour('dim', `   ${why}`));
}

function prompt(words) {
  const shown = words.map((word) => (/^[\w./=:@-]+$/.test(word) ? word : `'${word}'`)).join(' ');
  say(`\n${colour('green', '$')} keyturn ${shown}`);
}

/** A command that asks nobody. Returns what it printed. */
function run(words, { fails = false } = {}) {
  prompt(words);
  const { status, stdout, stderr } = spawnSync(process.execPath, [cli, ...words], {
    cwd: folder,
    encoding: 'utf8',
  });
  process.stdout.write(stdout);
  process.stdout.write(stderr);
  expectStatus(status, fails);
  return stdout;
}

/** A command that asks the human: you, or the demo in your place. */
async function ask(words, turns, { fails = false } = {}) {
  prompt(words);
  const status = interactive ? await atYourTerminal(words, turns) : await inYourPlace(words, turns);
  expectStatus(status, fails);
}

function atYourTerminal(words, turns) {
  say(colour('yellow', `   Your turn: ${turns.map(([, answer]) => answer).join(', then ')}`));
  return new Promise((done) => {
    spawn(process.execPath, [cli, ...words], { cwd: folder, stdio: 'inherit' }).on('close', done);
  });
}

async function inYourPlace(words, turns) {
  say('   (no terminal here: the demo plays the human and types the answers)');
  const { spawn: spawnInTerminal } = await import('@lydell/node-pty');
  const options = { name: 'xterm', cols: 120, rows: 50, cwd: folder, env: { ...process.env, NO_COLOR: '1' } };
  const terminal = spawnInTerminal(process.execPath, [cli, ...words], options);
  const waiting = [...turns];
  let text = '';
  let from = 0;
  terminal.onData((chunk) => {
    text += chunk;
    const [turn] = waiting;
    const at = turn ? text.indexOf(turn[0], from) : -1;
    if (at === -1) return;
    waiting.shift();
    from = at + turn[0].length;
    terminal.write(`${turn[1]}\r`);
  });
  const status = await new Promise((done) => terminal.onExit(({ exitCode }) => done(exitCode)));
  process.stdout.write(stripVTControlCharacters(text).replaceAll('\r', ''));
  return status;
}

function expectStatus(status, fails) {
  if ((status === 0) === !fails) return;
  say(
    colour(
      'red',
      `\nThe demo expected this to ${fails ? 'be refused' : 'succeed'}. It stops here. Look at ${folder}`,
    ),
  );
  process.exit(1);
}

/** A command whose answer is for the demo itself. */
function quietly(words) {
  return spawnSync(process.execPath, [cli, ...words], { cwd: folder, encoding: 'utf8' }).stdout;
}

/** The id and the hash of what was proposed last. */
function lastIntent() {
  const intent = JSON.parse(quietly(['list', '--json'])).result.intents.at(-1);
  return [intent.intent_id, intent.hash];
}

const secret = interactive ? 'your passphrase' : passphrase;
const key = ['Passphrase', secret];

say(
  colour('bold', 'Keyturn: an agent proposes, a human turns the key, it runs once, and anyone can prove it.'),
);
say(`Everything happens in ${folder}`);
if (!sandboxed)
  say(colour('red', 'bubblewrap is not installed here, so the tools of this demo run WITHOUT a sandbox.'));

mkdirSync(join(folder, 'data'));
mkdirSync(join(folder, 'backups'));
writeFileSync(join(folder, 'data/report.txt'), 'Quarterly numbers, not backed up yet.\n');
writeFileSync(join(folder, 'show.sh'), '#!/bin/sh\ncat "$1"\n', { mode: 0o755 });
writeFileSync(join(folder, 'tools.yaml'), registry);
mkdirSync(join(folder, 'schemas'));
writeFileSync(
  join(folder, 'schemas/customer.json'),
  '{\n  "type": "object",\n  "properties": {\n    "id": { "type": "integer" }\n  }\n}\n',
);
writeFileSync(join(folder, 'plan.json'), JSON.stringify(plan, null, 2));

title(1, 'You make a project', 'It gets a store, and you get a key that only your passphrase opens.');
await ask(
  ['init', '--name', 'you'],
  [
    ['New passphrase', interactive ? 'a passphrase of your choice' : secret],
    ['again', secret],
  ],
);
run(['tool', 'lock']);

title(2, 'You let an agent propose', 'An agent has a name and no key. It can ask, and nothing else.');
await ask(['identity', 'add', 'bot', '--agent'], [key]);

title(
  3,
  'The agent proposes a tool call',
  'The hash covers argv, the bytes of the executable, the sandbox: the effect, not the words.',
);
run([
  'propose',
  '--by',
  'bot',
  '--tool',
  'backup',
  '--arg',
  'file=data/report.txt',
  '--goal',
  'Keep a copy of the report',
]);
const [id, hash] = lastIntent();

title(4, 'The agent cannot run it', 'Nobody has approved it.');
run(['check', id, hash], { fails: true });

title(
  5,
  'You look at the exact effect and turn the key',
  'Approving means typing the exact id, and your passphrase.',
);
await ask(['approve', id], [['exact id', id], key]);
run(['check', id, hash], { fails: true });

title(
  6,
  'You grant a capability',
  'Policies decide. It is good for one run of this effect, for two minutes, and can be taken back.',
);
await ask(['grant', id, '--ttl', '2m'], [key]);
run(['check', id, hash]);

title(7, 'It runs, once', 'You say y at the terminal. No flag and no variable can say it for you.');
await ask(['run', id, hash], [['(y/n)', 'y']]);
say(`\n   backups/report.txt now says: ${readFileSync(join(folder, 'backups/report.txt'), 'utf8').trim()}`);
await ask(['run', id, hash], [], { fails: true });

title(8, 'The agent smuggles', 'A path that leads out, and an option dressed as a file name.');
run(['propose', '--by', 'bot', '--tool', 'backup', '--arg', 'file=../../etc/passwd', '--goal', 'Back up'], {
  fails: true,
});
run(
  [
    'propose',
    '--by',
    'bot',
    '--tool',
    'backup',
    '--arg',
    'file=--target-directory=/etc',
    '--goal',
    'Back up',
  ],
  { fails: true },
);

title(
  9,
  'The agent swaps the tool after your approval',
  'You approved one script. Another one must not run.',
);
run([
  'propose',
  '--by',
  'bot',
  '--tool',
  'show',
  '--arg',
  'file=data/report.txt',
  '--goal',
  'Show me the report',
]);
const [second, second_hash] = lastIntent();
await ask(['approve', second], [['exact id', second], key]);
await ask(['grant', second], [key]);
chmodSync(join(folder, 'show.sh'), 0o755);
writeFileSync(join(folder, 'show.sh'), '#!/bin/sh\necho stolen\n');
say('\n   … the agent overwrites show.sh …');
await ask(['run', second, second_hash], [], { fails: true });

title(
  10,
  'A policy says no',
  'You forbid what touches secrets. From now on nobody, you included, can approve it.',
);
appendFileSync(join(folder, 'policies/keyturn.cedar'), forbidden);
say(`\n   policies/keyturn.cedar now also says:\n${forbidden}`);
run(['policy', 'diff']);
await ask(['policy', 'activate', '--reason', 'Secrets stay where they are'], [key]);
run([
  'propose',
  '--by',
  'bot',
  '--tool',
  'show',
  '--arg',
  'file=data/report.txt',
  '--goal',
  'Print the secret',
]);
const [refused] = lastIntent();
await ask(['approve', refused], [['exact id', refused], key], { fails: true });

title(
  11,
  'You freeze everything',
  'Nothing runs until a human says so, whatever was approved and granted before.',
);
await ask(['freeze', '--reason', 'Something is odd'], [key]);
run(['status']);
await ask(['unfreeze', '--reason', 'It was nothing'], [key]);

title(
  12,
  'The agent edits a file, and you undo it',
  'A plan is many changes, or none. You approve the diff; the backup is made before the first byte changes.',
);
run(['plan', 'preview', 'plan.json']);
run(['propose', '--by', 'bot', '--plan', 'plan.json', '--goal', 'Give every customer an e-mail address']);
const [third] = lastIntent();
await ask(['turn', third], [['(y/n)', 'y'], key]);
say(`\n   schemas/customer.json now says:\n${readFileSync(join(folder, 'schemas/customer.json'), 'utf8')}`);
const execution = JSON.parse(quietly(['show', third, '--json'])).result.intent.runs.at(-1).execution_id;
await ask(['rollback', execution, '--reason', 'We have no consent for that'], [key]);
say(`\n   schemas/customer.json is back:\n${readFileSync(join(folder, 'schemas/customer.json'), 'utf8')}`);

title(
  13,
  'Anyone can prove what happened',
  'The ledger verifies from its bytes; a small file proves one intent to somebody far away.',
);
run(['ledger', 'verify', '--deep']);
run(['show', id]);
run(['replay', JSON.parse(quietly(['show', id, '--json'])).result.intent.runs.at(-1).execution_id]);
writeFileSync(join(folder, 'head.txt'), run(['ledger', 'head']));
const proof = spawnSync(process.execPath, [cli, 'ledger', 'prove', id], { cwd: folder });
prompt(['ledger', 'prove', id, '>', 'proof.json']);
writeFileSync(join(folder, 'proof.json'), proof.stdout);
run([
  'ledger',
  'verify',
  '--bundle',
  'proof.json',
  '--key',
  JSON.parse(quietly(['ledger', 'head', '--json'])).result.key,
]);

say(
  `\n${colour('bold', 'That was the journey.')} Next: read README.md, or look around in ${interactive ? folder : 'a project of your own'}.`,
);
if (!interactive) rmSync(folder, { recursive: true, force: true });
