import { realpathSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import * as z from 'zod';
import { type Digest, sha256 } from '../canonical/digest.ts';
import { DIGEST_FORM } from '../canonical/form.ts';
import { canonicalBytesOfParsed, canonicalText, isSameJson, parseJson } from '../canonical/json.ts';
import { createDigests, type Digests } from '../effect/program.ts';
import { requireReach } from '../effect/reach.ts';
import { isRoot, type UserFor, userFor } from '../effect/user.ts';
import { limits } from '../limits.ts';
import { refuse } from '../refusal.ts';
import { type Arguments, buildArguments, checkArguments } from './arguments.ts';
import { coverDifferences, coversOf, coversSchema } from './covers.ts';
import { environmentOf, toolPrograms } from './executable.ts';
import { needsOf } from './needs.ts';
import type { Registry, Tool } from './registry.ts';

const digest = z.string().regex(DIGEST_FORM);

/**
 * What running a tool would do: everything that matters and nothing rendered. Its digest is what a human approves.
 * Of `secrets` only the names are here, by the variable that each is given in: the values belong to the executor.
 */
export const effectSchema = z.strictObject({
  kind: z.literal('tool'),
  tool: z.string(),
  action: z.string(),
  category: z.string().nullable(),
  /** Every argument by the name of its parameter, defaults too: what policies judge. */
  arguments: z.record(
    z.string(),
    z.union([z.string(), z.number(), z.boolean(), z.array(z.string()).readonly()]),
  ),
  /** argv[0] is the executable as the registry names it. */
  argv: z.array(z.string()).min(1),
  /** Which parts of argv the proposer chose; everything else stands in the registry. Counted in UTF-16 units. */
  chosen: z.array(
    z.strictObject({ parameter: z.string(), element: z.int(), start: z.int(), end: z.int() }).readonly(),
  ),
  /** The executable, then its interpreters. `called` may be a link, `path` is the real file. */
  executables: z.array(z.strictObject({ called: z.string(), path: z.string(), sha256: digest })).min(1),
  env: z.record(z.string(), z.string()),
  secrets: z.record(z.string(), z.string()),
  cwd: z.string(),
  timeout_ms: z.int(),
  stdout_bytes: z.int(),
  stderr_bytes: z.int(),
  sandbox: z.union([
    z.literal('none'),
    z.strictObject({ network: z.boolean(), read: z.array(z.string()), write: z.array(z.string()) }),
  ]),
  limits: z
    .strictObject({
      cpu_s: z.int(),
      file_mb: z.int(),
      open_files: z.int(),
      processes: z.int().nullable(),
      memory_mb: z.int().nullable(),
      tmp_mb: z.int().nullable(),
    })
    .nullable(),
  /** The user of the operating system. Null is the one that runs Keyturn, or `nobody` where that is root. */
  run_as: z.string().nullable(),
  /** The name or the label of the executors that may run it. Null is the one that keyturn.yaml names. */
  executor: z.string().nullable(),
  undo: z.enum(['exact', 'compensating', 'none']),
  /** The call that undoes it, as the registry writes it. */
  undone_by: z
    .strictObject({
      tool: z.string(),
      arguments: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.array(z.string())])),
    })
    .nullable(),
  covers: coversSchema,
  /** Of the registry entry, in canonical form. */
  definition_digest: digest,
});

export type ToolEffect = z.infer<typeof effectSchema>;

export interface EffectRequest {
  readonly registry: Pick<Registry, 'folder'>;
  readonly tool: Tool;
  readonly arguments: Arguments;
  /** Whether the arguments too stand in the registry, as those of a binding and of a pipeline do. */
  readonly fixed?: boolean;
  /** The folder that relative working folders and sandbox paths start from. */
  readonly root: string;
  /** Pass one to keep digests of large files from one derivation to the next. */
  readonly digests?: Digests;
  readonly userFor?: UserFor;
  /** A run is prepared from it at once, which asks whether its user reaches everything: then it is not asked here as well. */
  readonly is_prepared?: boolean;
}

/** Derives the effect from the registry, the arguments and the files as they are now. */
export function deriveEffect(request: EffectRequest): ToolEffect {
  const values = checkArguments(request.tool.parameters, request.arguments);
  const args = buildArguments(request.tool, request.arguments, values);
  const tool = deriveTool(request);
  return {
    arguments: Object.fromEntries(values),
    argv: [tool.executables[0]!.called, ...args.map(({ text }) => text)],
    chosen: request.fixed
      ? []
      : args.flatMap(({ chosen }, i) => chosen.map((range) => ({ element: i + 1, ...range }))),
    ...tool,
  };
}

/** What a tool is, whatever its arguments: all of an effect that does not follow from them. */
export type FixedEffect = Omit<ToolEffect, 'arguments' | 'argv' | 'chosen'>;

/** A tool that takes no arguments, from an entry that is no tool of the registry: how an MCP server is started. */
export function deriveStart(request: Omit<EffectRequest, 'arguments'>, args: readonly string[]): ToolEffect {
  const fixed = deriveTool(request);
  return { ...fixed, arguments: {}, argv: [fixed.executables[0]!.called, ...args], chosen: [] };
}

