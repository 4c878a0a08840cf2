import { type AgentPlan, type AgentState, livePlan } from '../gate/agent-state.ts';
import type { AgentCurrentRow, AgentLedgerRow } from '../store/agent-tables.ts';
import { advance, answerNow } from './advance.ts';
import { confirm } from './confirm.ts';
import { type AgentContext, requireCorrelation } from './context.ts';
import { answer, ask } from './core.ts';
import { listIntakes, tellNews } from './intake.ts';
import { observedDispatch } from './observe.ts';
import {
  activateSimulation,
  boundNow,
  deprecateSimulation,
  disableSimulation,
  heldNow,
  listSimulations,
  registerSimulation,
} from './register.ts';
import { replayAgent } from './replay.ts';
import { requireSlo, slo, waive } from './slo.ts';
import { snapshotNow, snapshotRefs } from './snapshot.ts';
import { type KeyedTurn, turnKey } from './turn.ts';
import { undo } from './undo.ts';

export interface AgentStatus {
  readonly state: AgentState;
  readonly live: AgentPlan | null;
  readonly current: readonly AgentCurrentRow[];
  readonly ledger: readonly AgentLedgerRow[];
}

export interface ResumeRequest {
  readonly correlation_id: string;
  /** Whoever it is, it goes on for the user who asked. */
  readonly user_id?: string;
}

/** The rows of one correlation that are shown at once. */
const ROWS = 1000;

async function status(context: AgentContext, correlation_id: string): Promise<AgentStatus> {
  const { store } = context.journey;
  const state = await requireCorrelation(context, correlation_id, undefined);
  const current = await store.agentCurrent({ correlation_id });
  const ledger = await store.agentLedger({ correlation_id, limit: ROWS });
  return { state, live: livePlan(state), current, ledger };
}

type Rest<F> = F extends (context: AgentContext, ...rest: infer R) => infer A ? (...rest: R) => A : never;

/** Everything that a program asks of the agent core. */
export function openAgent(context: AgentContext) {
  const bound = <F extends (context: AgentContext, ...rest: never[]) => unknown>(act: F) =>
    ((...rest: never[]) => act(context, ...rest)) as Rest<F>;
  return {
    ask: bound(ask),
    answer: bound(answer),
    confirm: bound(confirm),
    resume: ({ correlation_id, user_id }: ResumeRequest) => advance(context, correlation_id, user_id),
    /** Where it stands. Nothing is done, and nothing is written. */
    now: async ({ correlation_id, user_id }: ResumeRequest) =>
      answerNow(context, await requireCorrelation(context, correlation_id, user_id)),
    undo: bound(undo),
    /** For a finder outside: what its packets name, and the key of the turn that they are for. */
    snapshot: bound(snapshotRefs),
    turnKey: async (turn: KeyedTurn) => turnKey(turn),
    /** The executor's own door. An envelope that is not what the ledger has planned is refused. */
    dispatch: bound(observedDispatch),
    status: bound(status),
    slo: bound(slo),
    requireSlo: bound(requireSlo),
    waive: bound(waive),
    replay: bound(replayAgent),
    registerSimulation: bound(registerSimulation),
    activateSimulation: bound(activateSimulation),
    deprecateSimulation: bound(deprecateSimulation),
    disableSimulation: bound(disableSimulation),
    boundNow: bound(boundNow),
    heldNow: bound(heldNow),
    listSimulations: bound(listSimulations),
    listIntakes: bound(listIntakes),
    tellNews: async (user_id: string) => tellNews(context, user_id, await snapshotNow(context)),
  };
}

export type AgentFace = ReturnType<typeof openAgent>;
