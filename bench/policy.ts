import { cedarCall } from '../src/policy/call.ts';
import { loadCedar } from '../src/policy/cedar.ts';
import { openEngine } from '../src/policy/engine.ts';
import type { PolicyRequest } from '../src/policy/request.ts';
import { CEDAR_SCHEMA } from '../src/policy/schema.ts';
import { parsePolicySet } from '../src/policy/set.ts';
import type { Sizes } from './sizes.ts';
import type { Row } from './table.ts';
import { timed, usual } from './timing.ts';
import type { Workshop } from './workshop.ts';

const POLICIES = [50];
const DECISIONS = 200;
const MOST = 1.3;

export const policyFigure = {
  name: 'policy decision',
  rows: (_: Workshop, sizes: Sizes) => policyRows(POLICIES, sizes),
};

export async function policyRows(counts: readonly number[], { policy_rounds }: Sizes): Promise<Row[]> {
  const rows: Row[] = [];
  for (const count of counts) rows.push(await decisionRow(count, policy_rounds));
  return rows;
}

/** The same question to the same policies, ours and Cedar's own call in turn. */
async function decisionRow(count: number, rounds: number): Promise<Row> {
  const set = await parsePolicySet({
    files: [{ name: 'bench.cedar', text: policyTexts(count) }],
    quorums: null,
    tests: null,
  });
  const engine = await openEngine(set);
  const cedar = await loadCedar();
  cedar.preparseSchema('bare', CEDAR_SCHEMA);
  const staticPolicies = Object.fromEntries(set.policies.map(({ id, text }) => [id, text]));
  cedar.preparsePolicySet('bare', { staticPolicies });
  const call = cedarCall(REQUEST, {}, 'bare', 'bare');
  const ours = () => engine.decide(REQUEST);
  const bare = () => cedar.statefulIsAuthorized(call);
  if (!ours().allowed || set.policies.length !== count) throw new Error('the bench asks the wrong question');
  const times: { ours_us: number; bare_us: number }[] = [];
  for (let round = 0; round < rounds; round++)
    times.push({ bare_us: await each_us(bare), ours_us: await each_us(ours) });
  return rowOf(count, usual(times.map(({ ours_us }) => ours_us)), usual(times.map(({ bare_us }) => bare_us)));
}

async function each_us(act: () => unknown): Promise<number> {
  const total_ms = await timed(() => {
    for (let i = 0; i < DECISIONS; i++) act();
  });
  return (total_ms * 1000) / DECISIONS;
}

function rowOf(count: number, ours_us: number, bare_us: number): Row {
  const ratio = ours_us / bare_us;
  return {
    figure: `policy decision over ${count} policies`,
    measured: `${ratio.toFixed(2)} x`,
    asked: `<= ${MOST}`,
    verdict: ratio <= MOST ? 'ok' : 'MISSED',
    baseline: `${ours_us.toFixed(0)} us against ${bare_us.toFixed(0)} us for the bare preparsed call`,
  };
}

/** One permit, and forbids that all look at the request and let it pass. Every tenth is an emergency. */
function policyTexts(count: number): string {
  return Array.from({ length: count }, (_, i) => {
    const scope = i % 10 === 9 ? 'emergency' : 'capability';
    const head = `@id("p${i}") @version("1") @scope("${scope}") @rationale("A rule of the bench.")`;
    return i === 0
      ? `${head} permit (principal, action == Keyturn::Action::"grant", resource);`
      : `${head} forbid (principal, action, resource) when { context.ttl_s > ${3600 + i} || context.goal like "*never ${i}*" };`;
  }).join('\n');
}

const REQUEST: PolicyRequest = {
  action: 'grant',
  principal: { kind: 'human', name: 'alice', roles: ['dev', 'ops'], enrolled_by: 'root' },
  resource: {
    kind: 'tool',
    name: 'deploy',
    sandboxed: true,
    network: true,
    writes: ['/srv/site'],
    undo: 'compensating',
    elevated: false,
    protected: [],
    tools: ['deploy'],
    categories: [],
  },
  context: {
    goal: 'Put the new version of the site on the servers',
    action: 'tool:deploy',
    requested_actions: ['tool:deploy'],
    scope: [],
    prohibitions: ['tool:delete'],
    calls: [{ tool: 'deploy', arguments: {} }],
    server: '',
    tool: '',
    server_claims: [],
    client_said: '',
    proposer: 'robot',
    proposer_kind: 'agent',
    proposer_verified: true,
    user_verified: false,
    same_account: false,
    delegated: true,
    life_s: 86_400,
    attempt: 1,
    humans: 4,
    approvals: 2,
    approvers: ['bob', 'carol'],
    approver_roles: ['dev', 'ops'],
    quorums: ['dev-and-ops', 'two-humans'],
    assurance: 2,
    self_approved: false,
    ttl_s: 300,
    scope_network: true,
    scope_writes: ['/srv/site'],
    unconfined: false,
    environment: 'production',
    hour: 10,
    weekday: 'tuesday',
    epoch_s: 1_767_700_800,
    pending: 0,
    proposed_minute: 0,
    proposed_hour: 0,
    proposed_day: 0,
    pace_minute: 0,
    pace_hour: 2,
    pace_day: 9,
    running_s: 0,
    waited_s: 0,
    frozen: false,
  },
};
