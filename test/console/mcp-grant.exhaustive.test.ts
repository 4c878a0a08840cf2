import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { accepted, SERVERS, writeServers } from '../mcp-call/servers.ts';
import { freshSigner } from '../support/keys.ts';
import { open } from './screens.ts';
import { type Person, type Stage, stageOfFile } from './stage.ts';

const TIME = 100_000;
let stage: Stage;
let ada: Person;
const bot = freshSigner('keyed-bot');

stageOfFile(async (opened, person) => {
  [stage, ada] = [opened, person];
  const { public_key } = bot;
  await stage.keyturn.people.enrol({ name: 'keyed-bot', principal: 'agent', public_key, signer: stage.ada });
});

describe('a grant from the console', () => {
  it('lets a tool of an MCP server be called with the paths beneath a folder', {
    timeout: TIME,
  }, async () => {
    const { page } = ada;
    const files = join(stage.root, 'notes');
    mkdirSync(files, { mode: 0o777 });
    writeServers(stage.root, { files: { script: SERVERS.filesystem, args: ['{files}'] } }, files);
    await accepted(stage.keyturn, 'files', stage.ada);
    await open(page, '/health');
    await open(page, '/grants');
    await page.selectOption('.grant select >> nth=1', 'mcp:files:read_text_file');
    await page.selectOption('[aria-label="Limit of path"]', 'beneath');
    await page.fill('[aria-label="Value of path"]', '..');
    expect(await page.$('text=Grant this…')).toBeNull();
    await page.fill('[aria-label="Value of path"]', `${files}/`);
    await page.click('text=Grant this…');
    await page.keyboard.type('It may read the notes.');
    await page.keyboard.press('Enter');
    await page.waitForSelector('text=Granted.');
    writeFileSync(join(files, 'a.md'), 'a note');
    const read = (path: string) =>
      stage.keyturn.mcp.call({
        signer: bot,
        declared_goal: 'Read a note.',
        effect: { kind: 'mcp', server: 'files', tool: 'read_text_file', arguments: { path } },
      });
    expect((await read(join(files, 'a.md'))).how).toBe('granted');
    for (const path of [`${files}/../keyturn.yaml`, '/etc/passwd', `${files}x/a.md`])
      expect((await read(path)).refused).toBe('GRANT_OUTSIDE');
  });
});
