import { describe, expect, it } from 'vitest';
import { schemaOf } from '../../src/console/grant-limits.ts';
import { callTool, type McpCaller } from '../../src/mcp/call.ts';
import { textOf } from '../mcp/stage.ts';
import { accepted, mcpProject, SERVERS, writeServers } from '../mcp-call/servers.ts';
import { expectRefusal } from '../support/refusal.ts';
import { agent } from './authority.ts';

const LONG = { timeout: 60_000 };
const SCHEMA = {
  type: 'object',
  properties: {
    how: { type: 'string', maxLength: 5 },
    deep: { type: 'object', properties: { a: { type: 'integer' } } },
  },
};

async function granted(uses = 3, schema: object = SCHEMA) {
  const p = await mcpProject({ odd: { script: SERVERS.odd } });
  await accepted(p.keyturn, 'odd', p.ada);
  const scout = await agent(p, 'scout');
  const give = (over: object = {}) =>
    p.keyturn.agents.delegate({
      delegate: 'scout',
      actions: ['mcp:odd:act'],
      ttl_s: 600,
      approves: true,
      grant: { uses, arguments: schema },
      reason: 'small',
      signer: p.ada,
      ...over,
    } as never);
  const { delegation_id: delegation } = await give();
  const submit = async (values: object) => {
    const effect = { kind: 'mcp' as const, server: 'odd', tool: 'act', arguments: values };
    const intent = await p.keyturn.intents.propose({
      declared_goal: 'act',
      effect,
      issuer: 'scout',
    } as never);
    return p.keyturn.intents.submit({
      intent_id: intent.intent_id,
      hash: intent.hash,
      signer: scout,
      delegation,
    });
  };
  return { p, scout, give, submit, delegation };
}

