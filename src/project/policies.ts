import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Digest, sha256 } from '../canonical/digest.ts';
import { readRegularFile } from '../durable/beneath.ts';
import { limits } from '../limits.ts';
import { type PolicySource, policySetBytes, QUORUM_FILE, TABLE_FILE } from '../policy/source.ts';
import { Refusal, refuse } from '../refusal.ts';
import type { Layout } from './layout.ts';

export interface PolicyFiles extends PolicySource {
  /** Of policies, quorums and tests together: the snapshot that they would be. */
  readonly digest: Digest;
}

/** The files in policies/ as they are now. They decide nothing until a human activates them. */
export function readPolicyFiles({ policies }: Layout): PolicyFiles {
  const names = namesIn(policies).filter((name) => name.endsWith('.cedar'));
  const files = names.map((name) => ({ name, text: textOf(join(policies, name)) }));
  const source = {
    files,
    quorums: optional(join(policies, QUORUM_FILE)),
    tests: optional(join(policies, TABLE_FILE)),
  };
  return { ...source, digest: sha256(policySetBytes(source)) };
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch {
    return refuse('POLICY_MISSING', `The folder ${folder} cannot be read.`);
  }
}

function optional(path: string): string | null {
  try {
    return textOf(path);
  } catch (error) {
    if (error instanceof Refusal && error.code === 'FILE_NOT_FOUND') return null;
    throw error;
  }
}

function textOf(path: string): string {
  const { bytes } = readRegularFile(path, limits.yaml_bytes);
  const text = Buffer.from(bytes).toString('utf8');
  if (!Buffer.from(text).equals(bytes)) refuse('INPUT_NOT_UTF8', `${path} is not UTF-8.`);
  return text;
}
