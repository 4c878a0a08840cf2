import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline/promises';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';

export const CLI = fileURLToPath(new URL('../dist/cli.cjs', import.meta.url));

/** You answer the command yourself. Returns its exit status. */
export function atYourTerminal(cwd, words) {
  return new Promise((done) => {
    spawn(process.execPath, [CLI, ...words], { cwd, stdio: 'inherit' }).on('close', done);
  });
}

/** The command gets a real pseudo-terminal, and each answer when its question is there. Returns its exit status. */
export async function inYourPlace(cwd, words, turns) {
  const { spawn: spawnInTerminal } = await import('@lydell/node-pty');
  const options = { name: 'xterm', cols: 120, rows: 50, cwd, env: { ...process.env, NO_COLOR: '1' } };
  const terminal = spawnInTerminal(process.execPath, [CLI, ...words], options);
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

/** One line that you type. Closed again at once: the next command needs the terminal for itself. */
export async function yourWords(question, suggested) {
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  // Ctrl-C and Ctrl-D end the demo.
  const leave = () => process.exit(130);
  lines.once('close', leave);
  const words = (await lines.question(question)).trim();
  lines.off('close', leave);
  lines.close();
  return words || suggested;
}