describe('a grant', () => {
  it(
    'holds for arguments within its schema, and for no member that the schema does not name',
    LONG,
    async () => {
      const { submit } = await granted();
      await submit({ how: 'a', deep: { a: 1 } });
      await expectRefusal('GRANT_OUTSIDE', () => submit({ how: 'too long' }));
      await expectRefusal('GRANT_OUTSIDE', () => submit({ how: 'a', more: 1 }));
      await expectRefusal('GRANT_OUTSIDE', () => submit({ how: 'a', deep: { a: 1, b: 2 } }));
    },
  );

  it('is closed also where an argument is called like a keyword of JSON Schema', LONG, async () => {
    const inner = { type: 'object', properties: { a: { type: 'integer' } } };
    const names = ['default', 'const', 'enum', 'examples', 'properties', 'not', 'if'];
    const properties = Object.fromEntries(names.map((name) => [name, inner]));
    const { submit } = await granted(9, { type: 'object', properties });
    for (const name of names) {
      await submit({ [name]: { a: 1 } });
      await expectRefusal('GRANT_OUTSIDE', () => submit({ [name]: { a: 1, evil: 2 } }));
    }
  });

  it('holds for the paths beneath a folder, as the console limits them', LONG, async () => {
    const schema = schemaOf(
      { arguments: { how: { type: 'string' } } },
      { how: { kind: 'beneath', text: 'notes' } },
    );
    const { submit } = await granted(9, schema);
    await submit({ how: 'notes/a.md' });
    for (const how of ['notes/../x', 'notes2/a.md', 'other/a.md'])
      await expectRefusal('GRANT_OUTSIDE', () => submit({ how }));
    await expectRefusal('GRANT_OUTSIDE', () => submit({}));
  });

  it(
    'tries its patterns in linear time, and is refused where it needs an engine that goes back',
    LONG,
    async () => {
      const slow = { type: 'object', properties: { how: { type: 'string', pattern: '^(a|aa)+$' } } };
      const { submit, give } = await granted(3, slow);
      await submit({ how: 'aaa' });
      await expectRefusal('GRANT_OUTSIDE', () => submit({ how: `${'a'.repeat(5_000)}b` }));
      const two = (first: string, second: string) => ({
        type: 'object',
        properties: { how: { type: 'string', allOf: [{ pattern: first }, { pattern: second }] } },
      });
      const grant = { uses: 1, arguments: two('^a', '(?=b)') };
      await expectRefusal('GRANT_BOUNDS_MALFORMED', () => give({ grant }));
      // Two patterns are two: none takes the place of the other.
      const { submit: both } = await granted(3, two('^a', 'b$'));
      await both({ how: 'ab' });
      await expectRefusal('GRANT_OUTSIDE', () => both({ how: 'ac' }));
      await expectRefusal('GRANT_OUTSIDE', () => both({ how: 'cb' }));
    },
  );

  it('is needed for a call of a server: a delegation that nothing counts approves none', LONG, async () => {
    const { p, scout, give } = await granted();
    await expectRefusal('GRANT_BOUNDS_MALFORMED', () => give({ grant: undefined, ttl_s: 90 * 86_400 }));
    await expectRefusal('GRANT_BOUNDS_MALFORMED', () =>
      give({ grant: undefined, actions: ['tool:*', 'mcp:*'] }),
    );
    // One that only submits, and one that was signed for whatever there is.
    await give({ grant: undefined, approves: false });
    await p.keyturn.agents.revokeDelegation({
      delegation_id: (await p.keyturn.agents.delegations()).delegations[0]!.delegation_id,
      reason: 'enough',
      signer: p.ada,
    });
    const { delegation_id: delegation } = await give({ grant: undefined, actions: ['*'] });
    const effect = { kind: 'mcp' as const, server: 'odd', tool: 'act', arguments: { how: 'a' } };
    const { intent_id, hash } = await p.keyturn.intents.propose({
      declared_goal: 'act',
      effect,
      issuer: 'scout',
    } as never);
    await expectRefusal('GRANT_OUTSIDE', () =>
      p.keyturn.intents.submit({ intent_id, hash, signer: scout, delegation }),
    );
    const called = { declared_goal: 'act', effect: { ...effect, arguments: { how: 'b' } }, signer: scout };
    expect(await p.keyturn.mcp.call(called as never)).toMatchObject({ how: 'proposed', refused: null });
  });

  it('is refused where its schema says what no grant holds, or leads back to itself', LONG, async () => {
    const { give } = await granted();
    const of = (x: object, more: object = {}) => ({ type: 'object', properties: { x }, ...more });
    const tree = {
      anyOf: [1, 2].map(() => ({ type: 'object', additionalProperties: { $ref: '#/$defs/t' } })),
    };
    const named = { $id: '#/definitions/foo', type: 'object', properties: { x: { type: 'string' } } };
    for (const wrong of [
      of({ type: 'string', format: 'ipv4' }),
      of({ type: 'string', contentEncoding: 'base64' }),
      of({ $ref: '#/$defs/t' }, { $defs: { t: tree } }),
      of({ $ref: '#/definitions/foo' }, { if: named, [`${'th'}en`]: true }),
      of({ type: 'array', uniqueItems: true }),
    ])
      await expectRefusal('GRANT_BOUNDS_MALFORMED', () => give({ grant: { uses: 1, arguments: wrong } }));
  });

  it('compares no more than can be compared in a moment, whatever the agent gives', LONG, async () => {
    const list = { type: 'array', items: { anyOf: Array(50).fill({ type: 'string', minLength: 2 }) } };
    const { submit } = await granted(9, { type: 'object', properties: { list } });
    await submit({ list: Array(100).fill('xx') });
    await expectRefusal('GRANT_OUTSIDE', () => submit({ list: Array(100_000).fill('xx') }));
    const text = { type: 'string', pattern: '[a-z]{1,900}[0-9]$' };
    const { submit: typed } = await granted(9, { type: 'object', properties: { how: text } });
    await typed({ how: 'abc1' });
    await expectRefusal('GRANT_OUTSIDE', () => typed({ how: 'a'.repeat(100_000) }));
  });

  it('holds for so many uses, counted in the transaction', LONG, async () => {
    const { submit, p } = await granted(2);
    const tried = await Promise.allSettled(['a', 'b', 'c', 'd'].map((how) => submit({ how })));
    expect(tried.filter(({ status }) => status === 'fulfilled').length).toBe(2);
    await expectRefusal('GRANT_SPENT', () => submit({ how: 'e' }));
    expect((await p.keyturn.ledger.rebuild({ write: false })).differences).toEqual([]);
  });

  it('ends when the definition of the tool changes', LONG, async () => {
    const { submit, p } = await granted();
    writeServers(p.root, { odd: { script: SERVERS.odd, args: ['odd-names'] } }, p.files);
    await accepted(p.keyturn, 'odd', p.ada);
    await expectRefusal('MCP_TOOL_UNKNOWN', () => submit({ how: 'a' }));
    // The same tool in other words.
    const looked = await p.keyturn.host.lookAtServer('odd');
    const tools = [{ name: 'act', description: 'other words', inputSchema: { type: 'object' } }];
    await p.keyturn.mcp.accept({
      looked: { accepted: { ...looked.accepted, tools }, replaces: looked.replaces },
      reason: 'read',
      signer: p.ada,
    } as never);
    await expectRefusal('GRANT_PIN_CHANGED', () => submit({ how: 'a' }));
  });

  it('is bounded: by a schema that can be held, by a day, and it is not passed on', LONG, async () => {
    const { give, p, scout, delegation } = await granted();
    for (const wrong of [
      { type: 'array' },
      { type: 'object' },
      { type: 'object', properties: {}, madeUp: 1 },
      { type: 'object', properties: {}, $async: true },
      { type: 'object', properties: { a: { $ref: 'http://json-schema.org/draft-07/schema#' } } },
    ])
      await expectRefusal('GRANT_BOUNDS_MALFORMED', () => give({ grant: { uses: 1, arguments: wrong } }));
    await expectRefusal('GRANT_BOUNDS_MALFORMED', () => give({ actions: ['mcp:odd:nothing'] }));
    await expectRefusal('TIME_MALFORMED', () => give({ ttl_s: 2 * 86_400 }));
    await agent(p, 'helper');
    await expectRefusal('DELEGATION_WIDENED', () =>
      give({ delegate: 'helper', signer: scout, delegation, grant: undefined, approves: false, ttl_s: 60 }),
    );
  });

  it('and a malformed call of a tool of the gate is an answer that the model reads', LONG, async () => {
    const { p } = await granted();
    const caller: McpCaller = {
      name: 'scout',
      signer: null,
      face: p.keyturn.as({ name: 'scout' }),
      ask: null,
      link: async () => null,
      hold_ms: 0,
      holders: new Map(),
    };
    const { result } = await callTool(
      caller,
      'keyturn_wait',
      { id: 7 },
      { signal: new AbortController().signal },
    );
    expect(textOf(result)).toContain('MCP_MESSAGE_MALFORMED');
  });
});
