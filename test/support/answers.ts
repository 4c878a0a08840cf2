import { isDeepStrictEqual } from 'node:util';
import type { Verb } from '../../src/face/verb.ts';

/** Every answer of a verb, in every test that opens a project, is what its schema says, and plain JSON. An older tree has no table. */
const table: Record<string, Record<string, Verb>> = await import('../../src/face/verbs.ts').then(
  ({ VERBS }) => VERBS as never,
  () => ({}),
);
for (const [namespace, verbs] of Object.entries(table))
  for (const [name, verb] of Object.entries(verbs)) {
    const { run, output } = verb;
    verb.run = async (project, request) => {
      const answer = await run(project, request);
      const fits = output().safeParse(answer);
      if (!fits.success) throw new Error(`${namespace}.${name} does not fit: ${fits.error.message}`);
      if (!isDeepStrictEqual(JSON.parse(JSON.stringify(answer)), answer))
        throw new Error(`${namespace}.${name} answers what JSON does not hold: ${lost(answer)}`);
      return answer;
    };
  }

/** The paths of what JSON loses. */
function lost(value: unknown, path = ''): string {
  if (value === undefined) return path;
  if (typeof value !== 'object' || value === null) return '';
  if (Object.getPrototypeOf(value) !== Object.prototype && !Array.isArray(value))
    return `${path} (${value.constructor?.name})`;
  return Object.entries(value)
    .map(([key, one]) => lost(one, `${path}.${key}`))
    .filter((found) => found !== '')
    .join(', ');
}
