/** A secret that a child has, and the name that takes its place wherever the child prints it. */
export interface Redacted {
  readonly name: string;
  readonly value: string;
}

/** How symbols are written, before anything is escaped. */
interface Writing {
  /** All bytes that mean the same symbol. */
  readonly bytesOf: (symbol: number) => readonly number[];
  /** What may stand between two symbols: line ends of those who wrap, and what indents the lines. */
  readonly breaks: readonly number[];
}

/** One form of a secret that is looked for, symbol by symbol. */
export interface SecretForm extends Writing {
  readonly mark: Buffer;
  readonly symbols: Uint8Array;
}

const codesOf = (text: string) => [...Buffer.from(text)];
const [SPACE, PLUS, SLASH, DASH, LINE] = codesOf(' +/-_') as [number, number, number, number, number];
/** From here on a digit is a small letter, and so far before it is its capital. */
const LETTERS = 0x61;
const CAPITALS = 0x20;
const BREAKS = codesOf('\r\n\t ');

/** A form of a page writes a space as +. */
const TEXT: Writing = { bytesOf: (symbol) => (symbol === SPACE ? [SPACE, PLUS] : [symbol]), breaks: [] };

const BASE64: Writing = {
  bytesOf: (symbol) => [symbol, ...(symbol === PLUS ? [DASH] : symbol === SLASH ? [LINE] : [])],
  breaks: BREAKS,
};

/** In capitals too, and as dumps put something between the bytes. */
const HEX: Writing = {
  bytesOf: (symbol) => (symbol >= LETTERS ? [symbol, symbol - CAPITALS] : [symbol]),
  breaks: [...BREAKS, ...codesOf(':')],
};

/** Every form of a secret: its bytes, those in base64 wherever they begin, and in hexadecimal. Escapes are read where they stand. */
export function formsOf({ name, value }: Redacted): SecretForm[] {
  const mark = Buffer.from(`[secret ${name}]`);
  const bytes = Buffer.from(value);
  const base64 = [0, 1, 2].map((before) => ({ ...BASE64, mark, symbols: base64Form(bytes, before) }));
  return [
    { ...TEXT, mark, symbols: bytes },
    ...base64,
    { ...HEX, mark, symbols: Buffer.from(bytes.toString('hex')) },
  ];
}

/** The characters of base64 that the secret alone decides, after so many other bytes. Those at its ends hold bits of the bytes beside it. */
function base64Form(value: Buffer, before: number): Buffer {
  const bytes = Buffer.concat([Buffer.alloc(before), value]);
  const text = bytes.toString('base64');
  const whole = Math.floor((bytes.length * 8) / 6);
  return Buffer.from(text.slice(Math.ceil((before * 8) / 6), whole));
}
