import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { prepareRun } from '../../src/tool/run.ts';
import { expectRefusal } from '../support/refusal.ts';
import { scratch } from '../support/scratch.ts';
import { effectOf, script } from '../tool/fixture.ts';

/** Another project, three folders down, whose modes keep nothing from the tool. */
function neighbours(own: string): string {
  const folder = scratch();
  const other = join(folder, 'team/other/project');
  mkdirSync(join(other, own, 'keys'), { recursive: true });
  writeFileSync(join(other, own, 'store.db'), 'secret');
  writeFileSync(join(other, own, 'keys/ledger.seed'), 'secret');
  writeFileSync(join(other, 'readme'), 'open\n');
  return folder;
}

async function output(sandbox: { read?: string[]; write?: string[] }, body: string): Promise<string> {
  const folder = scratch();
  script(folder, body);
  const prepared = prepareRun(effectOf(folder, { executable: 'tool.sh', sandbox }), {
    hidden: [],
    protected: [],
  });
  const { stdout } = await prepared.run();
  prepared.close();
  return Buffer.from(stdout.bytes).toString();
}

describe('S19: the keys of another project beneath a bind', () => {
  it.each(['.keyturn', 'keyturn-backup'])(
    '%s is not readable, and the rest of the project is',
    async (own) => {
      const folder = neighbours(own);
      const body = `cat ${folder}/team/other/project/readme; cat $(find ${folder} -type f) | grep secret; echo end`;
      expect(await output({ read: [folder] }, body)).toBe('open\nend\n');
    },
  );

  it.each([
    ['a folder of a project whose store is on a server', ['ledger.json', 'keys/ledger.seed'], ''],
    ['the keys of a copy, bound by themselves', ['store.db', 'keys/ledger.seed'], '/keys'],
  ])('%s is known by what it holds', async (_, files, bound) => {
    const folder = join(scratch(), 'copy');
    mkdirSync(join(folder, 'keys'), { recursive: true });
    for (const name of files) writeFileSync(join(folder, name), 'secret');
    const read = [`${folder}${bound}`];
    expect(await output({ read }, `cat $(find ${folder} -type f) | grep secret; echo end`)).toBe('end\n');
  });

  it('a folder that cannot be named, and so not searched, is refused', async () => {
    const folder = scratch();
    const unnamed = Buffer.concat([Buffer.from(`${folder}/`), Buffer.from([0xff])]);
    mkdirSync(Buffer.concat([unnamed, Buffer.from('/.keyturn/keys')]), { recursive: true });
    await expectRefusal('FILE_UNREADABLE', () => output({ read: [folder] }, 'echo end'));
  });

  it('it cannot be moved, removed or replaced by a tool that may write around it', async () => {
    const folder = neighbours('.keyturn');
    const project = join(folder, 'team/other/project');
    for (const path of ['team', 'team/other', 'team/other/project', 'team/other/project/.keyturn'])
      chmodSync(join(folder, path), 0o777);
    const body = `cd ${project}; mv .keyturn away; cd ..; mv project away; cd ..; mv other away; cd ${folder}; mv team away
      cat $(find ${folder} -type f) | grep secret; echo end`;
    expect(await output({ write: [folder] }, body)).toBe('end\n');
  });
});
