import { canonicalBytes } from '../../src/canonical/json.ts';
import { digestOf, FLAGS, ORIGIN, sha256Of, type Touch, touched, url } from './authenticator.ts';

/** Changes of what an authenticator signs. An attacker who has an authenticator of their own can have each of them signed. */

/** Numbers below `most`, always the same for one seed. */
export type Choose = (most: number) => number;

export function chooser(seed: number): Choose {
  let state = (seed + 1) * 0x9e3779b1;
  return (most) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % most;
  };
}

export const oneOf = <T>(choose: Choose, values: readonly T[]): T => values[choose(values.length)]!;

export const STATEMENTS = ['first', 'second', 'third'].map((subject) =>
  Buffer.from(canonicalBytes({ format: 'keyturn-act/1', kind: 'approval.granted', subject })).toString(),
);
export const FOREIGN = 'an act that was not shown';

/** `bad`: refused also when it is signed again. */
interface Change {
  readonly bad: boolean;
  readonly apply: (touch: Touch, choose: Choose) => Touch;
}

const flags =
  (change: (flags: number) => number) =>
  ({ authenticator_data }: Touch) => {
    const bytes = Buffer.from(authenticator_data);
    bytes[32] = change(bytes[32]!);
    return bytes;
  };
const onData = (bad: boolean, change: (touch: Touch, choose: Choose) => Buffer): Change => ({
  bad,
  apply: (touch, choose) => ({ ...touch, authenticator_data: change(touch, choose) }),
});
const onClient = (bad: boolean, change: (text: string, choose: Choose) => string | Buffer): Change => ({
  bad,
  apply: (touch, choose) => {
    const changed = change(touch.client_data.toString(), choose);
    return { ...touch, client_data: typeof changed === 'string' ? Buffer.from(changed) : changed };
  },
});
/** Members of the client data. */
const saying = (bad: boolean, member: string, ...values: readonly unknown[]): Change =>
  onClient(bad, (text, choose) => JSON.stringify({ ...JSON.parse(text), [member]: oneOf(choose, values) }));

export function flipped(bytes: Uint8Array, choose: Choose): Buffer {
  const other = Buffer.from(bytes);
  other[choose(other.length)]! ^= 1 << choose(8);
  return other;
}
export const cut = (bytes: Uint8Array, choose: Choose) =>
  Buffer.from(bytes.subarray(0, choose(bytes.length)));
const CBOR = Buffer.from('a16a6372656450726f7465637402', 'hex');

