import { describe, expect, it } from 'vitest';
import { hasInexactNumber, memberText } from '../../src/canonical/scan.ts';

describe('the text of a member', () => {
  it.each([
    ['{"a":1,"result": {"n": 12345678901234567890} }', '{"n": 12345678901234567890}'],
    ['{"result":[1,{"result":2}],"b":"},"}', '[1,{"result":2}]'],
    ['{"r\\u0065sult":"a,b}"}', '"a,b}"'],
    ['{"result":1,"result":2}', '2'],
    ['{"a":"result","b":{"result":1}}', null],
    ['{ "result" : null }', 'null'],
    ['{}', null],
  ])('%s is as it was written', (text, found) => {
    expect(memberText(text, 'result')).toBe(found);
    const parsed = (JSON.parse(text) as { result?: unknown }).result;
    expect(found === null ? undefined : JSON.parse(found)).toEqual(parsed);
  });
});

describe('a number that another program wrote', () => {
  it.each([
    '12345678901234567890',
    '-9007199254740993',
    '1e400',
    '0.12345678901234567890123',
    '[1,{"a":1e-400}]',
  ])('%s is another one once it was parsed', (text) => expect(hasInexactNumber(text)).toBe(true));

  it.each([
    ...['0', '-0', '0.0', '1.50', '100', '1E2', '1e21', '123e-20', '9007199254740992', '0.30000000000000004'],
    ...['5e-324', '1.7976931348623157e308', '12345678901234567000', '"12345678901234567890"'],
    '{"12345678901234567890":"\\"12345678901234567890"}',
  ])('%s is the same', (text) => expect(hasInexactNumber(text)).toBe(false));
});
