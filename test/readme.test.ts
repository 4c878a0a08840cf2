import { expect, it } from 'vitest';
import { source } from './support/source.ts';

/** What a newcomer needs, in that order. What comes after it is for people who stay. */
const ORDER = [
  'Install',
  'Sixty seconds',
  'Your own tools',
  'An agent',
  'Policies',
  'Undo',
  'Proof',
  'Many machines',
];

const { text } = source('README.md');
const [what = '', ...sections] = text.split(/^## /m);

it('README says what Keyturn is, and then has its sections in the order that a newcomer needs', () => {
  expect(what).toMatch(/^# Keyturn\n\n\*\*The gate between AI agents and the world\.\*\* /);
  const headings = sections.map((section) => section.split('\n', 1)[0]);
  expect(headings.slice(0, ORDER.length)).toEqual(ORDER);
});

it('README turns the first key in its sixty seconds', () => {
  const [, sixty = ''] = sections;
  expect(
    sixty
      .match(/^```sh\n(.*?)^```$/ms)?.[1]
      ?.trimEnd()
      .split('\n')
      .at(-1),
  ).toBe('keyturn turn');
});
