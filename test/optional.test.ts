import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { installLine, isMissing, OPTIONAL, refuseMissing } from '../src/optional.ts';
import { expectRefusal } from './support/refusal.ts';

const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));

describe('packages that are installed apart', () => {
  it('are optional peers, and named with the versions that the tests run with', () => {
    const names = Object.keys(OPTIONAL);
    expect(Object.keys(manifest.peerDependencies)).toEqual(names);
    for (const name of names) expect(manifest.peerDependenciesMeta[name]).toEqual({ optional: true });
    for (const [name, { version }] of Object.entries(OPTIONAL)) {
      expect(manifest.devDependencies[name]).toBe(version);
      expect(manifest.dependencies).not.toHaveProperty([name]);
    }
  });

  it('one that is missing is refused with the line that installs it', async () => {
    const error = await import('node:module').then(({ createRequire }) => {
      try {
        return createRequire('/nowhere/at/all.js').resolve('pg');
      } catch (thrown) {
        return thrown;
      }
    });
    const refusal = await expectRefusal('PACKAGE_MISSING', () => refuseMissing('pg', error));
    expect(refusal.message).toBe(installLine('pg'));
    expect(refusal.message).toContain(`npm install pg@${OPTIONAL.pg.version}`);
  });

  it('one that fails for another reason throws that', () => {
    const broken = Object.assign(new Error("Cannot find module 'pg-types'\nRequire stack:\n- 'pg'"), {
      code: 'MODULE_NOT_FOUND',
    });
    expect(isMissing('pg', broken)).toBe(false);
    expect(() => refuseMissing('pg', broken)).toThrow(broken);
    expect(isMissing('pg', new SyntaxError("'pg'"))).toBe(false);
  });
});
