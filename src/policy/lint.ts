import { examine, type PolicySource } from './examine.ts';
import { type Policy, speaksOf } from './policy.ts';
import { about, type Problem } from './problem.ts';
import { type PolicyAction, SCOPE_OF } from './request.ts';

/** All that is wrong with a policy set and all that is odd about it, errors first. */
export async function lint(source: PolicySource): Promise<Problem[]> {
  const { policies, quorums, problems } = await examine(source);
  const names = new Set(quorums.map(({ name }) => name));
  return [
    ...problems,
    ...neverPermitted(policies),
    ...policies.flatMap((policy) => [...unknownQuorums(policy, names), ...openGlass(policy)]),
  ];
}

/** Nobody can work without these. Without a permit to break the glass it stays whole, which is as it should be. */
const NEEDED: readonly PolicyAction[] = ['submit', 'approve', 'grant', 'execute'];

function neverPermitted(policies: readonly Policy[]): Problem[] {
  if (policies.length === 0) return [ofTheSet('There are no policies, so everything is denied')];
  return NEEDED.filter((action) => !policies.some((policy) => permits(policy, action))).map((action) =>
    ofTheSet(`No policy of the scope ${SCOPE_OF[action]} permits "${action}", so it is always denied`),
  );
}

function permits(policy: Policy, action: PolicyAction): boolean {
  return policy.effect === 'permit' && policy.scope === SCOPE_OF[action] && speaksOf(policy, action);
}

function unknownQuorums(policy: Policy, names: ReadonlySet<string>): Problem[] {
  return policy.quorums
    .filter((name) => !names.has(name))
    .map((name) =>
      about(
        policy,
        `asks for the quorum "${name}", which quorums.yaml does not have: it is never met`,
        'warning',
      ),
    );
}

/** It reads as if it permitted everything, and it permits the one thing that should be rare. */
function openGlass(policy: Policy): Problem[] {
  const { scope, effect, actions } = policy;
  if (scope !== 'emergency' || effect !== 'permit' || actions !== null) return [];
  return [about(policy, 'permits break_glass and nothing else; name that action', 'warning')];
}

function ofTheSet(message: string): Problem {
  return { file: 'policies', line: 1, policy: null, message, severity: 'warning' };
}
