import { approval, execution, HASH, ID, type Line, OTHER_ID, TIME } from './lane.ts';

const whole = JSON.stringify(approval(OTHER_ID));
const inside = whole.slice(1, -1);

/** Lines that no queue file may hold. */
const ANYWHERE: readonly [what: string, line: Line][] = [
  ['a blank that JSON does not know', '\u00a0'],
  ['not JSON', 'hello'],
  ['half an object', whole.slice(0, -1)],
  ['two objects', `${whole}${whole}`],
  ['an object and a word', `${whole} x`],
  ['an array', `[${whole}]`],
  ['null', 'null'],
  ['a string', JSON.stringify(whole)],
  ['an empty object', '{}'],
  ['a byte order mark', `\ufeff${whole}`],
  ['a trailing comma', `{${inside},}`],
  ['single quotes', whole.replaceAll('"', "'")],
  ['a comment', `${whole} // ok`],
  ['a NUL byte', `${whole.slice(0, -1)}\0}`],
  ['the same key twice', `{${inside},"id":"${ID}"}`],
  ['the same key twice, equal', `{"id":"${OTHER_ID}",${inside}}`],
  ['the same key twice, once escaped', `{${inside},"\\u0069d":"${ID}"}`],
  ['the same further key twice', `{${inside},"a":1,"a":2}`],
  ['the same key twice, deep', `{${inside},"a":{"b":1,"b":1}}`],
  ['no id', { timestamp: TIME, hash: HASH }],
  ['an id that is a number', { ...approval(), id: 7 }],
  ['an id that is not a UUID', { ...approval(), id: 'x' }],
  ['an id in upper case', approval(OTHER_ID.toUpperCase())],
  ['an id in braces', approval(`{${OTHER_ID}}`)],
  ['no timestamp', { id: OTHER_ID, hash: HASH }],
  ['a timestamp that is a number', { ...approval(OTHER_ID), timestamp: 1 }],
  ['a timestamp that is null', { ...approval(OTHER_ID), timestamp: null }],
  ['a timestamp that is no time', approval(OTHER_ID, HASH, 'yesterday')],
  ['a timestamp that is a date only', approval(OTHER_ID, HASH, '2026-01-15')],
  ['a timestamp in month 13', approval(OTHER_ID, HASH, '2026-13-15T12:00:00Z')],
  ['a timestamp with more behind it', approval(OTHER_ID, HASH, `${TIME}\u001b[2J`)],
  ['a hash that is a number', { ...approval(OTHER_ID), hash: 7 }],
  ['a hash that is null', { ...approval(OTHER_ID), hash: null }],
  ['a short hash', approval(OTHER_ID, HASH.slice(1))],
  ['a hash in upper case', approval(OTHER_ID, HASH.toUpperCase())],
  ['a lone surrogate', `{${inside},"a":"\\ud800"}`],
  ['an escaped NUL', `{${inside},"a":"\\u0000"}`],
  ['an integer that cannot be held', `{${inside},"a":9007199254740993}`],
  ['nesting 10,000 deep', `{${inside},"a":${'['.repeat(10_000)}${']'.repeat(10_000)}}`],
  ['a string of 10 MB', `{${inside},"a":"${'x'.repeat(10_000_000)}"}`],
  ['fields of the prototype', `{"__proto__":${whole}}`],
];

export const MALFORMED_INTENT: readonly [what: string, line: Line][] = [
  ...ANYWHERE,
  ['no hash', { id: OTHER_ID, timestamp: TIME }],
  ['a record of a run', execution(OTHER_ID)],
];

export const MALFORMED_EXECUTED: readonly [what: string, line: Line][] = [
  ...ANYWHERE,
  ['no tool', { ...execution(OTHER_ID), tool: undefined }],
  ['a tool without a name', { ...execution(OTHER_ID), tool: '' }],
  ['a tool that is a number', { ...execution(OTHER_ID), tool: 1 }],
  ['no exit code', { ...execution(OTHER_ID), exit_code: undefined }],
  ['an exit code that is a string', { ...execution(OTHER_ID), exit_code: '0' }],
  ['an exit code that is a fraction', { ...execution(OTHER_ID), exit_code: 0.5 }],
  ['an exit code with a leading zero', JSON.stringify(execution(OTHER_ID)).replace(':0,', ':01,')],
  ['no outcome', { ...execution(OTHER_ID), outcome: undefined }],
  ['an unheard outcome', execution(OTHER_ID, 'maybe')],
  ['an outcome that is true', { ...execution(OTHER_ID), outcome: true }],
  ['a hash, and a tool that is a number', { ...approval(OTHER_ID), tool: 1 }],
  ['a hash, and an unheard outcome', { ...approval(OTHER_ID), outcome: 'maybe' }],
];
