import { attenuate } from '../../src/capability/attenuate.ts';
import { type KeyLookup, openCapability } from '../../src/capability/verify.ts';
import { Refusal } from '../../src/refusal.ts';
import { ann, bob, CLAIMS, cyd, forged, held, minted, NOTHING, NOW, retired, stranger } from './sample.ts';

/** A small generator of numbers (mulberry32): the same seed gives the same attack. */
class Dice {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  /** From 0 to below `sides`. */
  roll(sides: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 2 ** 32) * sides);
  }

  pick<T>(items: ArrayLike<T>): T {
    return items[this.roll(items.length)]!;
  }
}

/** Capabilities as they are issued and passed on, with and without holders. */
async function genuine(): Promise<string[]> {
  const root = await held(ann);
  const one = attenuate(root, ann, { scope: NOTHING, holder: bob.public_key }, NOW);
  const two = attenuate(one, bob, { conditions: { host: 'host-1' }, holder: cyd.public_key }, NOW);
  const bearers = [1, 2, 3, 4].map((attempt) => minted({ attempt, action: `tool:${attempt}` }));
  return [root, one, two, ...(await Promise.all(bearers)), minted({ scope: NOTHING, conditions: {} })];
}

type Mutation = (text: string, dice: Dice, others: readonly string[]) => string;

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const ANYTHING = `${ALPHABET}.~=+/ \n\0"{}é`;

const flipBit: Mutation = (text, dice) => {
  const bytes = Buffer.from(text);
  for (let i = 0; i <= dice.roll(2); i++) bytes[dice.roll(bytes.length)]! ^= 1 << dice.roll(8);
  return bytes.toString(dice.pick(['latin1', 'utf8']));
};

const changeLetter: Mutation = (text, dice) => {
  const at = dice.roll(text.length);
  return text.slice(0, at) + dice.pick(ALPHABET) + text.slice(at + 1);
};

const swapLetters: Mutation = (text, dice) => {
  const letters = [...text];
  const [a, b] = [dice.roll(letters.length), dice.roll(letters.length)];
  [letters[a], letters[b]] = [letters[b]!, letters[a]!];
  return letters.join('');
};

const cut: Mutation = (text, dice) => {
  const [from, length] = [dice.roll(text.length), 1 + dice.roll(dice.pick([1, 4, 100, text.length]))];
  return dice.pick([text.slice(0, from), text.slice(from), text.slice(0, from) + text.slice(from + length)]);
};

const insert: Mutation = (text, dice) => {
  const at = dice.roll(text.length + 1);
  const added = dice.pick([dice.pick(ANYTHING), text.slice(at, at + 1 + dice.roll(50)), '~', '.', text]);
  return text.slice(0, at) + added + text.slice(at);
};

const splice: Mutation = (text, dice, others) => {
  const other = dice.pick(others);
  if (dice.roll(2) === 0) {
    const at = dice.roll(Math.min(text.length, other.length));
    return text.slice(0, at) + other.slice(at);
  }
  const [a, b] = [text.split('~'), other.split('~')];
  return [...a.slice(0, dice.roll(a.length + 1)), ...b.slice(dice.roll(b.length + 1))].join('~');
};

/** Changes one block, given its three parts. */
const inBlock =
  (change: (parts: string[], dice: Dice, others: readonly string[]) => string): Mutation =>
  (text, dice, others) => {
    const blocks = text.split('~');
    const at = dice.roll(blocks.length);
    blocks[at] = change(blocks[at]!.split('.'), dice, others);
    return blocks.join('~');
  };

const exchangePart = inBlock((parts, dice, others) => {
  const other = dice.pick(dice.pick(others).split('~')).split('.');
  const at = dice.roll(3);
  return parts.with(at, other[dice.roll(8) === 0 ? dice.roll(3) : at]!).join('.');
});

const flipDecoded = inBlock((parts, dice) => {
  const at = dice.roll(3);
  const bytes = Buffer.from(parts[at]!, 'base64url');
  bytes[dice.roll(bytes.length)]! ^= 1 << dice.roll(8);
  return parts.with(at, bytes.toString('base64url')).join('.');
});

