import { describe, expect, it } from 'vitest';
import { troubleOf } from '../../src/console/trouble.ts';

const LOST = 'The service does not answer.';

/** What this throws. */
const thrown = async (work: () => unknown): Promise<unknown> => {
  try {
    await work();
  } catch (error) {
    return error;
  }
  throw new Error('It did not throw.');
};

describe('what went wrong, for a person', () => {
  it('is a service that does not answer where a request failed, in the words of each browser', async () => {
    // Nothing listens at port 1.
    expect(troubleOf(await thrown(() => fetch('http://127.0.0.1:1/'))).words).toBe(LOST);
    for (const message of [
      'Failed to fetch',
      'network error',
      'Failed to fetch dynamically imported module: http://localhost:7717/console/a.js',
      'NetworkError when attempting to fetch resource.',
      'Error in input stream',
      'error loading dynamically imported module: http://localhost:7717/console/a.js',
      'Load failed',
      'Importing a module script failed.',
    ])
      expect(troubleOf(new TypeError(message)).words).toBe(LOST);
  });

  it('is a fault of the page where its own code failed', async () => {
    const nothing = null as unknown as { readonly intents: object };
    for (const work of [() => nothing.intents, () => 'x'.repeat(-1)]) {
      const { words, advice } = troubleOf(await thrown(work));
      expect(words).toMatch(/^This page has a fault: /);
      expect(advice).toContain('may have arrived');
    }
  });
});
