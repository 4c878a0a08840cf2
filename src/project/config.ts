import { join, resolve } from 'node:path';
import * as z from 'zod';
import { NAME_FORM, WORD_FORM } from '../canonical/form.ts';
import { readRegularFile } from '../durable/beneath.ts';
import { describeIssue } from '../event/event.ts';
import { QUOTA_LIMIT, type QuotaLimit } from '../identity/quota.ts';
import { fieldLimits, limits } from '../limits.ts';
import type { LogPlace } from '../log.ts';
import { type ServerEntries, serversSchema } from '../mcp-call/entry.ts';
import { refuse } from '../refusal.ts';
import { isServer, postgresPlace, type StorePlace, sqlitePlace } from '../store/open.ts';
import { parseYaml } from '../tool/yaml.ts';
import { parseDuration } from './duration.ts';
import type { Layout } from './layout.ts';

/** The store that lies in the project's own folder. */
const EMBEDDED = 'sqlite';

const LOG_LEVELS = ['silent', 'error', 'warn', 'info', 'debug'] as const;
/** The ending keeps a slip from appending lines to a registry, a policy or the store. */
const LOG_FILE = /^(stderr|[^\0]*[^/\0]\.log)$/;

const NOTIFY_EVENTS = [
  'waiting',
  'reminder',
  'escalation',
  'decided',
  'succeeded',
  'failed',
  'in_doubt',
  'frozen',
] as const;

export type NotifyEvent = (typeof NOTIFY_EVENTS)[number];

const notifyRoute = z.strictObject({
  /** A target that .keyturn/executor.yaml of the serving host names. */
  to: z.string().regex(NAME_FORM),
  on: z.array(z.enum(NOTIFY_EVENTS)).min(1),
  /** Only about these tools; about all unless told. */
  tools: z.array(z.string().max(limits.name_chars)).max(limits.tools).optional(),
  /** Whom this target reaches, by name or as `role:NAME`: of what waits it is told only where one of them is asked to look. All unless told. */
  for: z.array(z.string().max(limits.name_chars)).min(1).max(fieldLimits.listed).optional(),
});

/** `keyturn.yaml`. Every key has a safe default; an unknown key is refused, because it was meant to do something. */
const configSchema = z.strictObject({
  version: z.literal(1),
  tenant: z.string().regex(NAME_FORM).default('default'),
  registry: z.string().min(1).default('tools.yaml'),
  intent_ttl: z.string().default('24h'),
  approval_ttl: z.string().default('1h'),
  capability_ttl: z.string().default('5m'),
  order_ttl: z.string().default('2m'),
  prompt_ttl: z.string().default(`${limits.prompt_ttl_s_default / 60}m`),
  environment: z.string().regex(WORD_FORM).default('default'),
  executor: z.string().regex(NAME_FORM).default('executor'),
  store: z.string().default(EMBEDDED),
  heads: z.string().min(1).max(fieldLimits.path_chars).optional(),
  proposals: z
    .strictObject({
      pending: z.int().min(1).max(limits.pending_proposals).default(QUOTA_LIMIT.pending),
      minute: z.int().min(1).max(limits.proposals_minute).default(QUOTA_LIMIT.minute),
    })
    .prefault({}),
  service: z
    .strictObject({
      requests_minute: z.int().min(1).max(limits.requests_minute).default(limits.requests_minute_default),
      at_once: z.int().min(1).max(limits.requests_at_once).default(limits.requests_at_once_default),
      streams: z.int().min(1).max(limits.streams).default(limits.streams_default),
    })
    .prefault({}),
  notify: z
    .strictObject({
      routes: z.array(notifyRoute).max(limits.notify_targets).default([]),
      remind_before: z.string().default('1h'),
      escalate_after: z.string().default('4h'),
    })
    .prefault({}),
  lane: z.strictObject({ allow: z.boolean().default(false) }).prefault({}),
  /** MCP servers behind the gate. What stands here starts nothing until a human has accepted it. */
  mcp: serversSchema,
  log: z
    .strictObject({
      level: z.enum(LOG_LEVELS).default('silent'),
      file: z.string().regex(LOG_FILE, 'It is stderr, or a path that ends in .log.').default('stderr'),
    })
    .prefault({}),
});

/** The most that one caller may ask of a service. */
export interface ServiceLimits {
  readonly requests_minute: number;
  /** Requests that are answered at one time. */
  readonly at_once: number;
  readonly streams: number;
}

/** Which target is told of what. */
export interface NotifyRoutes {
  readonly routes: readonly z.infer<typeof notifyRoute>[];
  readonly remind_before_s: number;
  readonly escalate_after_s: number;
}

