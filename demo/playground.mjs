/** `npm start`: a project to play with. The service and the agent are real, and the human is you. */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { proposeAll, RULE, tellOutcomes } from './proposals.mjs';
import { CLI } from './terminal.mjs';

const ROOT = dirname(dirname(CLI));
const CLIENT = new URL('../dist/client.js', import.meta.url);
const HUMAN = 'you';
const AGENT = 'bot';
const say = (text = '') => console.log(text);

/** Resolves to an exit code, once the service has stopped. */
export async function play(folder, options) {
  const place = { project: join(folder, 'project'), token: join(folder, `${AGENT}.token`) };
  if (!isWhole(place) && !makeIn(place)) return 1;
  const service = serveIn(place.project, options);
  const link = await service.listening;
  if (link === null) return service.ended;
  const { createClient } = await import(CLIENT.href);
  const token = readFileSync(place.token, 'utf8').trim();
  const { intents } = createClient({ address: new URL(link).origin, token });
  try {
    say(`\n${AGENT} proposes over HTTP, with its token:`);
    const waiting = await proposeAll(intents, say);
    sayNext(place, link);
    tellOutcomes(intents, waiting, say);
  } catch (error) {
    console.error(`${error.code ?? 'Error'}: ${error.message}`);
    service.stop();
    await service.ended;
    return 1;
  }
  return service.ended;
}

const isWhole = ({ project, token }) => existsSync(join(project, '.keyturn')) && existsSync(token);

/** Founds the project and enrols the agent, or goes on where that broke off. Says why where it cannot. */
function makeIn({ project, token }) {
  if (!process.stdin.isTTY || !process.stdout.isTTY) {
    console.error(
      'npm start needs a terminal the first time: you choose a passphrase, and nothing else can.',
    );
    return false;
  }
  if (!existsSync(join(project, '.keyturn'))) {
    mkdirSync(join(project, 'policies'), { recursive: true });
    writeFileSync(join(project, 'policies/playground.cedar'), RULE);
    writeFileSync(join(project, 'notes.md'), '# Notes\n\nNothing yet.\n');
    say(`A project to play with, in ${project}. Choose a passphrase: it is how you say yes.`);
    if (answerOf(project, ['init', '--name', HUMAN]) === null) return false;
  }
  say(`\nAn agent, ${AGENT}, gets a token to propose with. Your passphrase says that it may.`);
  const { principals } = answerOf(project, ['identity', 'list']).result;
  const words = principals.some(({ name }) => name === AGENT)
    ? ['token', 'add', AGENT, '--reason', 'npm start']
    : ['identity', 'add', AGENT, '--agent', '--token'];
  const answer = answerOf(project, words);
  if (answer === null) return false;
  // Beside the project, where no tool of it looks.
  const { token: made } = answer.here;
  writeFileSync(token, `${made.token ?? made}\n`, { mode: 0o600 });
  return true;
}

/** Questions are asked at the terminal, and what came of it is for this program. Says why where it is refused: then null. */
function answerOf(project, words) {
  const options = { stdio: ['inherit', 'pipe', 'inherit'], encoding: 'utf8' };
  const { status, stdout } = spawnSync(
    process.execPath,
    [CLI, ...words, '--project', project, '--json'],
    options,
  );
  const answer = JSON.parse(stdout);
  if (status === 0) return answer;
  console.error(`[ERROR] ${answer.message} (${answer.code}) ${answer.advice}`);
  return null;
}

/** npm passes each signal on that the terminal has sent to all: two within this time are one. */
const ONE_SIGNAL_MS = 500;

/** `keyturn serve`, in a session of its own: what stops it comes from here, once. */
function serveIn(project, options) {
  const child = spawn(process.execPath, [CLI, 'serve', '--project', project, ...options], {
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  let stopped_at = Number.NEGATIVE_INFINITY;
  const stop = () => {
    if (performance.now() - stopped_at < ONE_SIGNAL_MS) return;
    stopped_at = performance.now();
    child.kill('SIGTERM');
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, stop);
  const ended = new Promise((done) => child.on('close', (code) => done(code ?? 1)));
  const listening = new Promise((done) => {
    let said = '';
    let link;
    child.stdout.on('data', (chunk) => {
      if (link) process.stdout.write(chunk);
      said += chunk;
      [, link] = /(\S+#link=\S+)\n/.exec(said) ?? [];
      if (link) done(link);
    });
    ended.then(() => done(null));
  });
  return { listening, ended, stop };
}

function sayNext({ project }, link) {
  const shown = (path) => (path.startsWith(`${ROOT}/`) ? relative(ROOT, path) : path);
  // As they can be typed: a clone has no `keyturn` on its PATH.
  const command = (words) => say(`  node ${shown(CLI)} ${words} --project ${shown(project)}`);
  say(`\nOpen within 5 minutes, once: ${link}`);
  say('  It shows the queue with what the agent asks for. To decide there you need a passkey, once:');
  command('credential add --passkey --label browser --reason "Decide in the browser"');
  say('\nOr decide in another terminal, in this folder, as often as something waits:');
  command('turn');
  say('\nThis takes back the line in notes.md, once it is there:');
  command('rollback --last --reason "Try the rollback"');
  say('\nCtrl-C stops the service. npm start goes on with the same project.');
}
