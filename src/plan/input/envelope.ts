import * as z from 'zod';
import { isDigest, sha256 } from '../../canonical/digest.ts';
import { WORD_FORM } from '../../canonical/form.ts';
import { canonicalBytes } from '../../canonical/json.ts';
import { fieldLimits, limits } from '../../limits.ts';
import type { Plan } from '../model.ts';
import { configFrom, readSystemConfig, type SystemConfig } from './config.ts';
import { openJson } from './document.ts';
import { addIssues } from './issues.ts';
import { type ParseOptions, planAt } from './parse.ts';
import { type Path, type Placed, type PlanProblem, Problems } from './problem.ts';
import { planIdSchema } from './schema.ts';

/** 004 names itself so. A task for another agent is refused. */
const EXECUTOR = 'agent_executor';
const MAX_TTL_S = limits.intent_ttl_s;

const word = z.string().regex(WORD_FORM);

const content = z.union([
  z.looseObject({ action_plan: z.array(z.unknown()) }),
  z.strictObject({
    task_plan: z.looseObject({ action_plan: z.array(z.unknown()) }),
    /** As YAML text, or as the value that the YAML stands for. */
    system_config: z.union([z.string(), z.looseObject({})]).optional(),
  }),
]);

export const taskEnvelopeSchema = z.strictObject({
  envelope: z.strictObject({
    id: word,
    version: z.string().min(1).max(fieldLimits.version_chars),
    created_at: z.iso.datetime({ offset: true }),
    source_agent: word,
    target_agent: z.literal(EXECUTOR),
    message_type: word,
    priority: z.union([z.enum(['LOW', 'NORMAL', 'MEDIUM', 'HIGH', 'CRITICAL']), z.int().min(0).max(10)]),
    ttl_seconds: z.int().min(1).max(MAX_TTL_S),
  }),
  metadata: z.strictObject({ correlation_id: word, sequence_number: z.int().min(0) }),
  payload: z.strictObject({ task_id: planIdSchema, type: word, content }),
  validation: z.strictObject({
    status: z.string(),
    checksum: z.string().refine(isDigest, 'is not a SHA-256 digest in lower case'),
    signature: z.string().min(1).max(fieldLimits.path_chars).optional(),
  }),
});

type EnvelopeFile = z.infer<typeof taskEnvelopeSchema>;

export interface OpenedTask {
  readonly task_id: string;
  readonly correlation_id: string;
  readonly source_agent: string;
  readonly plan: Plan;
  readonly config: SystemConfig | null;
  /** No key is configured that signs task envelopes, so a signature is kept and proves nothing. */
  readonly signature: 'absent' | 'unverified';
}

export type OpenedEnvelope = { readonly task: OpenedTask } | { readonly problems: readonly PlanProblem[] };

export interface EnvelopeOptions extends Omit<ParseOptions, 'task_id' | 'config'> {
  readonly now_ms: number;
}

/**
 * Opens a task envelope: its checksum must be that of the payload, it must say APPROVED and must not be too old. All of this
 * only lets the plan in. It grants nothing: a program that can write an envelope can write APPROVED, so the plan is approved in the same way as
 * any other and waits for a human.
 */
export function openTaskEnvelope(input: Uint8Array | string, options: EnvelopeOptions): OpenedEnvelope {
  const problems = new Problems();
  const file = openJson(input, problems);
  if (file === null) return { problems: problems.list() };
  const parsed = taskEnvelopeSchema.safeParse(file.value);
  if (!parsed.success) {
    addIssues(problems, file, [], parsed.error.issues);
    return { problems: problems.list() };
  }
  checkSeal(file, parsed.data, options.now_ms, problems);
  const task = taskFrom(file, parsed.data, options, problems);
  return task === null || !problems.none ? { problems: problems.list() } : { task };
}

function checkSeal(file: Placed, task: EnvelopeFile, now_ms: number, problems: Problems): void {
  const { payload } = file.value as { payload: unknown };
  if (task.validation.checksum !== sha256(canonicalBytes(payload)))
    problems.at(
      file,
      ['validation', 'checksum'],
      'ENVELOPE_HASH_WRONG',
      'It is not the checksum of the payload.',
    );
  if (task.validation.status !== 'APPROVED')
    problems.at(file, ['validation', 'status'], 'TASK_NOT_APPROVED', 'The status is not APPROVED.');
  const { created_at, ttl_seconds } = task.envelope;
  const age_ms = now_ms - Date.parse(created_at);
  if (age_ms > ttl_seconds * 1000 || age_ms < -limits.clock_skew_ms)
    problems.at(file, ['envelope', 'ttl_seconds'], 'TASK_EXPIRED', `It was made at ${created_at}.`);
}

function taskFrom(
  file: Placed,
  { payload, metadata, envelope, validation }: EnvelopeFile,
  options: EnvelopeOptions,
  problems: Problems,
): OpenedTask | null {
  const at: Path = ['payload', 'content'];
  // With both it is ambiguous which plan is meant: then it is read as a plan, and refused for its unknown key.
  const wrapped = !('action_plan' in payload.content);
  const given = wrapped ? (payload.content as { system_config?: unknown }).system_config : undefined;
  const config = given === undefined ? null : configOf(file, [...at, 'system_config'], given, problems);
  const { registries } = options;
  const plan = planAt(
    file,
    wrapped ? [...at, 'task_plan'] : at,
    { task_id: payload.task_id, config, ...(registries ? { registries } : {}) },
    problems,
  );
  if (plan === null) return null;
  return {
    task_id: payload.task_id,
    correlation_id: metadata.correlation_id,
    source_agent: envelope.source_agent,
    plan,
    config,
    signature: validation.signature === undefined ? 'absent' : 'unverified',
  };
}

/** Problems inside the YAML text are told at the place of the text: its lines are not those of the envelope. */
function configOf(file: Placed, at: Path, given: unknown, problems: Problems): SystemConfig | null {
  if (typeof given !== 'string') return configFrom(file, at, given, problems);
  const read = readSystemConfig(given);
  if ('config' in read) return read.config;
  for (const { code, message, line } of read.problems)
    problems.at(file, at, code, `Line ${line} of the text: ${message}`);
  return null;
}
