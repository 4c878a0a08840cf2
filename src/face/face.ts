import { once } from '../canonical/once.ts';
import type { Context } from '../journey/context.ts';
import { refuse } from '../refusal.ts';
import type { Telemetry } from '../telemetry.ts';
import { callerOf, type NamedCaller, OWNER } from './caller.ts';
import { type Methods, methodsOf, type OpenProject, type Verbs } from './verb.ts';
import { VERBS } from './verbs.ts';

/** Every verb, by namespace. */
export type Face = { readonly [N in keyof typeof VERBS]: Methods<(typeof VERBS)[N]> };

/** The verbs as an entry point opens them for a caller, who is looked up at every call. */
export function faceFor(
  { context: opened, ...project }: Omit<OpenProject, 'caller'>,
  telemetry: Telemetry,
  { name, account = null, mayWrite }: NamedCaller,
): Face {
  const context = { ...opened, account, ...(mayWrite && onceProven(opened, mayWrite)) };
  const who = () => (name === null ? OWNER : callerOf(opened, name));
  return namespacesOn({}, (name) =>
    methodsOf(name, VERBS[name] as Verbs, { ...project, context }, telemetry, who),
  ) as Face;
}

/** Each namespace is made when it is first used: a command uses one or two. */
export function namespacesOn<T extends object>(target: T, make: (name: keyof Face) => object): T {
  for (const name of Object.keys(VERBS) as (keyof Face)[])
    Object.defineProperty(target, name, { get: once(() => make(name)), enumerable: true });
  return target;
}

function onceProven({ store }: Context, may_write: () => boolean): Pick<Context, 'store' | 'may_write'> {
  const commit: Context['store']['commit'] = async (commit) =>
    may_write() ? store.commit(commit) : refuse('SESSION_READS');
  return { store: { ...store, commit }, may_write };
}
