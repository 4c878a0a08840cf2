import { describe, expect, it } from 'vitest';
import { deedOf } from '../../src/console/words.ts';

const call = (values: object, inputSchema: object) =>
  deedOf({
    kind: 'mcp',
    called: 'files__write_file',
    arguments: values,
    definition: { name: 'write_file', inputSchema },
  } as never);

const SCHEMA = { properties: { content: {}, path: {} }, required: ['path', 'content'] };

describe('what the headline of a call is about', () => {
  it('is the first argument that the definition asks for and that fits into a line', () => {
    expect(call({ content: 'a\nb', path: '/notes/a.md' }, SCHEMA).target).toBe('/notes/a.md');
    expect(call({ content: 'x', path: 7 }, SCHEMA).target).toBe('x');
    expect(call({ content: 'a\nb', path: '' }, SCHEMA).target).toBeNull();
    expect(call({ path: '/a' }, { properties: { path: {} } }).target).toBe('/a');
  });

  it('is no argument that the agent added', () => {
    const values = { a: 'harmless.md', path: '/etc/passwd', toString: 'x' };
    expect(call(values, SCHEMA).target).toBe('/etc/passwd');
    expect(call({ a: 'harmless.md' }, SCHEMA).target).toBeNull();
    for (const schema of [{}, { required: 'path' }, { required: [7, '__proto__'] }])
      expect(call(values, schema).target).toBeNull();
  });
});
