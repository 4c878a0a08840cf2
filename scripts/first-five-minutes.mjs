/**
 * Writes docs/measured/first-five-minutes.txt: a new user's first commands in a real terminal, from `npm install` to the first turned key. The
 * package is packed from this tree, because what is recorded is what the next release does.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { register } from 'tsx/esm/api';
import { build } from './build.mjs';
import { root } from './setup.mjs';

register();
const { inShell } = await import('../test/support/shell.ts');

// Every user of the machine may enter it: where this is root, tools run as another user.
process.umask(0);
const home = mkdtempSync(join(tmpdir(), 'ada-'));
execFileSync('chmod', ['755', home]);
const work = join(home, 'work');
mkdirSync(work);
if (!process.argv.includes('--as-built')) await build({ types: false });
const pack = ['pack', '--ignore-scripts', '--json', '--pack-destination', work];
const [{ filename }] = JSON.parse(execFileSync('npm', pack, { cwd: root, encoding: 'utf8' }));
// How this machine reaches the registry is its own business.
const { PATH, HOME, ...own } = process.env;
const env = {
  ...own,
  PATH: `${home}/npm/bin:${PATH}`,
  npm_config_prefix: `${home}/npm`,
  npm_config_userconfig: `${HOME}/.npmrc`,
  npm_config_cache: `${HOME}/.npm`,
  npm_config_prefer_offline: 'true',
  NO_COLOR: '1',
};

const COMMANDS = [
  `npm install -g ./${filename}`,
  'keyturn init --name ada',
  'keyturn propose --tool greet --arg name=Grace --goal "Say hello"',
  'keyturn turn',
];

let text = '';
const from = performance.now();
for (const command of COMMANDS) {
  const { code, text: said } = await inShell(command, { cwd: work, env, columns: 100 });
  text += `$ ${command}\n${said.trimEnd()}\n\n`;
  if (code !== 0) throw new Error(text);
}
text += `${COMMANDS.length} commands, ${Math.ceil((performance.now() - from) / 1000)} seconds, of which the typing took none.\n`;
const plain = text
  .replaceAll(home, '/home/ada')
  .replace(/[\u2800-\u28ff]/g, '')
  .replace(/^npm warn Unknown .*\n/gm, '');
writeFileSync(join(root, 'docs/measured/first-five-minutes.txt'), plain);
rmSync(home, { recursive: true, force: true });
