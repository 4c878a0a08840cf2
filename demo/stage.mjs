import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { styleText } from 'node:util';
import { atYourTerminal, CLI, inYourPlace, yourWords } from './terminal.mjs';

const PASSPHRASE = 'quiet river stone lamp';
const IN_YOUR_PLACE = '   (no terminal here: the demo plays the human and types the answers)';

const colour = (style, text) =>
  process.stdout.isTTY && !process.env.NO_COLOR ? styleText(style, text) : text;
const say = (text = '') => console.log(text);
const yourTurn = (turns) =>
  colour('yellow', `   Your turn: ${turns.map(([, answer]) => answer).join(', then ')}`);
const works = (program) => spawnSync(program, ['--version']).status === 0;

/** Where the demo plays: a scratch folder, the command line in it, and a human who is you or the demo in your place. */
export function openStage() {
  const folder = mkdtempSync(join(tmpdir(), 'keyturn-demo-'));
  chmodSync(folder, 0o755);
  const interactive = process.stdin.isTTY && process.stdout.isTTY;
  const sandboxed = works('bwrap') && works('prlimit');
  const secret = interactive ? 'your passphrase' : PASSPHRASE;
  let scenes = 0;

  function title(text, why) {
    scenes += 1;
    say(`\n${colour(['bold', 'cyan'], `${scenes}. ${text}`)}`);
    say(colour('dim', `   ${why}`));
  }

  function prompt(words) {
    const shown = words.map((word) => (/^[\w./=:@-]+$/.test(word) ? word : `'${word}'`)).join(' ');
    say(`\n${colour('green', '$')} keyturn ${shown}`);
  }

  /** A command whose answer is for the demo itself. */
  const quietly = (words) => spawnSync(process.execPath, [CLI, ...words], { cwd: folder, encoding: 'utf8' });

  /** A command that asks no question, shown with what it printed. It may be refused. */
  function attempt(words) {
    prompt(words);
    const done = quietly(words);
    process.stdout.write(done.stdout);
    process.stdout.write(done.stderr);
    return done;
  }

  /** The same where the demo knows the outcome. Returns what it printed. */
  function run(words, { fails = false } = {}) {
    const { status, stdout } = attempt(words);
    expectStatus(status, fails);
    return stdout;
  }

  /** A command that asks the human: you, or the demo in your place. A turn is a question and what is typed. */
  async function ask(words, turns, { fails = false } = {}) {
    prompt(words);
    if (turns.length > 0) say(interactive ? yourTurn(turns) : IN_YOUR_PLACE);
    const status = await (interactive ? atYourTerminal(folder, words) : inYourPlace(folder, words, turns));
    expectStatus(status, fails);
  }

  /** What a user says in a conversation: what you type, or what the demo suggests. */
  async function speak(suggested) {
    if (!interactive) return suggested;
    return yourWords(colour('yellow', `\n   You say (Enter for "${suggested}"): `), suggested);
  }

  function expectStatus(status, fails) {
    if ((status === 0) !== fails) return;
    stop(`The demo expected this to ${fails ? 'be refused' : 'succeed'}.`);
  }

  function stop(why) {
    say(colour('red', `\n${why} It stops here. Look at ${folder}`));
    process.exit(1);
  }

  function write(name, content, options) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content, options);
  }

  return {
    interactive,
    sandboxed,
    /** What opens the human's key, and where it is asked for. */
    secret,
    key: ['Passphrase', secret],
    say,
    title,
    prompt,
    attempt,
    run,
    ask,
    speak,
    stop,
    write,
    path: (name) => join(folder, name),
    read: (name) => readFileSync(join(folder, name), 'utf8'),
    output: (words) => quietly(words).stdout,
    /** The result of a command, as a program gets it. */
    result: (words) => JSON.parse(quietly([...words, '--json']).stdout).result,

    open() {
      say(
        colour(
          'bold',
          'Keyturn: an agent proposes, a human turns the key, it runs once, and the record proves it.',
        ),
      );
      say(`Everything happens in ${folder}`);
      if (!sandboxed)
        say(
          colour('red', 'bubblewrap is not installed here, so the tools of this demo run WITHOUT a sandbox.'),
        );
    },

    close() {
      say(
        `\n${colour('bold', 'That was the journey.')} Next: read README.md, or look around in ${interactive ? folder : 'a project of your own'}.`,
      );
      if (!interactive) rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The id and the hash of what was proposed last. */
export function lastIntent({ result }) {
  const { intent_id, hash } = result(['list']).intents[0];
  return [intent_id, hash];
}

/** What is typed to approve an intent, as its screen shows it, and where it is asked for. */
export function codeOf({ output }, id) {
  const [, code] = /^Code: +(\S{7})/m.exec(output(['show', id]));
  return ['of the code', code];
}

/** The execution that an intent became. */
export function executionOf({ result }, id) {
  return result(['show', id]).intent.runs.at(-1).execution_id;
}
