import { expect, it } from 'vitest';
import { arrayOf, arraysOf, type ElementType } from '../../src/store/postgres/array.ts';
import { postgres } from './postgres-place.ts';

const at = postgres();

const COLUMNS: readonly [ElementType, readonly unknown[]][] = [
  ['text', []],
  ['text', ['']],
  ['text', ['a', null, 'NULL', '{"a":"b\\n"}', "'", '\\', ',', '{}', 'ü € 😀', 'x'.repeat(100_000), null]],
  ['bigint', [0, 1, 255, 2 ** 31, 2 ** 32 + 5, Number.MAX_SAFE_INTEGER, -1, Number.MIN_SAFE_INTEGER, null]],
  ['bigint', []],
  ['bytea', [new Uint8Array(), Uint8Array.of(0, 255, 92, 34, 0), Buffer.from('text'), null]],
  ['bytea', []],
];

it('an array reaches the server as it is, whatever is in it', async () => {
  await at().place();
  for (const [type, values] of COLUMNS) {
    const text = `SELECT v FROM unnest($1::${type}[]) WITH ORDINALITY AS found (v, place) ORDER BY place`;
    const rows = await at().sql(text, [arrayOf(type, values)]);
    const found = rows.map(({ v }) => (type === 'bigint' && v !== null ? Number(v) : v));
    expect(found, type).toEqual(
      values.map((value) => (value instanceof Uint8Array ? Buffer.from(value) : value)),
    );
  }
});

it('rows become their columns, and an array of one type is refused as another', async () => {
  await at().place();
  const rows = [
    ['a', 1],
    ['b', null],
  ];
  const text = 'SELECT * FROM unnest($1::text[], $2::bigint[]) AS v (name, seq)';
  expect(await at().sql(text, arraysOf(['text', 'bigint'], rows))).toEqual([
    { name: 'a', seq: '1' },
    { name: 'b', seq: null },
  ]);
  await expect(at().sql('SELECT $1::bigint[]', [arrayOf('text', ['1'])])).rejects.toThrow(/element type/);
});
