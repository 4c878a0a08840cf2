import fc from 'fast-check';
import { expect, it } from 'vitest';
import { TextSet } from '../../src/canonical/text-set.ts';

it('a set of texts knows those that were added, however many, and no others', () => {
  fc.assert(
    fc.property(fc.array(fc.string()), fc.array(fc.string()), (added, asked) => {
      const [found, expected] = [new TextSet(), new Set(added)];
      for (const text of added) found.add(text);
      expect(found.size).toBe(expected.size);
      for (const text of [...added, ...asked]) expect(found.has(text)).toBe(expected.has(text));
    }),
  );
});

it('a set of texts grows past its first table', () => {
  const found = new TextSet();
  for (let n = 0; n < 20_000; n++) found.add(`claim:${n}`);
  for (let n = 0; n < 20_000; n += 7) found.add(`claim:${n}`);
  expect(found.size).toBe(20_000);
  for (let n = 0; n < 20_000; n++) if (!found.has(`claim:${n}`)) expect.fail(`claim:${n} was lost`);
  for (let n = 20_000; n < 40_000; n++) if (found.has(`claim:${n}`)) expect.fail(`claim:${n} was invented`);
});
