import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readRegularFile } from '../durable/beneath.ts';
import { limits } from '../limits.ts';
import { refuse } from '../refusal.ts';
import type { Layout } from './layout.ts';

export interface SimulationFile {
  readonly name: string;
  readonly text: string;
}

/** The files in simulations/ as they are now. A project may have none. */
export function readSimulationFiles({ simulations }: Layout): SimulationFile[] {
  return namesIn(simulations)
    .filter((name) => name.endsWith('.yaml'))
    .map((name) => ({ name, text: textOf(join(simulations, name)) }));
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    return refuse('FILE_UNREADABLE', `The folder ${folder} cannot be read.`);
  }
}

function textOf(path: string): string {
  const { bytes } = readRegularFile(path, limits.yaml_bytes);
  const text = Buffer.from(bytes).toString('utf8');
  if (!Buffer.from(text).equals(bytes)) refuse('INPUT_NOT_UTF8', `${path} is not UTF-8.`);
  return text;
}
