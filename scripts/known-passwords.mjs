/**
 * Makes src/identity/known-passwords.ts: the list of common passwords of zxcvbn-ts, fetched by `npm pack` at one version and
 * compared with the digest below. It is not a dependency: what is committed is all that is needed.
 */

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { root } from './setup.mjs';

const PACKAGE = '@zxcvbn-ts/language-common@4.1.3';
const LIST_SHA256 = 'f422773d94d630f27e08b26d7017e847bb1feb2a84809340e9c0b0c47b33e3f1';
/** A shorter word costs as many guesses as its letters do. */
const LETTERS_MIN = 4;

/** Passphrases that are printed as examples everywhere, and absent from the list. */
const EXAMPLES = ['correct horse battery staple', 'correcthorsebatterystaple'];

const folder = mkdtempSync(join(tmpdir(), 'keyturn-list-'));
try {
  const [{ filename }] = JSON.parse(
    execFileSync('npm', ['pack', PACKAGE, '--json', '--pack-destination', folder], {
      stdio: ['ignore', 'pipe', 'inherit'],
    }),
  );
  const words = wordsIn(join(folder, filename.replace(/^@/, '').replace('/', '-')));
  const compressed = brotliCompressSync(words.join('\n')).toString('base64');
  writeFileSync(join(root, 'src/identity/known-passwords.ts'), moduleOf(words.length, compressed));
  console.log(`${words.length} words`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function wordsIn(archive) {
  execFileSync('tar', ['-xzf', archive, '-C', folder, 'package/src/passwords.json']);
  const text = readFileSync(join(folder, 'package/src/passwords.json'));
  const found = createHash('sha256').update(text).digest('hex');
  if (found !== LIST_SHA256) throw new Error(`the list is another one: ${found}`);
  const long = JSON.parse(text).filter((word) => word.length >= LETTERS_MIN);
  return [...new Set([...long, ...EXAMPLES])].sort();
}

function moduleOf(count, compressed) {
  return `/**
 * ${count} common passwords in lower case, one a line: Brotli, base64. Made by scripts/known-passwords.mjs from
 * ${PACKAGE} (MIT), and not edited by hand.
 */
export const KNOWN_PASSWORDS =
  '${compressed}';
`;
}
