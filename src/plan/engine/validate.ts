import { statAt, withPlace } from '../../durable/beneath-write.ts';
import { OpenFolders } from '../../durable/open-folders.ts';
import { Refusal, refuse } from '../../refusal.ts';
import { formatOf } from '../edit/format.ts';
import { syntaxProblem } from '../input/syntax.ts';
import type { FileState, ValidationRule } from '../model.ts';
import type { Attributes } from '../state/attributes.ts';
import { sameState } from '../state/pin.ts';
import { readContent, seeIn } from '../state/see.ts';

/** After the actions: every path that was changed is as it must be. */
export async function requireStates(
  { root, attributes }: { readonly root: string; readonly attributes: Attributes },
  expected: ReadonlyMap<string, FileState | null>,
  verify_hashes: boolean,
): Promise<void> {
  const folders = new OpenFolders(root);
  const worn = [...expected].flatMap(([path, state]) => (state?.attributes === undefined ? [] : [path]));
  const hasState = async (path: string, state: FileState | null) => {
    const seen = seeIn(folders, path);
    const whole = seen && worn.includes(path) ? await attributes.of(folders.at(path), seen) : seen;
    return sameState(whole?.state ?? null, state);
  };
  try {
    if (worn.length > 0) await attributes.learnPaths(root, worn);
    for (const [path, state] of expected) {
      if (!(await (verify_hashes ? hasState(path, state) : looksLike(root, path, state))))
        refuse('RESULT_MISMATCH', `${path} is not what the plan made of it.`, { path });
    }
  } finally {
    folders.close();
  }
}

/** Where the plan asks for speed: existence, size and mode only. */
async function looksLike(root: string, path: string, state: FileState | null): Promise<boolean> {
  const stats = await withPlace(root, path, (place) => statAt(place));
  if (stats === null || state === null) return stats === state;
  return Number(stats.size) === state.size && Number(stats.mode & 0o7777n) === state.mode && stats.isFile();
}

/** The rules of the plan itself. The first that does not hold is a failed validation. */
export async function requireRules(root: string, rules: readonly ValidationRule[]): Promise<void> {
  for (const rule of rules) {
    if (!(await holds(root, rule)))
      refuse('PLAN_RULE_BROKEN', `${rule.type} does not hold for ${rule.path}.`, {
        rule: rule.type,
        path: rule.path,
      });
  }
}

async function holds(root: string, rule: ValidationRule): Promise<boolean> {
  const file = await readOrNothing(root, rule.path);
  if (rule.type === 'file_absent') return file === null;
  if (file === null) return false;
  if (rule.type === 'file_exists') return true;
  if (rule.type === 'hash_equals') return file.state.sha256 === rule.sha256;
  if (rule.type === 'contains') return Buffer.from(file.bytes).toString('utf8').includes(rule.text);
  return syntaxProblem(rule.path, file.bytes, formatFor(rule)) === null;
}

/** What cannot be read as a plain file holds no rule, not even that nothing is there. */
async function readOrNothing(root: string, path: string) {
  try {
    return await readContent(root, path);
  } catch (error) {
    if (error instanceof Refusal)
      refuse('PLAN_RULE_BROKEN', `${path}: ${error.message}`, { rule: 'readable', path });
    throw error;
  }
}

/** The rule says what the file must be, whatever its name; only whether JSON may have comments is the name's to say. */
function formatFor({ type, path }: ValidationRule): 'json' | 'jsonc' | 'yaml' {
  if (type === 'yaml_valid') return 'yaml';
  return formatOf({ path }) === 'jsonc' ? 'jsonc' : 'json';
}
