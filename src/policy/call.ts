import type { CedarArguments } from './arguments.ts';
import type { CedarCall } from './cedar.ts';
import type { PolicyRequest } from './request.ts';

/** The question about one call, in Cedar's form. Nothing is copied that need not be: Cedar itself checks it against the schema. */
export function cedarCall(
  request: PolicyRequest,
  called: CedarArguments,
  policies: string,
  schema: string,
): CedarCall {
  const { principal, resource, action } = request;
  const { calls: _, ...context } = request.context;
  const who = { type: TYPES[principal.kind], id: principal.name };
  const what = { type: TYPES[resource.kind], id: resource.name };
  const call = {
    principal: who,
    action: { type: 'Keyturn::Action', id: action },
    resource: what,
    context: {
      ...context,
      arguments: called,
      writes_in: withFolders(context.scope_writes),
      writes_top: topsOf(resource),
    },
    entities: [
      {
        uid: who,
        attrs: { name: principal.name, roles: principal.roles, enrolled_by: principal.enrolled_by },
        parents: [],
      },
      {
        uid: what,
        attrs: attributesOf(resource),
        parents: [],
      },
    ],
    preparsedPolicySetId: policies,
    preparsedSchemaName: schema,
    validateRequest: true,
  };
  return call as unknown as CedarCall;
}

const TYPES = {
  human: 'Keyturn::Human',
  agent: 'Keyturn::Agent',
  user: 'Keyturn::User',
  tool: 'Keyturn::Tool',
  plan: 'Keyturn::Plan',
  mcp: 'Keyturn::McpTool',
  client: 'Keyturn::ClientTool',
  simulation: 'Keyturn::Simulation',
};

/** The kind is the type of the entity. Everything else is an attribute. */
function attributesOf({ kind: _, ...attributes }: PolicyRequest['resource']) {
  return attributes;
}

/** Every path and every folder above it. Cedar cannot look inside a set, so the set holds what is looked for. */
export function withFolders(paths: readonly string[]): string[] {
  const found = new Set<string>();
  for (const path of paths) {
    found.add(path);
    if (path.startsWith('/')) found.add('/');
    for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1))
      found.add(path.slice(0, end));
  }
  return [...found];
}

/** The first part of each path that may be written; `.` is all of the project, and `/` whatever lies outside. */
export function topsOf({ kind, sandboxed, writes, tools }: PolicyRequest['resource']): string[] {
  const tops = writes.map((path) => {
    const parts = path.split('/');
    return parts.some((part) => part === '' || part === '..') ? '/' : parts[0]!;
  });
  // The registration of a simulation does not tell which paths its plan will have.
  const is_known = sandboxed && !(kind === 'simulation' && tools.length === 0);
  return [...new Set(is_known ? tops : ['.', '/', ...tops])];
}