const objectIn = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString());
const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

const HEADERS: readonly object[] = [
  { alg: 'none' },
  { alg: 'HS256' },
  { alg: 'ES256' },
  { typ: 'JWT' },
  { kid: stranger.kid },
  { kid: retired.kid },
  { jwk: stranger.public.export({ format: 'jwk' }) },
  { jku: 'https://attacker.example' },
  { crit: ['b64'], b64: false },
  { cty: 'JWT' },
];

const editHeader = inBlock((parts, dice) => {
  const header = { ...objectIn(parts[0]!), ...dice.pick(HEADERS) };
  return parts.with(0, encoded(header)).join('.');
});

const VALUES: readonly unknown[] = [null, 0, -1, 2 ** 31, 9e9, '', '*', [], {}, true, CLAIMS.intent_id];

function edited(payload: Record<string, unknown>, dice: Dice): Record<string, unknown> {
  const name = dice.pick([...Object.keys(payload), 'admin', 'scope']);
  const details = payload.authorization_details as { scope: object; conditions: object }[];
  const wider = { ...details[0], scope: { ...details[0]!.scope, write: ['/'] }, conditions: {} };
  return dice.pick([
    { ...payload, [name]: dice.pick(VALUES) },
    { ...payload, exp: Number(payload.exp) + 1 + dice.roll(1e6) },
    { ...payload, attempt: dice.roll(1e6) + 10 },
    { ...payload, authorization_details: [wider] },
    Object.fromEntries(Object.entries(payload).filter(([key]) => key !== name)),
  ]);
}

const editPayload = inBlock((parts, dice) => {
  return parts.with(1, encoded(edited(objectIn(parts[1]!), dice))).join('.');
});

/** With the old name of the key or its own, changed or unchanged. */
const signAgain = inBlock((parts, dice) => {
  const header = { ...objectIn(parts[0]!), ...dice.pick([{}, {}, { kid: stranger.kid }]) };
  const payload = objectIn(parts[1]!);
  return forged(header, dice.roll(2) === 0 ? payload : edited(payload, dice), stranger);
});

const MUTATIONS: readonly Mutation[] = [
  flipBit,
  changeLetter,
  swapLetters,
  cut,
  insert,
  splice,
  exchangePart,
  flipDecoded,
  editHeader,
  editPayload,
  signAgain,
];

export interface Attack {
  /** How many tokens were tried that no issuer signed. */
  readonly tried: number;
  /** Those that opened. */
  readonly accepted: readonly string[];
  readonly refusals: Readonly<Record<string, number>>;
}

const AT_ONCE = 64;

/** Mutates genuine capabilities `count` times and opens each. An exception that is not a refusal ends it. */
export async function attack(count: number, seed: number, keys: KeyLookup): Promise<Attack> {
  const dice = new Dice(seed);
  const texts = await genuine();
  // A chain without its last block is the wider one that was there before: genuine, and useless without its holder.
  const issued = new Set(
    texts.flatMap((text) => text.split('~').map((_, i, all) => all.slice(0, i + 1).join('~'))),
  );
  const [accepted, refusals]: [string[], Record<string, number>] = [[], {}];
  const open = async (text: string) => {
    const code = await refusalOf(text, keys);
    if (code === null) accepted.push(text);
    else refusals[code] = (refusals[code] ?? 0) + 1;
  };
  let tried = 0;
  while (tried < count) {
    const batch: string[] = [];
    while (batch.length < Math.min(AT_ONCE, count - tried)) {
      const text = dice.pick(MUTATIONS)(dice.pick(texts), dice, texts);
      if (!issued.has(text)) batch.push(text);
    }
    await Promise.all(batch.map(open));
    tried += batch.length;
  }
  return { tried, accepted, refusals };
}

async function refusalOf(text: string, keys: KeyLookup): Promise<string | null> {
  try {
    openCapability(text, keys);
    return null;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return error.code;
  }
}