export interface Config {
  readonly servers: ServerEntries;
  readonly tenant: string;
  readonly registry_path: string;
  readonly intent_ttl_s: number;
  readonly approval_ttl_s: number;
  readonly capability_ttl_s: number;
  readonly order_ttl_s: number;
  readonly prompt_ttl_s: number;
  /** Where this is, such as `prod`: policies and conditions ask for it. */
  readonly environment: string;
  /** The name of what runs here: capabilities are addressed to it. */
  readonly executor: string;
  readonly lane_allowed: boolean;
  /** The most that one proposer may have. */
  readonly proposals: QuotaLimit;
  readonly service: ServiceLimits;
  readonly notify: NotifyRoutes;
  /** The ledger of this project. It is the same for all hosts that work on it. */
  readonly store: StorePlace;
  /** A second file for the kept head, on another disk or of another owner; `null` when there is none. */
  readonly heads: string | null;
  /** Where the log goes; `null` when there is none. */
  readonly log: LogPlace | null;
}

export function readConfig(layout: Layout): Config {
  const { bytes } = readRegularFile(layout.config, limits.yaml_bytes);
  const parsed = configSchema.safeParse(parseYaml(bytes).value);
  if (!parsed.success) refuse('SHAPE_INVALID', `keyturn.yaml: ${describeIssue(parsed.error)}`);
  return configOf(parsed.data, layout);
}

/** The MCP servers as keyturn.yaml names them now: it is read again each time, and parsed when its bytes changed. */
export function serversOf(layout: Layout): () => ServerEntries {
  let known: { readonly bytes: Uint8Array; readonly servers: ServerEntries } | null = null;
  return () => {
    const { bytes } = readRegularFile(layout.config, limits.yaml_bytes);
    if (known === null || Buffer.compare(known.bytes, bytes) !== 0)
      known = { bytes, servers: readConfig(layout).servers };
    return known.servers;
  };
}

/** What decides about runs, or tells of them: a tool may see it, and neither a tool nor a plan writes it. */
export function guardedPaths(layout: Layout, { registry_path, log, heads }: Config): string[] {
  const logged = log?.file && join(layout.root, log.file);
  return [
    layout.config,
    registry_path,
    layout.policies,
    layout.simulations,
    // What is in Keyturn's own folder is hidden already.
    ...(logged && !logged.startsWith(`${layout.own}/`) ? [logged] : []),
    ...(heads === null ? [] : [heads]),
  ];
}

function configOf(file: z.infer<typeof configSchema>, layout: Layout): Config {
  return {
    tenant: file.tenant,
    registry_path: resolve(layout.root, file.registry),
    intent_ttl_s: bounded(file.intent_ttl, 'intent_ttl', limits.intent_ttl_s),
    approval_ttl_s: bounded(file.approval_ttl, 'approval_ttl', limits.approval_ttl_s),
    capability_ttl_s: bounded(file.capability_ttl, 'capability_ttl', limits.capability_ttl_s),
    order_ttl_s: bounded(file.order_ttl, 'order_ttl', limits.capability_ttl_s),
    prompt_ttl_s: bounded(file.prompt_ttl, 'prompt_ttl', limits.prompt_ttl_s),
    environment: file.environment,
    executor: file.executor,
    servers: file.mcp,
    lane_allowed: file.lane.allow,
    proposals: file.proposals,
    service: file.service,
    notify: notifyOf(file),
    store: storeOf(file.store, layout),
    heads: file.heads === undefined ? null : resolve(layout.root, file.heads),
    log: logOf(file.log),
  };
}

/** A reminder that is due before an intent is proposed would never be sent. */
function notifyOf({ notify, intent_ttl }: z.infer<typeof configSchema>): NotifyRoutes {
  const { routes } = notify;
  const remind_before_s = bounded(notify.remind_before, 'remind_before', limits.intent_ttl_s);
  const escalate_after_s = bounded(notify.escalate_after, 'escalate_after', limits.intent_ttl_s);
  if (routes.some(({ on }) => on.includes('reminder')) && remind_before_s >= parseDuration(intent_ttl))
    refuse('TIME_MALFORMED', 'keyturn.yaml: remind_before is shorter than intent_ttl.');
  return { routes, remind_before_s, escalate_after_s };
}

function logOf({ level, file }: z.infer<typeof configSchema>['log']): LogPlace | null {
  return level === 'silent' ? null : { level, file: file === 'stderr' ? null : file };
}

/** No message repeats the text: it may hold a password. */
function storeOf(text: string, layout: Layout): StorePlace {
  if (text === EMBEDDED) return sqlitePlace(layout.store);
  if (!isServer(text))
    refuse('SHAPE_INVALID', `keyturn.yaml: store is ${EMBEDDED}, or begins with postgres://.`);
  return postgresPlace(text);
}

function bounded(text: string, key: string, most_s: number): number {
  const seconds = parseDuration(text);
  if (seconds > most_s) refuse('TIME_MALFORMED', `keyturn.yaml: ${key} is ${most_s} seconds at most.`);
  return seconds;
}