export const SIGNED: Readonly<Record<string, Change>> = {
  'data: no touch': onData(
    true,
    flags((bits) => bits & ~FLAGS.UP),
  ),
  'data: nobody verified': onData(
    true,
    flags((bits) => bits & ~FLAGS.UV),
  ),
  'data: BE changed': onData(
    true,
    flags((bits) => (bits & FLAGS.BE ? bits & ~0x18 : bits | FLAGS.BE)),
  ),
  'data: synced and cannot be': onData(
    true,
    flags((bits) => (bits & ~FLAGS.BE) | FLAGS.BS),
  ),
  'data: holds a credential': onData(
    true,
    flags((bits) => bits | FLAGS.AT),
  ),
  'data: extensions announced': onData(
    true,
    flags((bits) => bits | FLAGS.ED),
  ),
  'data: bytes behind': onData(true, ({ authenticator_data }) => Buffer.concat([authenticator_data, CBOR])),
  'data: extensions': onData(false, (touch) =>
    Buffer.concat([flags((bits) => bits | FLAGS.ED)(touch), CBOR]),
  ),
  'data: extensions that are not CBOR': onData(false, (touch) =>
    Buffer.concat([flags((bits) => bits | FLAGS.ED)(touch), Buffer.from('ff00', 'hex')]),
  ),
  'data: cut': onData(true, ({ authenticator_data }, choose) => cut(authenticator_data, choose)),
  'data: another host': onData(true, ({ authenticator_data }, choose) =>
    Buffer.concat([
      sha256Of(oneOf(choose, ['localhost', 'example', 'evil.example', ''])),
      authenticator_data.subarray(32),
    ]),
  ),
  'data: a bit of the host': onData(true, ({ authenticator_data }, choose) =>
    Buffer.concat([flipped(authenticator_data.subarray(0, 32), choose), authenticator_data.subarray(32)]),
  ),
  'data: counter': onData(false, ({ authenticator_data }, choose) => {
    const bytes = Buffer.from(authenticator_data);
    bytes.writeUInt32BE(oneOf(choose, [0, 1, 5, 6, 8, 2 ** 32 - 1]), 33);
    return bytes;
  }),
  'data: reserved flags': onData(
    false,
    flags((bits) => bits | 0x22),
  ),
  'client: type': saying(
    true,
    'type',
    'webauthn.create',
    'payment.get',
    '',
    null,
    ['webauthn.get'],
    undefined,
  ),
  'client: origin': saying(
    true,
    'origin',
    'https://evil.example',
    `${ORIGIN}/`,
    ORIGIN.replace('8443', '8444'),
    ORIGIN.replace('https', 'http'),
    `${ORIGIN}\u0000`,
    null,
    [ORIGIN],
    undefined,
  ),
  'client: challenge': saying(
    true,
    'challenge',
    url(sha256Of(FOREIGN)),
    url(sha256Of(STATEMENTS[0]!)).slice(1),
    '',
    null,
    undefined,
  ),
  'client: frame': saying(true, 'crossOrigin', true, 'true', 'false', 1, 0, null, {}),
  'client: outer page': saying(true, 'topOrigin', ORIGIN, 'https://evil.example', null, ''),
  'client: framed by an outer page': onClient(true, (text) =>
    JSON.stringify({ ...JSON.parse(text), crossOrigin: true, topOrigin: 'https://evil.example' }),
  ),
  'client: unknown member': saying(false, 'other_keys_can_be_added_here', 'x', 1, null, { a: [] }),
  'client: token binding': saying(
    false,
    'tokenBinding',
    { status: 'nonsense' },
    { status: 'supported' },
    'x',
  ),
  'client: no word of frames': saying(false, 'crossOrigin', undefined),
  'client: written again': onClient(false, (text) => JSON.stringify(JSON.parse(text), null, 1)),
  'client: members in another order': onClient(false, (text) =>
    JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(text)).reverse())),
  ),
  'client: member twice': onClient(true, (text, choose) => {
    const member = oneOf(choose, ['type', 'challenge', 'origin', 'crossOrigin', '\\u006frigin']);
    return text.replace('{', `{"${member}":"https://evil.example",`);
  }),
  'client: byte order mark': onClient(true, (text) => `\ufeff${text}`),
  'client: not UTF-8': onClient(true, (text) =>
    Buffer.concat([Buffer.from(`${text.slice(0, -1)},"x":"`), Buffer.of(0xc0, 0xaf), Buffer.from('"}')]),
  ),
  'client: lone surrogate': onClient(true, (text) => text.replace('{', '{"x":"\\ud800",')),
  'client: list': onClient(true, (text) => `[${text}]`),
  'client: bytes behind': onClient(true, (text, choose) => text + oneOf(choose, ['\0', '{}', 'x', ','])),
  'client: cut': onClient(true, (text, choose) => cut(Buffer.from(text), choose)),
  'client: longer than 4 KiB': onClient(true, (text) => text.padEnd(4097)),
  'touch: a list without the act': {
    bad: true,
    apply: (touch) =>
      touched(touch.statement, { ...wishOf(touch), touch: [digestOf(FOREIGN), digestOf('b')] }, FOREIGN),
  },
};

/** What a second touch with the same flags would ask for. */
function wishOf({ authenticator_data }: Touch) {
  return { flags: authenticator_data[32]!, counter: authenticator_data.readUInt32BE(33) };
}
