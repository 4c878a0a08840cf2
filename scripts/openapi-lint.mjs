/**
 * `npm run lint:openapi`: Redocly's rules over what `GET /openapi.json` of a real service answers, with a login and an authorization server,
 * so that all paths are in it. Writes docs/measured/openapi-lint.txt. npx brings the linter, which is no dependency.
 */

import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { register } from 'tsx/esm/api';
import { root } from './setup.mjs';

const LINTER = '@redocly/cli@2.77.0';
const WORDS = ['lint', 'openapi.json', '--extends=recommended', '--format=stylish'];
/** Who logs people and agents in is asked when they come, and here none does. */
const issuer = 'https://issuer.example';

register();
const { Keyturn, makeKey } = await import('../src/keyturn.ts');
const { serve } = await import('../src/serve/serve.ts');

async function documentOf(at) {
  const key = await makeKey('ada', '/', 'correct horse battery');
  const keyturn = await Keyturn.init({ at, key });
  const { token, digest } = Keyturn.makeToken('bot');
  const signer = key.signer;
  await keyturn.people.enrol({ name: 'bot', principal: 'agent', public_key: null, signer });
  await keyturn.agents.addToken({ name: 'bot', digest, reason: 'to read the description', signer });
  const stopped = new AbortController();
  try {
    let served;
    const address = await new Promise((listening, failed) => {
      served = serve(keyturn, {
        ...{ port: 0, most: 0, grace_ms: 100, signal: stopped.signal },
        login: { issuer, client_id: 'keyturn', client_secret: null, claim: 'sub', names: null },
        access: { issuer, claim: 'sub', names: null },
        onListening: (told) => listening(told.address),
      });
      served.catch(failed);
    });
    const answer = await fetch(`${address}/openapi.json`, { headers: { authorization: `Bearer ${token}` } });
    const text = await answer.text();
    if (answer.status !== 200) throw new Error(`/openapi.json answered ${answer.status}: ${text}`);
    stopped.abort();
    await served;
    return text;
  } finally {
    stopped.abort();
    await keyturn.close();
  }
}

const folder = mkdtempSync(join(realpathSync(tmpdir()), 'keyturn-openapi-'));
try {
  const project = join(folder, 'project');
  mkdirSync(project);
  const document = JSON.parse(await documentOf(project));
  // On lines, so that a place can be told.
  writeFileSync(join(folder, 'openapi.json'), JSON.stringify(document, null, 1));
  const env = { ...process.env, NO_COLOR: '1', REDOCLY_TELEMETRY: 'off' };
  const options = { cwd: folder, env, encoding: 'utf8', maxBuffer: 2 ** 26 };
  const { status, stdout, stderr, error } = spawnSync('npx', ['--yes', LINTER, ...WORDS], options);
  if (error) throw error;
  // Before it stand words of npm and advice about Node, and in it how long it took.
  const from = stderr.indexOf('validating ');
  const said = stderr.slice(Math.max(from, 0)).replace(/^.*: validated in .*\n/m, '');
  const head = [
    `npx ${LINTER} ${WORDS.join(' ')}, Node ${process.version}`,
    `over what GET /openapi.json answers with a login and an authorization server: ${Object.keys(document.paths).length} paths`,
    'A login answers 303 and no 2XX, which the rule operation-2xx-response warns of.',
    `exit: ${status}`,
  ];
  const told = `${stdout}\n${said}`.replace(/\n{3,}/g, '\n\n').trim();
  writeFileSync(join(root, 'docs/measured/openapi-lint.txt'), `${head.join('\n')}\n\n${told}\n`);
  console.log(`${status === 0 ? 'passed' : 'FAILED'}, docs/measured/openapi-lint.txt`);
  process.exitCode = status === 0 ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
