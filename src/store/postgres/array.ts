/** What the elements of an array may be, with the number that the server has for each. */
const NUMBERS = { text: 25, bigint: 20, bytea: 17 } as const;

export type ElementType = keyof typeof NUMBERS;

const HEADER = 20;
const EMPTY = 12;

/** Rows as one array for each of their columns. */
export function arraysOf(types: readonly ElementType[], rows: readonly (readonly unknown[])[]): Buffer[] {
  return types.map((type, i) => {
    const values = rows.map((row) => row[i]);
    return arrayOf(type, values);
  });
}

/**
 * One array for one parameter, in the binary form of the protocol. In the form of a text each quote of a state and each byte of
 * an object is escaped here and read back there, which costs both sides more than the rows themselves.
 */
export function arrayOf(type: ElementType, values: readonly unknown[]): Buffer {
  if (values.length === 0) return header(Buffer.alloc(EMPTY), type, 0);
  let bytes = HEADER;
  for (const value of values) bytes += 4 + lengthOf(value);
  const array = header(Buffer.allocUnsafe(bytes), type, 1);
  array.writeInt32BE(values.length, 12);
  array.writeInt32BE(1, 16); // arrays of the server begin at 1
  let at = HEADER;
  for (const value of values) at = put(array, value, at);
  return array;
}

function header(array: Buffer, type: ElementType, dimensions: 0 | 1): Buffer {
  array.writeInt32BE(dimensions, 0);
  // Whether there are nulls: the server looks for itself.
  array.writeInt32BE(0, 4);
  array.writeInt32BE(NUMBERS[type], 8);
  return array;
}

function lengthOf(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value);
  if (typeof value === 'number') return 8;
  return value instanceof Uint8Array ? value.length : 0;
}

const NULL = -1;

function put(array: Buffer, value: unknown, at: number): number {
  const from = at + 4;
  if (value === null) {
    array.writeInt32BE(NULL, at);
    return from;
  }
  const length = lengthOf(value);
  array.writeInt32BE(length, at);
  if (typeof value === 'string') array.write(value, from);
  else if (typeof value === 'number') array.writeBigInt64BE(BigInt(value), from);
  else array.set(value as Uint8Array, from);
  return from + length;
}
