import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readRegularFile } from '../durable/beneath.ts';
import { rememberedFile } from '../effect/file-key.ts';
import { limits } from '../limits.ts';
import { refuse } from '../refusal.ts';
import type { Layout } from './layout.ts';

export interface SimulationFile {
  readonly name: string;
  readonly text: string;
}

/** The files in simulations/ as they are now. A project may have none. One that was not changed is not read again. */
export function simulationFiles({ simulations }: Layout): () => SimulationFile[] {
  let texts = new Map<string, () => string>();
  return () => {
    const names = namesIn(simulations).filter((name) => name.endsWith('.yaml'));
    texts = new Map(names.map((name) => [name, texts.get(name) ?? textIn(join(simulations, name))]));
    return Array.from(texts, ([name, text]) => ({ name, text: text() }));
  };
}

function textIn(path: string): () => string {
  return rememberedFile(path, () => textOf(path));
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