function deriveTool(request: Omit<EffectRequest, 'arguments'>): FixedEffect {
  const { registry, tool } = request;
  const digests = request.digests ?? createDigests();
  const executables = toolPrograms(tool, registry.folder, digests);
  const root = resolve(request.root);
  const sandbox = profileOf(tool, root);
  const fixed: FixedEffect = {
    kind: 'tool',
    tool: tool.name,
    action: tool.action ?? `tool:${tool.name}`,
    category: tool.category ?? null,
    executables,
    env: environmentOf(tool),
    secrets: tool.secrets,
    cwd: realFolder(resolve(root, tool.cwd)),
    timeout_ms: tool.timeout_s * 1000,
    stdout_bytes: tool.stdout_bytes,
    stderr_bytes: tool.stderr_bytes,
    sandbox,
    limits: limitsOf(tool),
    run_as: tool.run_as ?? null,
    executor: tool.executor ?? null,
    undo: tool.undo,
    undone_by: tool.undone_by ?? null,
    covers: coversOf(tool, realpathSync.native(root), sandbox, digests),
    definition_digest: toolPin(tool),
  };
  // Told at the proposal where it is certain who the tool runs as. Others are told before the run.
  if (!request.is_prepared && isRoot())
    requireReach((request.userFor ?? userFor)(fixed.run_as), needsOf(fixed));
  return fixed;
}

/** What pins a tool: its entry in the registry, in canonical form. */
export function toolPin({ definition }: Pick<Tool, 'definition'>): Digest {
  return sha256(canonicalBytesOfParsed(definition));
}

/** The tool of a simulation, with the template that makes argv of its arguments. */
export interface ToolBound extends FixedEffect {
  readonly args: Tool['args'];
  readonly parameters: Tool['parameters'];
  /** The arguments as the simulation writes them; what users choose stands in braces. */
  readonly given: Arguments;
}

export function boundTool(request: EffectRequest): ToolBound {
  const { args, parameters } = request.tool;
  return { args, parameters, given: request.arguments, ...deriveTool(request) };
}

/** The same of an effect and of a tool: what must be equal for the effect to be a call of that very tool. */
export function fixedPart({ arguments: _, argv: __, chosen: ___, ...fixed }: ToolEffect): FixedEffect {
  return fixed;
}

export function fixedPartOf({ args: _, parameters: __, given: ___, ...fixed }: ToolBound): FixedEffect {
  return fixed;
}

function realFolder(path: string): string {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (!stats?.isDirectory()) refuse('WORKING_FOLDER_MISSING', `${path} is not a folder.`, { path });
  return realpathSync.native(path);
}

function profileOf(tool: Tool, root: string): ToolEffect['sandbox'] {
  if (tool.sandbox === 'none') return 'none';
  const { network, read, write } = tool.sandbox;
  const real = (paths: readonly string[]) =>
    [...new Set(paths.map((path) => realBind(resolve(root, path))))].sort();
  return { network, read: real(read), write: real(write) };
}

/** These belong to the sandbox itself. Bound from outside they would undo it. */
const NEVER_BOUND = ['/', '/proc', '/dev', '/sys'];

function realBind(path: string): string {
  let real: string;
  try {
    real = realpathSync.native(path);
  } catch {
    return refuse('SANDBOX_PATH_MISSING', `${path} does not exist.`, { path });
  }
  if (NEVER_BOUND.some((top) => real === top || (top !== '/' && real.startsWith(`${top}/`)))) {
    refuse('REGISTRY_MALFORMED', `A sandbox may not bind ${real}. Name the folders that the tool needs.`);
  }
  return real;
}

/** A sandbox is always limited; without one the limits are those that the registry asks for. */
function limitsOf(tool: Tool): ToolEffect['limits'] {
  const boxed = tool.sandbox !== 'none';
  if (!boxed && !tool.limits) return null;
  const asked = tool.limits ?? {};
  return {
    cpu_s: asked.cpu_s ?? tool.timeout_s,
    file_mb: asked.file_mb ?? limits.sandbox_file_mb_default,
    open_files: asked.open_files ?? limits.sandbox_open_files_default,
    processes: asked.processes ?? (boxed ? limits.sandbox_processes_default : null),
    memory_mb: asked.memory_mb ?? (boxed ? limits.sandbox_memory_mb_default : null),
    tmp_mb: boxed ? (asked.tmp_mb ?? limits.sandbox_tmp_mb_default) : null,
  };
}

export function effectBytes(effect: ToolEffect): Uint8Array {
  return canonicalBytesOfParsed(effect);
}

export function effectDigest(effect: ToolEffect): Digest {
  return sha256(effectBytes(effect));
}

/** Reads a stored effect. Its bytes were checked against their digest by the store. */
export function openToolEffect(bytes: Uint8Array): ToolEffect {
  const parsed = effectSchema.safeParse(parseJson(bytes, limits.json_bytes));
  return parsed.success ? parsed.data : refuse('SHAPE_INVALID', 'The bytes are not the effect of a tool.');
}

/** The names of the fields in which two effects differ. */
export function differingFields(approved: ToolEffect, now: ToolEffect): string[] {
  const names = new Set([...Object.keys(approved), ...Object.keys(now)]) as Set<keyof ToolEffect>;
  return [...names]
    .filter((name) => canonicalText(approved[name] ?? null) !== canonicalText(now[name] ?? null))
    .sort();
}

/** Refuses when what would run now is not what was approved, and says in what it differs. */
export function compareEffects(approved: ToolEffect, now: ToolEffect): void {
  if (isSameJson(approved, now)) return;
  const fields = differingFields(approved, now);
  if (fields.length === 1 && fields[0] === 'executables') {
    refuse('EXECUTABLE_CHANGED', undefined, { fields: 'executables' });
  }
  const files = fields.includes('covers') ? ` (${coverDifferences(approved.covers, now.covers)})` : '';
  refuse(
    'EFFECT_CHANGED',
    `What would run differs from what was proposed in: ${fields.join(', ')}${files}.`,
    {
      fields: fields.join(', '),
    },
  );
}
