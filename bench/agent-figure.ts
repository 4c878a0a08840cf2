import { join } from 'node:path';
import type { DispatchTimes, RebuildTimes } from './agent.ts';
import type { Sizes } from './sizes.ts';
import type { Row } from './table.ts';
import type { Workshop } from './workshop.ts';

export const AGENT = { name: 'agent', rows: agentRows };

async function agentRows({ folder, ask }: Workshop, { dispatches, agent_rows }: Sizes): Promise<Row[]> {
  const dispatch = await ask('measureDispatches', { root: join(folder, 'agent'), runs: dispatches });
  const rebuild = await ask('measureAgentRebuild', { root: join(folder, 'agent-rows'), rows: agent_rows });
  return [dispatchRow(dispatch), rebuildRow(rebuild)];
}

function dispatchRow({ dispatch_ms, slow_ms, bare_ms, commit_ms }: DispatchTimes): Row {
  const added_ms = dispatch_ms - bare_ms;
  const budget_ms = 6 * commit_ms + 8;
  return {
    figure: 'agent: goal, yes and dispatch of a no-op, p50, beyond the bare spawn',
    measured: `+${added_ms.toFixed(1)} ms`,
    asked: `<= ${budget_ms.toFixed(1)} ms`,
    verdict: added_ms <= budget_ms ? 'ok' : 'MISSED',
    baseline: `${dispatch_ms.toFixed(1)} ms against ${bare_ms.toFixed(1)} ms (p99 ${slow_ms.toFixed(1)} ms); asked is 6 commits of ${commit_ms.toFixed(2)} ms + 8 ms`,
  };
}

function rebuildRow({ rows, entries, rebuild_ms, verify_ms }: RebuildTimes): Row {
  const ratio = rebuild_ms / verify_ms;
  return {
    figure: `agent: rebuild of ${rows.toLocaleString('en')} ledger rows`,
    measured: `${ratio.toFixed(2)} x`,
    asked: '<= 3',
    verdict: ratio <= 3 ? 'ok' : 'MISSED',
    baseline: `${rebuild_ms.toFixed(0)} ms against ${verify_ms.toFixed(0)} ms for ledger verify of their ${entries.toLocaleString('en')} entries`,
  };
}
