import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { mcpLimits } from '../../src/limits.ts';
import { EVERYTHING, tellChanges, WatchedResources } from '../../src/mcp/notices.ts';
import type { Hear } from '../../src/mcp/progress.ts';
import { piped } from './piped.ts';
import { posted } from './posted.ts';

const LONG = { timeout: 90_000 };
const SOON = { timeout: 20_000 };
const PASS = { pass: ['resources', 'prompts', 'logging'] };
const NOBODY = { link: async () => null, hold_ms: 0, holders: new Map<string, number>() };

const logOf = ({ files }: { files: string }) =>
  existsSync(join(files, 'log')) ? readFileSync(join(files, 'log'), 'utf8').trim().split('\n') : [];

describe('a server that says much', () => {
  it(
    'has its notices left out above a limit where they come faster than they are looked at',
    LONG,
    async () => {
      const { p, send, answer } = await piped(PASS);
      send(1, 'tools/list', {});
      await answer(1);
      let say: Parameters<Hear>[0] = () => {};
      const hear: Hear = (tell) => {
        say = tell;
        return () => {};
      };
      const face = p.keyturn.as({ name: 'bot' });
      const caller = { ...{ name: 'bot', signer: null, face, ask: null, hear }, ...NOBODY };
      const told: unknown[] = [];
      const { signal } = new AbortController();
      await tellChanges(caller, { ...EVERYTHING, uris: new Set<string>() }, (one) => told.push(one), signal);
      const flood = () => {
        for (let n = 0; n < 3 * mcpLimits.unread; n += 1)
          say('odd', { method: 'notifications/message', params: { n } });
      };
      flood();
      await expect.poll(() => told.length, SOON).toBe(mcpLimits.unread);
      flood();
      await expect.poll(() => told.length, SOON).toBe(2 * mcpLimits.unread);
    },
  );
});

describe('a caller beside others', () => {
  it(
    'is told of an intent only once it could read it: of one of another caller at no time',
    LONG,
    async () => {
      const { p, post, waiting } = await posted();
      const call = { name: 'odd__act', arguments: { how: 'x' }, task: { ttl: 1000 } };
      await post({ id: 2, method: 'tools/call', params: call });
      const uri = `keyturn://intent/${(await waiting())[0]}`;
      const watched = new WatchedResources();
      const by = (name: string) => ({
        name,
        signer: null,
        face: p.keyturn.as({ name }),
        ask: null,
        ...NOBODY,
      });
      const adding = watched.add(by('spy'), uri);
      expect(watched.has(uri)).toBe(false);
      await expect(adding).rejects.toThrow();
      expect(watched.has(uri)).toBe(false);
      await watched.add(by('bot'), uri);
      expect(watched.has(uri)).toBe(true);
    },
  );

  it('watches a resource of a server through the gate alone, which counts who does', LONG, async () => {
    const { p, address, bot } = await posted(PASS);
    const ask = (more: object) =>
      fetch(`${address}/v1/mcp/ask`, {
        method: 'POST',
        headers: { authorization: `Bearer ${bot.token}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          server: 'odd',
          method: 'resources/read',
          params: { uri: 'test://a' },
          ...more,
        }),
      });
    for (const more of [
      { method: 'resources/subscribe' },
      { method: 'resources/unsubscribe' },
      { watch: 'begin' },
      { watch: 'end' },
    ]) {
      const answer = await ask(more);
      expect([answer.status, (await answer.json()).code]).toEqual([400, 'SHAPE_INVALID']);
    }
    expect(logOf(p)).toEqual([]);
  });

  it('keeps what it watches, however many sessions another caller names', LONG, async () => {
    const { p, post, session, spy } = await posted(PASS);
    const watch = (headers: Record<string, string>, token?: string) =>
      post(
        { id: 3, method: 'resources/subscribe', params: { uri: 'odd+test://a' } },
        { headers, ...(token && { token }) },
      );
    await watch(await session());
    for (let n = 0; n <= mcpLimits.sessions; n += 1)
      await post(
        { id: 1, method: 'ping', params: {} },
        { headers: { 'mcp-session-id': `${n}` }, token: spy.token },
      );
    await watch({ 'mcp-session-id': 'last' }, spy.token);
    expect(logOf(p)).toEqual(['resources/subscribe test://a']);
  });
});
