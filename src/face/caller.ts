import type { Account } from '../identity/account.ts';
import type { Signer } from '../identity/act.ts';
import { isAuditor } from '../identity/auditor.ts';
import { activeCredentials, type Principal } from '../identity/principal.ts';
import { type Context, requireIntent } from '../journey/context.ts';
import { refuse } from '../refusal.ts';
import { ownContext } from './own.ts';

/**
 * Who asks. The owner opened the files of the project in this process and reads all of them anyway. Any other caller comes through an entry point
 * that found out their name, and is what the ledger says of that name now.
 */
export type Caller = { readonly kind: 'owner' } | Pick<Principal, 'name' | 'kind' | 'roles'>;

export const OWNER: Caller = { kind: 'owner' };

/** Whom an entry point identified, by its own means. */
export interface NamedCaller {
  /** Null for one who has no name, and whom the entry point lets see what the owner sees. */
  readonly name: string | null;
  /** Their account on the operating system, where the entry point knows it: never that of the service. */
  readonly account?: Account | null;
  /** Whether what they ask for may be written by now; always, unless told. Until a human has proven an act, not even its refusal is. */
  readonly mayWrite?: () => boolean;
}

/**
 * Whom a verb is open to. `people`: the owner and humans; an agent is refused. `proposer`: an agent as well, and to it there is nothing
 * but what it proposed. `anyone`: an agent as well; for verbs whose answer tells of no proposal. `delegate`: an agent as well, for what a
 * human delegated to its key. What it changes, it signs in its own name: a token is not enough. The verb itself looks up what is its own.
 */
export const OPEN_TO = ['people', 'proposer', 'anyone', 'delegate'] as const;
export type OpenTo = (typeof OPEN_TO)[number];

/** Looked up at every call: a caller who was revoked meanwhile is refused, and roles are those of now. */
export async function callerOf({ store }: Pick<Context, 'store'>, name: string): Promise<Caller> {
  const found = await store.find('principal', name);
  if (found === null) return refuse('PRINCIPAL_UNKNOWN', `"${name}" is not enrolled.`);
  const has_lost_all = found.kind === 'human' && activeCredentials(found).length === 0;
  if (found.status !== 'active' || has_lost_all) refuse('KEY_REVOKED');
  return { name, kind: found.kind, roles: found.roles };
}

/** What this caller's verb works with. Whatever is not said to be open to an agent is not. */
export function contextFor(
  context: Context,
  caller: Caller,
  { open_to, kind }: { readonly open_to: OpenTo; readonly kind: 'read' | 'write' | 'act' },
  signer?: Pick<Signer, 'name'>,
): Context {
  if (caller.kind === 'owner') return context;
  if (caller.kind === 'human') {
    if (kind !== 'read' && isAuditor(caller)) refuse('AUDITOR_ACTS');
    return context;
  }
  const untold = { ...context, untold: caller.name };
  if (open_to === 'anyone') return untold;
  if (open_to === 'delegate') {
    if (kind !== 'read') requireOwnSigner(caller, signer);
    return untold;
  }
  return open_to === 'proposer' ? ownContext(context, caller.name) : refuse('NOT_FOR_AGENTS');
}

/** The name alone: the commit verifies the signature with the key that is enrolled for it. */
function requireOwnSigner({ name }: Pick<Principal, 'name'>, signer?: Pick<Signer, 'name'>): void {
  if (signer === undefined) refuse('NOT_FOR_AGENTS', 'An agent asks for this with a signature of its key.');
  if (signer.name !== name) refuse('CALLER_OTHER', `"${name}" asks for no act of "${signer.name}".`);
}

/** To an agent there is no intent but what it proposed. */
export async function requireOwnIntent(context: Context, caller: Caller, intent_id: string): Promise<void> {
  if (caller.kind === 'agent') await requireIntent(ownContext(context, caller.name), intent_id);
}

/** To an agent there is no delegation but what was delegated to it. */
export async function requireOwnDelegation(
  { store }: Context,
  caller: Caller,
  delegation: string,
): Promise<void> {
  if (caller.kind !== 'agent') return;
  const found = await store.find('delegation', delegation);
  if (found?.delegate !== caller.name) refuse('DELEGATION_UNKNOWN');
}

interface Proposed {
  readonly issuer?: string | undefined;
  readonly intent_id?: string | undefined;
}

/** What is proposed, in the name of the caller: one with a name proposes in no other. */
export function proposedBy<T extends Proposed>(caller: Caller, proposed: T): T {
  if (caller.kind === 'owner') return proposed;
  const { issuer = caller.name } = proposed;
  if (issuer !== caller.name)
    refuse('CALLER_OTHER', `"${caller.name}" cannot propose in the name of "${issuer}".`);
  return { ...proposed, issuer };
}

/** An agent that chose an id would learn from the answer whether another one has it. An idempotency key is its own. */
export function requireMadeId(caller: Caller, { intent_id }: Proposed): void {
  if (caller.kind === 'agent' && intent_id !== undefined)
    refuse('NOT_FOR_AGENTS', 'An agent does not choose the id of an intent. Use an idempotency key.');
}
