import { canonicalBytes } from '../canonical/json.ts';
import { policyLimits } from '../limits.ts';
import { refuse } from '../refusal.ts';

/** The texts of a project's policies. Reading the files is the caller's. */
export interface PolicySource {
  readonly files: readonly PolicyFile[];
  /** The text of quorums.yaml, null when there is none. */
  readonly quorums: string | null;
  /** The text of tests.yaml, null when there is none. It decides nothing; the human who activates sees what it loses. */
  readonly tests: string | null;
}

export interface PolicyFile {
  readonly name: string;
  readonly text: string;
}

export const QUORUM_FILE = 'quorums.yaml';
export const TABLE_FILE = 'tests.yaml';
export const POLICY_SET_FORMAT = 'keyturn-policies/2';

/** What the digest of a snapshot covers. A page makes it again from the texts that it draws. */
export function policySetBytes({ files, quorums, tests }: PolicySource): Uint8Array {
  const sorted = files.map(({ name, text }) => ({ name, text })).sort((a, b) => (a.name < b.name ? -1 : 1));
  const bytes = canonicalBytes({ format: POLICY_SET_FORMAT, files: sorted, quorums, tests });
  if (bytes.length > policyLimits.set_bytes)
    refuse(
      'POLICY_INVALID',
      `The policies have ${bytes.length} bytes; the most is ${policyLimits.set_bytes}.`,
    );
  return bytes;
}

export type ChangedText = readonly [name: string, before: string | null, after: string | null];

/** Every text that differs, by name. */
export function changedTexts(before: PolicySource | null, after: PolicySource): ChangedText[] {
  const [old, now] = [textsOf(before), textsOf(after)];
  const names = [...new Set([...old.keys(), ...now.keys()])].sort();
  return names
    .map((name): ChangedText => [name, old.get(name) ?? null, now.get(name) ?? null])
    .filter(([, was, becomes]) => was !== becomes);
}

function textsOf(source: PolicySource | null): ReadonlyMap<string, string> {
  if (source === null) return new Map();
  const { files, quorums, tests } = source;
  return new Map([
    ...files.map(({ name, text }) => [name, text] as const),
    ...(quorums === null ? [] : [[QUORUM_FILE, quorums] as const]),
    ...(tests === null ? [] : [[TABLE_FILE, tests] as const]),
  ]);
}
