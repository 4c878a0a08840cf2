import { resolve } from 'node:path';
import { expect, it } from 'vitest';

const SCRIPT: string = resolve(import.meta.dirname, '../scripts/pack.mjs');

it('README that is packed has whole addresses: on the page of a registry there are no files beside it', async () => {
  const { withAddresses } = await import(SCRIPT);
  const page =
    '![p](docs/p.png) [a](docs/a.md#part) [b](docs/policies) [c](#c) [d](https://d.example/e) [f](mailto:f@g)';
  const at = 'https://unpkg.com/keyturn@1.2.3/docs';
  expect(withAddresses(page, '1.2.3', (path: string) => path === 'docs/policies')).toBe(
    `![p](${at}/p.png) [a](${at}/a.md#part) [b](${at}/policies/) [c](#c) [d](https://d.example/e) [f](mailto:f@g)`,
  );
});
