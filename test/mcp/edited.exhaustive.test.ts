import { describe, expect, it } from 'vitest';
import { writeServers } from '../mcp-call/servers.ts';
import { writeRegistry } from '../support/project.ts';
import { type Heard, piped } from './piped.ts';
import { heardFrom, posted } from './posted.ts';
import { STATELESS_META } from './stage.ts';

const LONG = { timeout: 120_000 };
const SOON = { timeout: 30_000 };
const PASS = { pass: ['resources', 'prompts', 'logging'] };
const LISTS = ['tools', 'prompts', 'resources'].map((what) => `notifications/${what}/list_changed`);
const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged';
const SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId';

const listening = (id: string, notifications: object) => ({
  id,
  method: 'subscriptions/listen',
  params: { notifications, _meta: STATELESS_META },
});

const methodsIn = (heard: readonly Heard[]) => heard.flatMap(({ method }) => method ?? []);

describe('a client is told that what the gate offers changed, when somebody edited a file', () => {
  const TOOLS_CHANGED = LISTS[0]!;
  const note = (summary: string) =>
    JSON.stringify({
      version: 1,
      tools: [{ name: 'note', summary, executable: '/bin/true', sandbox: {}, undo: 'exact' }],
    });

  it(
    'over standard input, unasked with a handshake: tools.yaml, then keyturn.yaml, each once',
    LONG,
    async () => {
      const { p, send, answer, answers } = await piped(PASS);
      send(1, 'tools/list', {});
      await answer(1);
      writeRegistry(p.root, note('First words.'));
      await expect.poll(() => methodsIn(answers), SOON).toEqual([TOOLS_CHANGED]);
      writeServers(p.root, {}, p.files);
      await expect.poll(() => methodsIn(answers).length, SOON).toBe(4);
      expect(methodsIn(answers).slice(1).sort()).toEqual([...LISTS].sort());
      // What it was told of is what it gets: nothing else is told until something else changes.
      send(2, 'tools/list', {});
      expect((await answer(2)).result.tools.map(({ name }: { name: string }) => name)).toContain('note');
      writeRegistry(p.root, note('Other words.'));
      await expect.poll(() => methodsIn(answers).slice(4), SOON).toEqual([TOOLS_CHANGED]);
    },
  );

  it('over standard input, where it listens, without one; and nothing else', LONG, async () => {
    const { p, raw, answers } = await piped();
    raw(JSON.stringify({ jsonrpc: '2.0', ...listening('a', { promptsListChanged: true }) }));
    raw(JSON.stringify({ jsonrpc: '2.0', ...listening('b', { toolsListChanged: true }) }));
    await expect.poll(() => methodsIn(answers), SOON).toEqual([ACKNOWLEDGED, ACKNOWLEDGED]);
    writeRegistry(p.root, note('Words.'));
    await expect.poll(() => methodsIn(answers).slice(2), SOON).toEqual([TOOLS_CHANGED]);
    expect(answers.at(-1)!.params._meta[SUBSCRIPTION]).toBe('b');
  });

  it('over HTTP, on the stream of a session, also of a file that cannot be read any more', LONG, async () => {
    const { p, stream, session } = await posted();
    const heard = heardFrom(await stream({ headers: await session() }));
    writeRegistry(p.root, note('Words.'));
    await expect.poll(() => methodsIn(heard), SOON).toEqual([TOOLS_CHANGED]);
    writeRegistry(p.root, 'no registry');
    await expect.poll(() => methodsIn(heard).length, SOON).toBe(4);
  });

  it('over HTTP, where it listens', LONG, async () => {
    const { p, send } = await posted();
    const heard = heardFrom(await send(listening('a', { toolsListChanged: true })));
    await expect.poll(() => methodsIn(heard), SOON).toEqual([ACKNOWLEDGED]);
    writeRegistry(p.root, note('Words.'));
    await expect.poll(() => methodsIn(heard), SOON).toEqual([ACKNOWLEDGED, TOOLS_CHANGED]);
  });
});
