import type { Paged } from '../fold/projection.ts';
import type { RowName, States } from '../fold/row.ts';
import type { Context } from '../journey/context.ts';
import { lackingOf } from '../journey/lacking.ts';
import { refuse } from '../refusal.ts';
import type { Page, PagedRow, Store } from '../store/store.ts';

/**
 * The same context, in which there is nothing but what this proposer proposed. What another one proposed is as if it did not exist, so
 * no step of the journey can tell of it. What this does not know is refused.
 */
export function ownContext(context: Context, proposer: string): Context {
  const known = owned.get(context);
  if (known?.proposer === proposer) return known.context;
  const own = contextOf(context, proposer);
  owned.set(context, { proposer, context: own });
  return own;
}

/** The last that was made of each context: an entry point has one for each caller. */
const owned = new WeakMap<Context, { readonly proposer: string; readonly context: Context }>();

function contextOf(context: Context, proposer: string): Context {
  return {
    ...context,
    is_own: true,
    lacking: (state, authorities) => lackingOf(context, state, authorities),
    untold: proposer,
    store: ownStore(context.store, proposer),
    // It tells of every intent, of any proposer.
    get ledger(): never {
      return hidden();
    },
  };
}

const hidden = (): never => refuse('NOT_FOR_AGENTS');

/**
 * Who is enrolled, and which servers are accepted, is asked before a proposal is taken; which delegations hold, where one stands for an
 * approval of their own. No answer tells of another proposal.
 */
const OPEN_ROWS: ReadonlySet<RowName> = new Set<RowName>(['principal', 'delegation', 'server']);

function ownStore(store: Store, proposer: string): Store {
  const own = async (intent_id: string) => {
    const state = await store.find('intent', intent_id);
    return state?.proposer === proposer ? state : null;
  };
  const find = async (name: RowName, key: string): Promise<States[RowName] | null> => {
    if (name === 'intent') return own(key);
    if (name === 'execution' || name === 'capability') {
      const found = await store.find(name, key);
      return found && (await own(found.intent_id)) ? found : null;
    }
    // What became of its own run is told to an agent, also where another proposer has it undone.
    if (name === 'undo') return (await own(key)) ? store.find(name, key) : null;
    return OPEN_ROWS.has(name) ? store.find(name, key) : hidden();
  };
  return {
    tenant: store.tenant,
    origin: store.origin,
    commit: store.commit,
    find: find as Store['find'],
    all: hidden,
    keys: hidden,
    page: (name, page) => ownPage(store, proposer, name, page),
    agentLedger: hidden,
    agentCurrent: hidden,
    system: hidden,
    // A caller who has a digest got it from a row or an entry that is theirs.
    object: store.object,
    objectsLike: hidden,
    objects: hidden,
    tip: store.tip,
    look: hidden,
    entry: store.entry,
    entries: hidden,
    entryPage: hidden,
    entriesOf: async (subject) => ((await own(subject)) ? store.entriesOf(subject) : []),
    adopt: hidden,
    rebuild: hidden,
    close: hidden,
  };
}

/** Only by the proposer: a page of others, with theirs left out, would be shorter and tell of them. */
function ownPage<N extends Paged>(
  store: Store,
  proposer: string,
  name: N,
  page: Page,
): Promise<PagedRow<N>[]> {
  const [column, values] = page.by ?? ['status', []];
  const isOwn = column === 'proposer' && values.every((value) => value === proposer);
  return isOwn ? store.page(name, page) : hidden();
}
