import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { importFrom } from '../../src/cli/command/mcp-config.ts';
import { project, TOOLS } from '../support/project.ts';
import { expectRefusal } from '../support/refusal.ts';

it('the servers of a client are written into keyturn.yaml and start nothing; another file is refused', async () => {
  const { root, keyturn } = await project(TOOLS);
  const file = join(root, 'client.json');
  const call = { command: 'mcp import', operands: [file], options: { project: root } };
  writeFileSync(file, '{"other": 1}');
  await expectRefusal('MCP_CONFIG_MALFORMED', async () => importFrom(call));
  writeFileSync(
    file,
    JSON.stringify({
      mcpServers: {
        'My Files': { command: 'node', args: ['x.js'] },
        far: { url: 'https://x' },
        gate: { command: 'keyturn', args: ['mcp', '--project', root] },
        local: { command: 'node', args: [join(root, 'node_modules/.bin/keyturn'), 'mcp', '--as', 'scout'] },
      },
    }),
  );
  const { result } = await importFrom(call);
  expect(result).toMatchObject({
    servers: [
      { server: 'my-files', problem: null },
      { server: 'far', problem: null },
      { server: 'gate', problem: expect.stringContaining('the gate itself') },
      { server: 'local', problem: expect.stringContaining('the gate itself') },
    ],
  });
  expect(readFileSync(join(root, 'keyturn.yaml'), 'utf8')).toContain('my-files');
  expect((await keyturn.mcp.servers()).servers).toMatchObject([
    { server: 'far', standing: 'unaccepted' },
    { server: 'my-files', standing: 'unaccepted' },
  ]);
});
