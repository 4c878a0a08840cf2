import { mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { config } from '../../src/cli/command/mcp-config.ts';
import { enrolled } from '../mcp/stage.ts';
import { project, TOOLS } from '../support/project.ts';

async function scene() {
  const p = await project(TOOLS);
  await enrolled(p);
  const asked = async (options: object = {}, name = 'scout') =>
    (await config({ command: 'mcp config', operands: [name], options: { project: p.root, ...options } }))
      .lines;
  return { ...p, asked, key: join(p.root, '.keyturn', 'agents', 'scout.key') };
}

describe('mcp config of an agent that is enrolled', () => {
  it('says when its key file is not there: its calls would be unverified, and no grant would apply', async () => {
    const { asked, key } = await scene();
    expect((await asked()).join('\n')).not.toContain('WARNING');
    renameSync(key, `${key}.away`);
    const [first, warning] = await asked();
    expect(first).toBe('scout is enrolled already.');
    expect(warning).toContain(`WARNING: its key file ${key} is not there`);
    expect(warning).toContain('unverified, and no grant applies');
  });

  it('names a key file that is elsewhere to the gate', async () => {
    const { asked, key, root } = await scene();
    expect((await asked()).join('\n')).not.toContain('--agent-key');
    mkdirSync(join(root, 'keys'));
    const elsewhere = join(root, 'keys', 'scout.key');
    renameSync(key, elsewhere);
    const lines = (await asked({ agentKey: elsewhere })).join('\n');
    expect(lines).toContain(
      `args = ["${process.argv[1]}","mcp","--project","${root}","--as","scout","--agent-key","${elsewhere}"]`,
    );
    expect(lines).not.toContain('WARNING');
  });

  it('says that an agent is revoked', async () => {
    const { asked, keyturn, ada } = await scene();
    await keyturn.people.revoke({ name: 'scout', reason: 'gone', signer: ada });
    expect((await asked()).slice(0, 2)).toEqual([
      'scout is enrolled already.',
      expect.stringContaining('WARNING: scout is revoked'),
    ]);
  });
});
