import { execFileSync, spawnSync } from 'node:child_process';

const runs = (program: string, ...argv: string[]) => spawnSync(program, argv).status === 0;

/** The tests set and read attributes by other programs than the product does. */
export const hasTools =
  runs('setfattr', '--version') && runs('setfacl', '--version') && runs('getfattr', '--version');

/** A test that says so and ends where those programs are missing. */
export const withTools =
  <A extends unknown[]>(test: (...given: A) => Promise<void>) =>
  async (...given: A) => {
    if (hasTools) await test(...given);
    else console.warn('SKIPPED: setfacl, setfattr and getfattr are not installed');
  };

export const setAcl = (path: string, ...entries: string[]) =>
  execFileSync('setfacl', ['-m', entries.join(','), path]);
export const setAttribute = (path: string, name: string, value: string) =>
  execFileSync('setfattr', ['-n', name, '-v', value, path]);

/** Every attribute of these files, access control lists included, as hexadecimal text. */
export function attributesAt(paths: readonly string[]): string {
  if (paths.length === 0) return '';
  const argv = [
    '--dump',
    '--match=-',
    '--encoding=hex',
    '--no-dereference',
    '--absolute-names',
    '--',
    ...paths,
  ];
  return execFileSync('getfattr', argv, { encoding: 'utf8' });
}
