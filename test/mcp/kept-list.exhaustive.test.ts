import { describe, expect, it } from 'vitest';
import { Keyturn } from '../../src/keyturn.ts';
import { listTools } from '../../src/mcp/listed.ts';
import { accepted, SERVERS, writeServers } from '../mcp-call/servers.ts';
import { type Project, writeRegistry } from '../support/project.ts';
import { piped } from './piped.ts';
import { posted } from './posted.ts';
import { STATELESS_META } from './stage.ts';

const LONG = { timeout: 120_000 };

type List = (is_modern: boolean) => Promise<object>;
type P = Project & { readonly files: string };

const paramsOf = (is_modern: boolean) => (is_modern ? { _meta: STATELESS_META } : {});

async function overStdio(): Promise<{ readonly p: P; readonly list: List }> {
  const { p, send, answer } = await piped();
  let last = 0;
  const list: List = async (is_modern) => {
    last += 1;
    send(last, 'tools/list', paramsOf(is_modern));
    return (await answer(last)).result;
  };
  return { p, list };
}

async function overHttp(): Promise<{ readonly p: P; readonly list: List }> {
  const { p, post } = await posted();
  const list: List = async (is_modern) => {
    const message = { id: 1, method: 'tools/list', params: paramsOf(is_modern) };
    return (await post(message)).body.result;
  };
  return { p, list };
}

/** What a process says that has never listed anything. */
async function freshly({ root }: P, is_modern: boolean): Promise<object> {
  const keyturn = await Keyturn.open({ at: root });
  try {
    const { bytes } = await listTools({ face: keyturn, ask: null } as never, is_modern);
    return JSON.parse(Buffer.from(bytes).toString('utf8'));
  } finally {
    await keyturn.close();
  }
}

const ONE_TOOL = (summary: string) =>
  JSON.stringify({
    version: 1,
    tools: [{ name: 'note', summary, executable: '/bin/true', sandbox: {}, undo: 'exact' }],
  });

/** Everything that a list is made of, changed one after the other. */
const CHANGES: readonly (readonly [string, (p: P) => unknown])[] = [
  ['a tool of the registry is changed', ({ root }) => writeRegistry(root, ONE_TOOL('First words.'))],
  ['the same tool is changed again', ({ root }) => writeRegistry(root, ONE_TOOL('Other words.'))],
  [
    'a human accepts another definition',
    async ({ root, files, keyturn, ada }) => {
      writeServers(root, { odd: { script: SERVERS.odd, args: ['two', '{files}/log'] } }, files);
      await accepted(keyturn, 'odd', ada);
    },
  ],
  [
    'a tool passes without an approval',
    async ({ root, files, keyturn, ada }) => {
      const more = { tools: { act: { mode: 'shadow' } } };
      writeServers(root, { odd: { script: SERVERS.odd, args: ['two', '{files}/log'], more } }, files);
      await accepted(keyturn, 'odd', ada);
    },
  ],
  [
    'keyturn.yaml starts the server otherwise',
    ({ root, files }) => writeServers(root, { odd: { script: SERVERS.odd, args: ['plain'] } }, files),
  ],
  [
    'it starts the server as it was accepted again',
    ({ root, files }) => {
      const more = { tools: { act: { mode: 'shadow' } } };
      writeServers(root, { odd: { script: SERVERS.odd, args: ['two', '{files}/log'], more } }, files);
    },
  ],
  [
    'a human removes the server',
    ({ keyturn, ada: signer }) => keyturn.mcp.remove({ server: 'odd', reason: 'no more', signer }),
  ],
];

describe.each([
  ['standard input', overStdio],
  ['/mcp', overHttp],
])('the list of tools over %s', (_door, open) => {
  it('is rendered again whenever something that it is made of has changed', LONG, async () => {
    const { p, list } = await open();
    const both = async () => [await list(false), await list(true)];
    let before = await both();
    expect(await both()).toEqual(before);
    for (const [what, change] of CHANGES) {
      await change(p);
      const now = await both();
      expect(now, what).not.toEqual(before);
      expect(now, what).toEqual([await freshly(p, false), await freshly(p, true)]);
      before = now;
    }
  });
});

describe('a rendered list', () => {
  it('is used again while nothing has changed, for every caller of the process', LONG, async () => {
    const { p } = await piped();
    const caller = (name: string) => ({ face: p.keyturn.as({ name }) }) as never;
    const first = await listTools(caller('bot'), true);
    expect(await listTools(caller('bot'), true)).toBe(first);
    expect(await listTools(caller('ada'), true)).toBe(first);
    expect(await listTools(caller('bot'), false)).not.toBe(first);
    writeRegistry(p.root, ONE_TOOL('Other words.'));
    expect(await listTools(caller('bot'), true)).not.toBe(first);
  });

  it('is not that of another project', LONG, async () => {
    const [one, other] = [await piped(), await piped({}, { mode: 'two' })];
    const [mine, theirs] = await Promise.all(
      [one, other].map(({ p }) => listTools({ face: p.keyturn } as never, true)),
    );
    expect(mine).not.toBe(theirs);
    expect(JSON.parse(Buffer.from(theirs!.bytes).toString('utf8')).tools).toContainEqual(
      expect.objectContaining({ name: 'odd__peek' }),
    );
  });
});
