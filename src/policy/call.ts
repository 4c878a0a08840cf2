import type { CedarCall } from './cedar.ts';
import type { PolicyRequest } from './request.ts';

/** The question in Cedar's form. Nothing is copied that need not be: Cedar itself checks it against the schema. */
export function callOf(request: PolicyRequest, policies: string, schema: string): CedarCall {
  const { principal, resource, action, context } = request;
  const who = { type: TYPES[principal.kind], id: principal.name };
  const what = { type: TYPES[resource.kind], id: resource.name };
  const call = {
    principal: who,
    action: { type: 'Keyturn::Action', id: action },
    resource: what,
    context: { ...context, writes_in: withFolders(context.scope_writes) },
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
