import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { accepted, mcpProject, SERVERS } from '../mcp-call/servers.ts';
import type { Project } from '../support/project.ts';
import { installSuite, NODE, packageAt } from './conformance/suite.ts';
import { type Era, enrolled, gate, textOf } from './stage.ts';

const LONG = { timeout: 180_000 };
const REFERENCE = {
  fs: { script: SERVERS.filesystem, args: ['{files}'] },
  all: { script: SERVERS.everything, args: ['stdio'] },
  memory: { script: SERVERS.memory, more: { env: { MEMORY_FILE_PATH: '{files}/memory.jsonl' } } },
};

async function gated(
  servers: typeof REFERENCE | Pick<typeof REFERENCE, 'fs'> = REFERENCE,
): Promise<Project & { readonly files: string }> {
  const p = await mcpProject(servers);
  for (const name of Object.keys(servers)) await accepted(p.keyturn, name, p.ada);
  await enrolled(p);
  await p.keyturn.agents.delegate({
    delegate: 'scout',
    actions: Object.keys(servers).map((name) => `mcp:${name}:*`),
    ttl_s: 600,
    approves: true,
    grant: { uses: 100 },
    reason: 'a test',
    signer: p.ada,
  });
  return p;
}

describe('the reference servers behind the gate', () => {
  it.each(['legacy', '2026-07-28'] as const satisfies readonly Era[])(
    'answer a client of the SDK that speaks %s',
    LONG,
    async (era) => {
      const p = await gated();
      const { client } = await gate(p, { era, hold_ms: 20_000 });
      const names = (await client.listTools()).tools.map(({ name }) => name);
      for (const name of ['fs__write_file', 'all__echo', 'memory__create_entities'])
        expect(names).toContain(name);
      const call = (name: string, values: object) =>
        client.callTool({ name, arguments: values as Record<string, unknown> });
      const path = join(p.files, 'a.txt');
      await call('fs__write_file', { path, content: 'one\ntwo\n' });
      await call('fs__edit_file', { path, edits: [{ oldText: 'two', newText: 'three' }] });
      expect(textOf(await call('fs__read_text_file', { path }))).toContain('one\nthree');
      expect(textOf(await call('all__echo', { message: 'hello' }))).toContain('hello');
      expect(textOf(await call('all__get-sum', { a: 2, b: 40 }))).toContain('42');
      const image = await call('all__get-tiny-image', {});
      expect((image.content as { type: string }[]).map(({ type }) => type)).toContain('image');
      const structured = await call('all__get-structured-content', { location: 'Chicago' });
      expect(structured.structuredContent).toMatchObject({ conditions: expect.any(String) });
      const entity = { name: 'Ada', entityType: 'human', observations: ['turns keys'] };
      expect(textOf(await call('memory__create_entities', { entities: [entity] }))).toContain('turns keys');
      const outside = await call('fs__read_text_file', { path: '/etc/passwd' });
      expect(outside.isError).toBe(true);
      const { entries } = await p.keyturn.ledger.entries({ kind: 'execution.finished', limit: 50 } as never);
      expect(entries.length).toBe(9);
    },
  );
});

describe('the command line of the inspector', () => {
  beforeAll(installSuite, 600_000);

  const inspect = async (p: Project, words: readonly string[]) => {
    const config = join(p.root, 'inspector.json');
    const args = [resolve('dist/cli.cjs'), 'mcp', '--project', p.root, '--as', 'scout', '--hold', '1'];
    writeFileSync(config, JSON.stringify({ mcpServers: { gate: { command: process.execPath, args } } }));
    const program = packageAt('@modelcontextprotocol/inspector/clients/launcher/build/index.js');
    const asked = [program, '--cli', '--config', config, '--server', 'gate', '--method', ...words];
    const { stdout } = await promisify(execFile)(NODE, asked, { maxBuffer: 1 << 24 }).catch((error) => error);
    return String(stdout);
  };

  it('lists what the gate offers, calls under a grant, and is told that a call waits', LONG, async () => {
    const p = await gated({ fs: REFERENCE.fs });
    const list = JSON.parse(await inspect(p, ['tools/list']));
    expect(list.tools.map(({ name }: { name: string }) => name)).toContain('fs__list_directory');
    const call = (name: string, ...pairs: string[]) =>
      inspect(p, ['tools/call', '--tool-name', name, ...pairs.flatMap((pair) => ['--tool-arg', pair])]);
    const path = join(p.files, 'a.txt');
    expect(await call('fs__write_file', `path=${path}`, 'content=hello')).toContain('Successfully wrote');
    expect(await call('say', 'word=hello')).toContain('NOT RUN yet');
    expect(JSON.parse(await inspect(p, ['prompts/list'])).prompts.length).toBeGreaterThan(0);
    expect(await inspect(p, ['resources/list'])).toContain('resources');
  });
});
