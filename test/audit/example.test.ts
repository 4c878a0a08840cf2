import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { authority, proposeSay, yes } from '../journey/authority.ts';
import { exported } from '../support/ledger.ts';
import { runSeen } from '../support/seen.ts';

const ROOT = resolve(import.meta.dirname, '../..');

it('the example of docs/audit.md tells the story of a verified intent, and the reason of a refusal', async () => {
  const p = await authority();
  const intent = await proposeSay(p);
  await p.keyturn.intents.turn({ ...intent, signer: p.ada });
  await runSeen(p.keyturn, { ...intent, confirm: yes });
  const { key: fingerprint, size, origin } = await p.keyturn.ledger.head();
  const path = join(p.root, 'export.jsonl');
  const text = await exported(p.keyturn, { with_objects: true });
  writeFileSync(path, text);
  const [, example] = /```js\n([\s\S]*?)```/.exec(readFileSync(join(ROOT, 'docs/audit.md'), 'utf8'))!;
  // In the root of the project, where `keyturn/audit` is the package itself.
  const args = ['--input-type=module', '-e', example!, 'example', path, fingerprint, intent.intent_id];
  const run = () => spawnSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8' });
  const { stdout, stderr } = run();
  expect(stderr).toBe('');
  expect(stdout).toContain(`${size} entries of ${origin} hold. ada founded it.`);
  expect(stdout).toMatch(/Z ada approved.*\n/);
  writeFileSync(path, text.subarray(0, -1));
  expect(run().stdout).toMatch(/^EXPORT_MALFORMED /);
});
