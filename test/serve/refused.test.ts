import { expect, it } from 'vitest';
import { limits } from '../../src/limits.ts';
import { authority } from '../journey/authority.ts';
import { logged, logIn, readLog } from '../support/telemetry.ts';
import { call, callRaw, serving, session, withToken } from './service.ts';
import { signatureOf } from './signed.ts';

const LOG = 'ops.log';
const LIST = '/v1/intents/list';

/** A service with a log at level info, and what its log says of refusals. */
async function logging() {
  const p = await authority();
  const { token } = await withToken(p, 'bot');
  logIn(p.root, `{ level: info, file: ${LOG} }`);
  const s = { ...p, token, token_id: '', ...(await serving(p)) };
  const refused = () => logged(p.root, LOG).filter(({ msg }) => msg === 'refused');
  return { s, token, refused };
}

it('each refusal of the service is one line of the log, with its code and where, and nothing that the caller sent', async () => {
  const { s, token, refused } = await logging();
  const cookie = await session(s);
  const [, spent = ''] = s.link.split('#link=');
  const replayed = { headers: signatureOf(s, s.ada as never, { path: LIST }) };
  await call(s, LIST, undefined, replayed);
  const expected = [
    [() => call(s, LIST), LIST, 'CALLER_UNPROVEN'],
    [() => call(s, LIST, undefined, { token: 'xyzzy' }), LIST, 'TOKEN_INVALID'],
    [() => call(s, LIST, undefined, replayed), LIST, 'MESSAGE_REPLAYED'],
    [() => call(s, LIST, 'xyzzy', { token }), LIST, 'JSON_MALFORMED'],
    [() => call(s, LIST, { xyzzy: 1 }, { token }), LIST, 'SHAPE_INVALID'],
    [
      () => call(s, LIST, {}, { token, headers: { origin: 'https://xyzzy.example' } }),
      LIST,
      'ORIGIN_FOREIGN',
    ],
    [() => call(s, '/v1/session', { link: spent }), '/v1/session', 'LINK_SPENT'],
    [() => call(s, '/v1/tools/pass', {}, { cookie }), '/v1/tools/pass', 'SESSION_READS'],
    [() => call(s, '/v1/intents/get', { intent_id: 'xyzzy' }, { token }), '/v1/intents/get', 'ID_MALFORMED'],
    [() => call(s, '/mcp', {}, {}), '/mcp', 'CALLER_UNPROVEN'],
    [() => call(s, '/v1/xyzzy', {}, { token }), '/v1/serve', 'ROUTE_UNKNOWN'],
    [() => callRaw(s, LIST, { host: 'xyzzy.example' }), LIST, 'HOST_UNKNOWN'],
  ] as const;
  for (const [ask, path, code] of expected) {
    const before = refused().length;
    await ask();
    const entry_point = path.replace(/^\/(v1\/)?/, '').replace('/', '.');
    expect(refused().slice(before), path).toMatchObject([{ level: 'warn', entry_point, code }]);
  }
  for (const word of ['xyzzy', token, spent, s.root]) expect(readLog(s.root, LOG)).not.toContain(word);
  expect(readLog(s.root, LOG)).not.toMatch(/\b(ada|bot)\b/);
});

it('callers that have proven nothing cannot fill the disk with lines, nor hide another refusal', async () => {
  const { s, token, refused } = await logging();
  const most = limits.refused_lines_minute;
  for (let i = 0; i < most + 50; i += 1) await call(s, LIST);
  await call(s, LIST, 'xyzzy', { token });
  const codes = refused().map(({ code }) => code);
  expect(codes.filter((code) => code === 'CALLER_UNPROVEN')).toHaveLength(most);
  expect(codes.at(-1)).toBe('JSON_MALFORMED');
});
