import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { setAcl, setAttribute, withTools } from '../../support/attributes.ts';
import { scratch } from '../../support/scratch.ts';
import { lay } from '../engine/story.ts';

const CHILD = fileURLToPath(new URL('./derive-child.ts', import.meta.url));
const NOBODY = 65534;

/** What becomes of a plan that a user without privileges proposes. */
function asNobody(root: string, kind: 'modify' | 'remove', path: string): string {
  const words = [process.execPath, '--import', 'tsx', CHILD, root, kind, path];
  const user = [`--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups', '--'];
  const env = { ...process.env, HOME: '/nonexistent', TSX_DISABLE_CACHE: '1' };
  return spawnSync('setpriv', [...user, ...words], { encoding: 'utf8', env }).stdout.trim();
}

function laid(uid: number): { root: string; file: string } {
  const root = scratch();
  chownSync(root, NOBODY, NOBODY);
  lay(root, { a: 'one' }, 0o666);
  const file = join(root, 'a');
  chownSync(file, uid, uid);
  chmodSync(file, 0o666);
  return { root, file };
}

// Only root can make files of another user. Where the tests have no privileges, all other tests show what this one does.
describe.runIf(process.getuid?.() === 0)('a user without privileges', () => {
  it.each(['modify', 'remove'] as const)('is refused to %s a file that would change hands', (kind) => {
    expect(asNobody(laid(0).root, kind, 'a')).toBe('PERMISSION_DENIED');
  });

  it.each(['modify', 'remove'] as const)(
    'is refused to %s a file with an attribute that only root can set again',
    withTools(async (kind) => {
      const { root, file } = laid(NOBODY);
      setAttribute(file, 'security.capability', '0x0100000200040000000000000000000000000000');
      expect(asNobody(root, kind, 'a')).toBe('ATTRIBUTES_NOT_KEPT');
    }),
  );

  it(
    'keeps a list and attributes of its own',
    withTools(async () => {
      const { root, file } = laid(NOBODY);
      setAcl(file, 'u:1234:rw');
      setAttribute(file, 'user.k', 'v');
      expect(asNobody(root, 'modify', 'a')).toBe('ok');
    }),
  );

  it.each(['modify', 'remove'] as const)(
    'is refused to %s a file in a folder that it cannot write to',
    (kind) => {
      const { root } = laid(NOBODY);
      chownSync(root, 0, 0);
      chmodSync(root, 0o755);
      expect(asNobody(root, kind, 'a')).toBe('PERMISSION_DENIED');
    },
  );
});
