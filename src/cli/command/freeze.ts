import { visible } from '../../canonical/visible.ts';
import { type Freeze, freezeWords } from '../../keyturn.ts';
import { refuse } from '../../refusal.ts';
import type { Answer, Call, Options } from '../answer.ts';
import { actAs, whoActs } from '../human.ts';
import { painter } from '../paint.ts';
import { type Opened, writing } from '../project.ts';
import type { Result } from '../schema.ts';

/** Stops everything, one tenant, one proposer or one tool. It must be quick, so it asks for the passphrase alone. */
export function freeze(call: Call): Promise<Answer> {
  const target = targetIn(call.options);
  const reason = call.options.reason!;
  return writing(call, async (keyturn) => {
    const name = await whoActs(keyturn, call.options.as);
    await requireProposer(keyturn, target);
    if (await freezeOn(keyturn, target)) refuse('FROZEN_ALREADY');
    const stranger = await strangerLines(keyturn, target);
    const result = await actAs(
      keyturn,
      name,
      (signer) => keyturn.system.freeze({ ...target, reason, signer }),
      () => stranger.map((line) => painter(true)('yellow', line)),
    );
    const lines = [`[OK] ${result.by} froze ${wordsOf(result)}. What runs is stopped, and nothing starts`];
    return { result, lines: [...lines, ...stranger] };
  });
}

export function unfreeze(call: Call): Promise<Answer> {
  const target = targetIn(call.options);
  const reason = call.options.reason!;
  return writing(call, async (keyturn) => {
    const name = await whoActs(keyturn, call.options.as);
    const found = (await freezeOn(keyturn, target)) ?? refuse('NOT_FROZEN');
    const { by, at } = found;
    const result = await actAs(
      keyturn,
      name,
      (signer) => keyturn.system.unfreeze({ ...target, lifts: { by, at }, reason, signer }),
      () => [painter(true)('yellow', visible(freezeWords(found)))],
    );
    return { result, lines: [`[OK] ${result.by} unfroze ${wordsOf(result)}`] };
  });
}

interface Target {
  readonly scope: Freeze['scope'];
  readonly name?: string;
}

/** Nothing is guessed: two targets could mean both or either. */
function targetIn({ agent, tool, tenant }: Options): Target {
  if ([agent, tool, tenant].filter((option) => option !== undefined).length > 1)
    refuse('USAGE', 'Name one of --agent, --tool and --tenant; none of them stands for everything.');
  if (typeof agent === 'string') return { scope: 'agent', name: agent };
  if (tool !== undefined) return { scope: 'tool', name: tool };
  return { scope: tenant ? 'tenant' : 'system' };
}

/** A freeze of a name that does not exist stops nothing, and the person who typed it believes that it does. */
async function requireProposer(keyturn: Opened, { scope, name }: Target): Promise<void> {
  if (scope !== 'agent') return;
  const known = (await keyturn.people.list()).principals.some((principal) => principal.name === name);
  if (!known) refuse('PRINCIPAL_UNKNOWN', `"${visible(name ?? '')}" is not enrolled.`);
}

/** A tool may be the id of a plan, so an unknown name is only mentioned. */
async function strangerLines(keyturn: Opened, { scope, name }: Target): Promise<string[]> {
  if (scope !== 'tool' || (await isTool(keyturn, name))) return [];
  return [`The registry has no tool "${visible(name ?? '')}". The freeze holds for that name all the same`];
}

/** A registry that cannot be read does not prevent a freeze. */
async function isTool(keyturn: Opened, wanted: string | undefined): Promise<boolean> {
  try {
    return (await keyturn.tools.list()).tools.some(({ name }) => name === wanted);
  } catch {
    return false;
  }
}

async function freezeOn(keyturn: Opened, { scope, name }: Target): Promise<Freeze | null> {
  const { freezes } = await keyturn.system.get();
  // A ledger is that of one tenant.
  return (
    freezes.find((one) => one.scope === scope && (scope === 'tenant' || one.name === (name ?? ''))) ?? null
  );
}

function wordsOf({ scope, name }: Result<'freeze'>): string {
  return scope === 'system' ? 'everything' : `the ${scope} "${visible(name)}"`;
}
