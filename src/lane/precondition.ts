import { dirname } from 'node:path';
import { type ReasonCode, Refusal, refuse } from '../refusal.ts';
import { deriveEffect, type ToolEffect } from '../tool/effect.ts';
import { loadRegistry, type Registry } from '../tool/registry.ts';
import { type PreparedRun, prepareRun, type Surroundings } from '../tool/run.ts';
import { toolOfIntent } from '../tool/select.ts';
import { checkEligibility } from './check.ts';
import type { QueueFolder } from './folder.ts';
import { type LaneProject, requireLaneAllowed } from './project.ts';
import { type Claimed, requireForm } from './verify.ts';

export interface LaneRunRequest extends Claimed {
  readonly queue: QueueFolder;
  readonly registry_path: string | null;
  readonly working_folder: string;
}

/** One approved call, looked up and ready. The caller must close it. */
export interface ReadyCall {
  readonly effect: ToolEffect;
  readonly prepared: PreparedRun;
}

/** The preconditions of 001 in their order. Each refusal carries the line that 001 fixes for its check. */
export async function requirePreconditions(request: LaneRunRequest): Promise<ReadyCall> {
  requireForm(request);
  const folders = foldersOf(request);
  requireLaneAllowed(folders);

  // Check 1: the controller is the only source of eligibility.
  await requireEligible(request);

  // Check 2: the registry, read-only.
  const path =
    request.registry_path ??
    withLine(REGISTRY_LINE, () => refuse('REGISTRY_MISSING', 'No registry is named: use --registry FILE.'));
  const registry = withLine(REGISTRY_LINE, () => loadRegistry(path));

  // Checks 3, 4 and 5: one binding, one tool, its arguments, its executable.
  const effect = withLine(null, () => effectOf(registry, request.id, path));
  const projects = requireLaneAllowed([...folders, ...foldersTouched(effect)]);
  const around = surroundings(request.queue, path, projects);
  return { effect, prepared: withLine(null, () => prepareRun(effect, around)) };
}

/** Where the request comes from. A registry that lies in a project is the project's, wherever it is named from. */
function foldersOf({ queue, working_folder, registry_path }: LaneRunRequest): string[] {
  return [queue.folder, working_folder, ...(registry_path === null ? [] : [dirname(registry_path)])];
}

/** Where the tool would work. Only known when the registry was read. */
function foldersTouched({ cwd, sandbox }: ToolEffect): string[] {
  return sandbox === 'none' ? [cwd] : [cwd, ...sandbox.read, ...sandbox.write];
}

/** What decides about runs is written by no tool: the queue, the registry, and the files of a project. */
function surroundings(queue: QueueFolder, registry: string, projects: readonly LaneProject[]): Surroundings {
  return {
    hidden: projects.map(({ hidden }) => hidden),
    protected: [queue.folder, registry, ...projects.flatMap((project) => project.protected)],
  };
}

async function requireEligible(request: LaneRunRequest): Promise<void> {
  const verdict = await checkEligibility(request.queue, request);
  if (verdict.ok) return;
  const { code, message, line, executed_at } = verdict;
  refuse(code ?? 'INTERNAL', message, {
    controller: line,
    fixed_line: '[ERROR] Execution not eligible',
    ...(executed_at === null ? {} : { executed_at }),
  });
}

function effectOf(registry: Registry, id: string, path: string): ToolEffect {
  const { tool, arguments: values } = toolOfIntent(registry, id);
  return deriveEffect({ registry, tool, arguments: values, fixed: true, root: dirname(path) });
}

const REGISTRY_LINE = '[ERROR] Tool registry unavailable';

const LINES: Readonly<Partial<Record<ReasonCode, string>>> = {
  REGISTRY_WRITABLE: '[ERROR] Tool registry must be read-only',
  BINDING_MISSING: '[ERROR] Intent not in tool registry',
  BINDING_EMPTY: '[ERROR] No tool defined for this intent',
  TOOL_UNKNOWN: '[ERROR] No tool defined for this intent',
  BINDING_AMBIGUOUS: '[ERROR] Multiple tools defined (ambiguous)',
  EXECUTABLE_MISSING: '[ERROR] Tool not found',
};

/** Runs one step; its refusal gets the line of its code, or the line of its check. */
function withLine<T>(line: string | null, step: () => T): T {
  try {
    return step();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const fixed = error.code.startsWith('ARGUMENT_')
      ? `[ERROR] Tool arguments invalid: ${error.message}`
      : (LINES[error.code] ?? line);
    throw new Refusal(error.code, error.message, {
      ...error.facts,
      ...(fixed === null ? {} : { fixed_line: fixed }),
    });
  }
}
