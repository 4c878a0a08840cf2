import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { accepted, mcpProject, SERVERS, turned } from '../mcp-call/servers.ts';
import type { Project } from '../support/project.ts';
import { type Era, enrolled, gate, idOf, textOf } from './stage.ts';

const FILES = { fs: { script: SERVERS.filesystem, args: ['{files}'] } };
const LONG = { timeout: 90_000 };

async function gated(): Promise<Project & { readonly files: string }> {
  const p = await mcpProject(FILES);
  await accepted(p.keyturn, 'fs', p.ada);
  await enrolled(p);
  return p;
}

const grant = (p: Project, over: object = {}) =>
  p.keyturn.agents.delegate({
    delegate: 'scout',
    actions: ['mcp:fs:write_file'],
    ttl_s: 1800,
    approves: true,
    grant: { uses: 10 },
    reason: 'small files',
    signer: p.ada,
    ...over,
  });

for (const era of ['legacy', '2026-07-28'] as const satisfies readonly Era[])
  describe(`a client that speaks ${era}`, () => {
    it(
      'sees every tool, is told that a call waits, and gets the result once a human turned the key',
      LONG,
      async () => {
        const p = await gated();
        const { client } = await gate(p, { era });
        const { tools } = await client.listTools();
        const names = tools.map(({ name }) => name);
        expect(names).toEqual(
          expect.arrayContaining(['say', 'fs__write_file', 'keyturn_wait', 'keyturn_plan']),
        );
        const path = join(p.files, 'a.txt');
        const call = { name: 'fs__write_file', arguments: { path, content: 'hello' } };
        const first = await client.callTool(call);
        expect(first.isError).toBe(true);
        expect(textOf(first)).toContain('NOT RUN yet');
        expect(existsSync(path)).toBe(false);
        // The same call while it waits is the same intent.
        const id = idOf(first);
        expect(idOf(await client.callTool(call))).toBe(id);
        await turned(p, id);
        expect(readFileSync(path, 'utf8')).toBe('hello');
        const waited = await client.callTool({ name: 'keyturn_wait', arguments: { id } });
        expect(waited.isError ?? false).toBe(false);
        expect(textOf(waited)).toContain('Successfully wrote');
      },
    );

    it('reads why a human rejected a call', LONG, async () => {
      const p = await gated();
      const { client } = await gate(p, { era });
      const call = { name: 'say', arguments: { word: 'boo' } };
      const id = idOf(await client.callTool(call));
      const { hash } = await p.keyturn.intents.get({ intent_id: id });
      await p.keyturn.intents.reject({ intent_id: id, hash, reason: 'too rude', signer: p.ada });
      const told = await client.callTool({ name: 'keyturn_wait', arguments: { id } });
      expect(told.isError).toBe(true);
      expect(textOf(told)).toContain('too rude');
      // A rejected call that is asked for again is a new one: a human decides again.
      expect(idOf(await client.callTool(call))).not.toBe(id);
    });
  });

describe('a grant', () => {
  it('lets calls run at once, counted, within its limits, and no further', LONG, async () => {
    const p = await gated();
    const properties = {
      path: { type: 'string', pattern: `^${p.files}/` },
      content: { type: 'string', maxLength: 8 },
    };
    const { delegation_id } = await grant(p, {
      grant: { uses: 2, arguments: { type: 'object', properties, required: ['path', 'content'] } },
    });
    const { client } = await gate(p);
    const write = (name: string, content: string, more: object = {}) =>
      client.callTool({ name: 'fs__write_file', arguments: { path: join(p.files, name), content, ...more } });
    expect(textOf(await write('a.txt', 'one'))).toContain('Successfully wrote');
    expect(textOf(await write('b.txt', 'far too long'))).toContain('NOT RUN yet');
    expect(textOf(await write('c.txt', 'one', { mode: 7 }))).toContain('NOT RUN yet');
    expect(textOf(await write('d.txt', 'two'))).toContain('Successfully wrote');
    expect(textOf(await write('e.txt', 'three'))).toContain('NOT RUN yet');
    expect(['a', 'b', 'c', 'd', 'e'].filter((one) => existsSync(join(p.files, `${one}.txt`)))).toEqual([
      'a',
      'd',
    ]);
    const uses = (await p.keyturn.ledger.entries({ kind: 'intent.delegated' } as never)).entries;
    expect(uses.length).toBe(2);
    expect(JSON.stringify(uses)).toContain(delegation_id);
    expect((await p.keyturn.ledger.verify({ deep: true })).size).toBeGreaterThan(10);
    expect((await p.keyturn.ledger.rebuild({ write: false })).differences).toEqual([]);
  });

  it('is not for a caller without a key', LONG, async () => {
    const p = await gated();
    await grant(p);
    await p.keyturn.people.enrol({ name: 'mute', principal: 'agent', public_key: null, signer: p.ada });
    const { client } = await gate(p, { as: 'mute' });
    const path = join(p.files, 'a.txt');
    const told = await client.callTool({ name: 'fs__write_file', arguments: { path, content: 'x' } });
    expect(textOf(told)).toContain('NOT RUN yet');
  });

  it('runs an identical call again once its answer was read, and many at once each once', LONG, async () => {
    const p = await gated();
    await grant(p, { grant: { uses: 100 } });
    const { client } = await gate(p, { hold_ms: 20_000 });
    const call = (n: number) =>
      client.callTool({
        name: 'fs__write_file',
        arguments: { path: join(p.files, `${n}.txt`), content: String(n) },
      });
    const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => call(n)));
    expect(answers.filter(({ isError }) => isError)).toEqual([]);
    await call(1);
    const claims = (await p.keyturn.ledger.entries({ kind: 'execution.claimed', limit: 100 } as never))
      .entries;
    expect(claims.length).toBe(21);
  });
});
