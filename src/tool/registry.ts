import { closeSync, constants, fchmodSync, fstatSync, fsyncSync, openSync } from 'node:fs';
import { dirname, isAbsolute, relative, resolve } from 'node:path';
import { type Digest, sha256 } from '../canonical/digest.ts';
import type { Json } from '../canonical/json.ts';
import { type FileRead, readFileBeneath, readRegularFile } from '../durable/beneath.ts';
import { createDigests } from '../effect/program.ts';
import { limits } from '../limits.ts';
import { Refusal, refuse } from '../refusal.ts';
import { isInterpreted } from './covers.ts';
import { toolPrograms } from './executable.ts';
import { interpretedLine } from './interpreter.ts';
import { type Fault, meaningFaults, refuseFirst, shapeFaults } from './lint.ts';
import { type Binding, type Pipeline, type RegistryFile, registrySchema, type ToolEntry } from './schema.ts';
import { parseTemplate, type TemplatePart } from './template.ts';
import { type LinePlace, parseYaml, type YamlDocument } from './yaml.ts';

/** A registered tool. `template` is its `args`, understood. */
export interface Tool extends ToolEntry {
  readonly template: readonly TemplatePart[];
  /** The entry as the file has it, before defaults: what its digest covers. */
  readonly definition: Json;
}

export interface Registry {
  readonly path: string;
  readonly folder: string;
  /** Of the bytes of the file. */
  readonly digest: Digest;
  readonly bytes: Uint8Array;
  readonly tools: ReadonlyMap<string, Tool>;
  readonly bindings: ReadonlyMap<string, readonly Binding[]>;
  readonly pipelines: ReadonlyMap<string, Pipeline>;
}

export interface LoadOptions {
  /** Off only to look at a registry, never to run from it. */
  readonly requireReadOnly?: boolean;
  /** The project's folder. Below it the path of the registry may have no link in it, and the file no second name. */
  readonly root?: string;
  /** One that was loaded before: the same bytes mean the same, so they need not be understood again. */
  readonly known?: Registry;
}

/** Loads `tools.yaml`, or refuses. Bytes, digest and mode come from one open file. */
export function loadRegistry(path: string, options: LoadOptions = {}): Registry {
  const file = readRegistryFile(path, options.root);
  if (options.requireReadOnly !== false) requireReadOnly(path, file.mode);
  const { known } = options;
  if (known?.path === resolve(path) && known.digest === sha256(file.bytes)) return known;
  const document = parseYaml(file.bytes);
  const parsed = registrySchema.safeParse(document.value);
  refuseFirst(parsed.success ? meaningFaults(parsed.data, document) : shapeFaults(parsed.error, document));
  return registryOf(path, file.bytes, parsed.data!, document);
}

function registryOf(path: string, bytes: Uint8Array, file: RegistryFile, document: YamlDocument): Registry {
  const absolute = resolve(path);
  const raw = (document.value as { tools: Json[] }).tools;
  const tools = file.tools.map((entry, i) => toolOf(entry, raw[i]!));
  return {
    path: absolute,
    folder: dirname(absolute),
    digest: sha256(bytes),
    bytes,
    tools: new Map(tools.map((tool) => [tool.name, tool])),
    bindings: byIntent(file.bindings),
    pipelines: new Map(file.pipelines.map((pipeline) => [pipeline.name, pipeline])),
  };
}

function byIntent(bindings: readonly Binding[]): Map<string, Binding[]> {
  const found = new Map<string, Binding[]>();
  for (const binding of bindings) found.set(binding.intent, [...(found.get(binding.intent) ?? []), binding]);
  return found;
}

function toolOf(entry: ToolEntry, definition: Json): Tool {
  return { ...entry, template: parseTemplate(entry.args, entry.parameters).parts, definition };
}

/** A link on the way could be turned to another registry by who may write beside it, though not to the registry. */
function readRegistryFile(path: string, root?: string): FileRead {
  const below = root === undefined ? '..' : relative(root, resolve(path));
  const is_below = below !== '..' && !below.startsWith('../') && !isAbsolute(below);
  try {
    return root !== undefined && is_below
      ? readFileBeneath(root, below, limits.yaml_bytes)
      : readRegularFile(path, limits.yaml_bytes);
  } catch (error) {
    if (error instanceof Refusal && error.code === 'FILE_NOT_FOUND') {
      refuse('REGISTRY_MISSING', `${path} does not exist.`, { path });
    }
    throw error;
  }
}

/** Any write bit in the mode: root passes every access check, so access says nothing. */
function requireReadOnly(path: string, mode: number): void {
  if ((mode & 0o222) === 0) return;
  refuse('REGISTRY_WRITABLE', `${path} has the mode ${mode.toString(8).padStart(4, '0')}.`, { path });
}

/** All that is wrong with a registry, not only the first thing. Empty when it can be used. */
export function lintRegistry(path: string): Fault[] {
  let file: FileRead;
  let document: YamlDocument;
  try {
    file = readRegistryFile(path);
    document = parseYaml(file.bytes);
  } catch (error) {
    if (error instanceof Refusal) return [{ code: error.code, message: error.message, ...placeOf(error) }];
    throw error;
  }
  const faults: Fault[] = [];
  if ((file.mode & 0o222) !== 0) {
    faults.push({ code: 'REGISTRY_WRITABLE', message: 'The registry can be written.', line: 1, column: 1 });
  }
  const parsed = registrySchema.safeParse(document.value);
  if (!parsed.success) return [...faults, ...shapeFaults(parsed.error, document)];
  const { data } = parsed;
  return [
    ...faults,
    ...meaningFaults(data, document),
    ...executableFaults(data, document, dirname(resolve(path))),
  ];
}

function executableFaults(file: RegistryFile, document: YamlDocument, folder: string): Fault[] {
  const digests = createDigests();
  return file.tools.flatMap((tool, i): Fault[] => {
    try {
      const programs = toolPrograms(tool, folder, digests);
      const words = tool.args.flatMap((arg) => (typeof arg === 'string' ? [arg] : arg.args));
      const is_interpreted =
        isInterpreted(programs) || interpretedLine(resolve(folder, tool.executable), words) !== null;
      return is_interpreted && tool.covers === undefined
        ? [coversMissing(tool.name, document.place(['tools', i]))]
        : [];
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const place = document.place(['tools', i, 'executable']);
      return [{ code: error.code, message: `The tool "${tool.name}": ${error.message}`, ...place }];
    }
  });
}

function coversMissing(name: string, place: LinePlace): Fault {
  const message = `The tool "${name}" is interpreted and has no covers: files that it loads are not part of what is approved.`;
  return { code: 'COVERS_MISSING', message, ...place };
}

function placeOf({ facts }: Refusal): { line: number; column: number } {
  return { line: Number(facts.line ?? 1), column: Number(facts.column ?? 1) };
}

/** Takes every write bit away, so that the registry may be used. Returns whether it had one. */
export function lockRegistry(path: string): boolean {
  readRegistryFile(path);
  try {
    const fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
    try {
      const mode = fstatSync(fd).mode & 0o7777;
      fchmodSync(fd, mode & ~0o222);
      fsyncSync(fd);
      return (mode & 0o222) !== 0;
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    return refuse('WRITE_FAILED', `${path}: ${(error as NodeJS.ErrnoException).code}`, { path });
  }
}
