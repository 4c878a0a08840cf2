import { chmodSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runVerifier } from '../../src/effect/verifier.ts';
import { expectRefusal } from '../support/refusal.ts';
import { scratch } from '../support/scratch.ts';

const ID = 'b2831d73-2708-4f50-944b-7b54f11bfbb4';
const HASH = 'd7'.repeat(32);

function script(body: string, mode = 0o755): string {
  const path = join(scratch(), 'verify.sh');
  writeFileSync(path, body);
  chmodSync(path, mode);
  return path;
}

const ending = (how: string) => script(`#!/bin/sh\n${how}\n`);

describe('runVerifier', () => {
  it('takes exit 0 for yes, whatever the verifier prints', async () => {
    await runVerifier(ending('echo denied; echo error >&2; exit 0'), ID, HASH);
  });

  it('hands over the fixed arguments, the id and the hash', async () => {
    const given = (words: string) => ending(`[ "$#: $*" = '${words}' ] || exit 3`);
    await runVerifier(`${given(`3: --strict ${ID} ${HASH}`)} --strict`, ID, HASH);
    await runVerifier(['sh', given(`3: a b ${ID} ${HASH}`), 'a b'], ID, HASH);
    await expectRefusal('VERIFIER_ERROR', () =>
      runVerifier(`${given(`2: ${ID} ${HASH}`)} --strict`, ID, HASH),
    );
  });

  it('may read and ask, and writes nothing', async () => {
    const folder = scratch();
    writeFileSync(join(folder, 'approved'), 'yes');
    const writes = ['$0', `${folder}/new`, `${folder}/approved`, '/tmp/new', '/proc/sys/kernel/core_pattern']
      .map((path) => `(: >> "${path}") 2>/dev/null && exit 3`)
      .join('\n');
    await runVerifier(ending(`[ "$(cat ${folder}/approved)" = yes ] || exit 4\n${writes}\nexit 0`), ID, HASH);
    expect(readdirSync(folder)).toEqual(['approved']);
  });

  it('takes exit 1 for no', async () => {
    await expectRefusal('VERIFIER_DENIED', () => runVerifier(ending('echo approved; exit 1'), ID, HASH));
  });

  it.each(['exit 2', 'exit 127', 'exit 255', 'kill -KILL $$'])('takes "%s" for neither', async (how) => {
    await expectRefusal('VERIFIER_ERROR', () => runVerifier(ending(how), ID, HASH));
  });

  it('takes silence for neither', async () => {
    await expectRefusal('VERIFIER_ERROR', () => runVerifier(ending('sleep 1000'), ID, HASH, 200));
  });

  it('says when the verifier does not exist', async () => {
    for (const command of [join(scratch(), 'none'), 'keyturn-no-such-verifier', '', []]) {
      await expectRefusal('VERIFIER_NOT_FOUND', () => runVerifier(command, ID, HASH));
    }
  });

  it('says when the verifier cannot be started, and never hands it to a shell', async () => {
    const folder = join(scratch(), 'folder');
    mkdirSync(folder);
    const commands = [
      folder,
      script('#!/bin/sh\nexit 0\n', 0o644),
      script('exit 0\n'),
      script('#!/no/such/interpreter\n'),
    ];
    for (const command of commands) {
      await expectRefusal('VERIFIER_NOT_CALLABLE', () => runVerifier(command, ID, HASH));
    }
  });
});
