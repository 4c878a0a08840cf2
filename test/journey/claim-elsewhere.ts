import { randomUUID } from 'node:crypto';
import type { Body } from '../../src/event/event.ts';
import { undoesNow } from '../../src/gate/next.ts';
import { signAct } from '../../src/identity/act.ts';
import type { Store } from '../../src/store/store.ts';
import { decisionFor } from '../store/decisions.ts';
import { statedBy } from '../support/executor.ts';
import { entriesAbout } from '../support/ledger.ts';
import type { Project } from '../support/project.ts';

const GONE_HOST = { host: 'gone-host', boot_id: 'b', pid: 4711, started: '1@1' };

/** What a host leaves behind that claims a run and loses its power. */
export async function claimElsewhere(
  p: Project,
  store: Store,
  intent: { intent_id: string; hash: string },
  executor = GONE_HOST,
): Promise<string> {
  const { intent_id, hash } = intent;
  const { attempt, effect_digest, registry_digest, capabilities } = await p.keyturn.intents.get({
    intent_id,
  });
  const issued = (await entriesAbout(p.keyturn, intent_id)).findLast(
    ({ kind }) => kind === 'capability.issued',
  )!;
  const { capability_id } = capabilities[0]!;
  const { policy, token } = issued.body as Body<'capability.issued'> & { token: string };
  const execution_id = randomUUID();
  const body = {
    execution_id,
    capability_id,
    presented: token,
    policy,
    decision: decisionFor({ kind: 'execution.claimed', subject: intent_id, by: 'ada', policy }),
    attempt,
    hash,
    effect_digest,
    registry_digest,
    tool: 'say',
    reports: null,
    executor,
  };
  const claims = [`execution:${intent_id}:${attempt}`, `capability:${capability_id}`];
  await store.commit({
    claims,
    events: [await statedBy(p.keyturn, { kind: 'execution.claimed', subject: intent_id, body })],
  });
  await store.close();
  return execution_id;
}

/** What a process leaves behind that begins to roll back the plan of an intent, and dies. */
export async function rollBackElsewhere(
  { keyturn, ada }: Project,
  store: Store,
  { intent_id }: { intent_id: string },
  executor: object = GONE_HOST,
): Promise<void> {
  const state = (await store.find('intent', intent_id))!;
  const run = state.runs.at(-1)!;
  const facts = {
    execution_id: run.execution_id,
    round: 1,
    checkpoints: [],
    except: [],
    undoes: undoesNow(state, run),
    executor,
    reason: 'a test',
  };
  const { origin } = await keyturn.system.get();
  const act = await signAct(origin, 'rollback.claimed', intent_id, facts as never, ada, new Date());
  await store.commit({ events: [await statedBy(keyturn, act)] });
  await store.close();
}
