import type { ArgumentType } from './arguments.ts';
import { examine } from './examine.ts';
import { type Policy, speaksOf } from './policy.ts';
import { about, type PolicyProblem } from './problem.ts';
import { type PolicyAction, SCOPE_OF } from './request.ts';
import type { PolicySource } from './source.ts';

/** The parameters of a registered tool, or nothing where there is no such tool. */
export type Parameters = (
  tool: string,
) =>
  | Readonly<
      Record<string, { readonly type: ArgumentType; readonly required: boolean; readonly default?: unknown }>
    >
  | undefined;

/** All that is wrong with a policy set and all that is odd about it, errors first. */
export async function lint(
  source: PolicySource,
  parameters: Parameters = () => undefined,
): Promise<PolicyProblem[]> {
  const { policies, quorums, problems } = await examine(source);
  const names = new Set(quorums.map(({ name }) => name));
  const declared = declarationProblems(policies, parameters);
  return [
    ...problems.filter(({ severity }) => severity === 'error'),
    ...declared.filter(({ severity }) => severity === 'error'),
    ...problems.filter(({ severity }) => severity === 'warning'),
    ...declared.filter(({ severity }) => severity === 'warning'),
    ...neverPermitted(policies),
    ...policies.flatMap((policy) => [...unknownQuorums(policy, names), ...openBreakGlass(policy)]),
  ];
}

/** Where what policies declare of arguments is not what tools.yaml says. Calls of such a tool would be denied, or never be judged. */
export function declarationProblems(policies: readonly Policy[], parameters: Parameters): PolicyProblem[] {
  return policies.flatMap((policy) =>
    policy.arguments.flatMap(({ tool, parameter, type }): PolicyProblem[] => {
      const takes = parameters(tool);
      if (takes === undefined)
        return [
          about(policy, `reads arguments of the tool "${tool}", which tools.yaml does not have`, 'warning'),
        ];
      if (!Object.hasOwn(takes, parameter))
        return [about(policy, `reads "${parameter}" of the tool "${tool}", which has no such parameter`)];
      const is = takes[parameter]!;
      if (is.type !== type)
        return [about(policy, `reads "${tool}.${parameter}" as ${type}, and tools.yaml says ${is.type}`)];
      if (is.required || is.default !== undefined) return [];
      return [about(policy, `reads "${tool}.${parameter}": a call that leaves it out is denied`, 'warning')];
    }),
  );
}

/** Nothing works without these. Without a permit for break_glass there is no break-glass, which is the safe default. */
const NEEDED: readonly PolicyAction[] = ['submit', 'approve', 'grant', 'execute'];

function neverPermitted(policies: readonly Policy[]): PolicyProblem[] {
  if (policies.length === 0) return [ofTheSet('There are no policies, so everything is denied')];
  return NEEDED.filter((action) => !policies.some((policy) => permits(policy, action))).map((action) =>
    ofTheSet(`No policy of the scope ${SCOPE_OF[action]} permits "${action}", so it is always denied`),
  );
}

function permits(policy: Policy, action: PolicyAction): boolean {
  return policy.effect === 'permit' && policy.scope === SCOPE_OF[action] && speaksOf(policy, action);
}

function unknownQuorums(policy: Policy, names: ReadonlySet<string>): PolicyProblem[] {
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
function openBreakGlass(policy: Policy): PolicyProblem[] {
  const { scope, effect, actions } = policy;
  if (scope !== 'emergency' || effect !== 'permit' || actions !== null) return [];
  return [about(policy, 'permits break_glass and nothing else; name that action', 'warning')];
}

function ofTheSet(message: string): PolicyProblem {
  return { file: 'policies', line: 1, policy: null, message, severity: 'warning' };
}
