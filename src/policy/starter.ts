/** The policies that `init` writes: few, short, and on the safe side. They are Cedar, so every editor for it helps. */

/** It reads who has approved, and of most effects nothing depends on that. `reads.ts` knows it by its text. */
export const TWO_FOR_ELEVATED = `@id("two-for-elevated")
@version("2")
@scope("capability")
@rationale("What may write a protected file needs two people. Who works alone has no other to ask about a tool.")
forbid (principal, action == Keyturn::Action::"grant", resource)
when { resource.elevated }
unless { context.quorums.contains("two-humans") || (context.humans == 1 && !(resource is Keyturn::Plan)) };`;

export const STARTER_POLICIES = `// Who may do what, in Cedar (https://docs.cedarpolicy.com). What no policy permits is denied; a forbid beats every permit.
// Every policy says which one it is (@id), which edition (@version), when it is asked (@scope) and why (@rationale).
//   intent:     submit, approve       an intent comes in; a person approves it
//               access                a user asks the agent core for a simulation
//   capability: grant                 a short-lived permission to run it once
//   execution:  execute               before it starts, and while it runs
//               pass                  a client wants to run a tool of its own (keyturn hook); docs/hook.md has examples
//   emergency:  break_glass           and its forbids hold for every action, always
// A forbid of access with @needs("approver") asks for a human's approval instead of saying no.
// A policy that reads arguments of tools declares them, @arguments("pay.amount: integer"), and finds them in context.arguments.
// What a policy can speak of: schemas/keyturn.cedarschema and docs/policies.md. After a change: \`keyturn policy check\`, \`keyturn policy test\`,
// \`keyturn policy diff\`, and a human runs \`keyturn policy activate\`. Until then the old policies hold.

// --- intent ---------------------------------------------------------------------------------------------------------

@id("humans-submit")
@version("1")
@scope("intent")
@rationale("A human may submit an intent.")
permit (principal is Keyturn::Human, action == Keyturn::Action::"submit", resource);

@id("delegated-agents-submit")
@version("1")
@scope("intent")
@rationale("An agent may submit what a human has delegated to it.")
permit (principal is Keyturn::Agent, action == Keyturn::Action::"submit", resource)
when { context.delegated };

@id("humans-approve")
@version("1")
@scope("intent")
@rationale("A human may approve.")
permit (principal is Keyturn::Human, action == Keyturn::Action::"approve", resource);

@id("no-self-approval")
@version("2")
@scope("intent")
@rationale("A proposal is approved by another person, under whatever name. Who works alone has no other to ask.")
forbid (principal, action == Keyturn::Action::"approve", resource)
when { context.humans > 1 && (principal.name == context.proposer || context.same_account) };

@id("enrolled-access")
@version("1")
@scope("intent")
@rationale("A human who is enrolled may have any simulation that a human activated.")
permit (principal is Keyturn::Human, action == Keyturn::Action::"access", resource);

@id("approver-for-high-risk")
@version("1")
@scope("intent")
@needs("approver")
@rationale("What is risky or cannot be taken back waits for a human who signs it.")
forbid (principal, action == Keyturn::Action::"access", resource)
when { resource.risk == "HIGH" || resource.irreversible };

// --- capability -----------------------------------------------------------------------------------------------------

@id("humans-grant")
@version("1")
@scope("capability")
@rationale("A human may have a capability for an approved intent.")
permit (principal is Keyturn::Human, action == Keyturn::Action::"grant", resource);

@id("delegated-agents-grant")
@version("1")
@scope("capability")
@rationale("An agent may have a capability for what a human has delegated to it.")
permit (principal is Keyturn::Agent, action == Keyturn::Action::"grant", resource)
when { context.delegated };

@id("short-without-undo")
@version("1")
@scope("capability")
@rationale("For what cannot be undone a capability lives 15 minutes at most.")
forbid (principal, action == Keyturn::Action::"grant", resource)
when { resource.undo == "none" && context.ttl_s > 900 };

${TWO_FOR_ELEVATED}

// --- execution ------------------------------------------------------------------------------------------------------

@id("execute-with-capability")
@version("1")
@scope("execution")
@rationale("What has a valid capability may run.")
permit (principal, action == Keyturn::Action::"execute", resource);

// --- emergency ------------------------------------------------------------------------------------------------------
// Nothing yet. Two examples:
//
// @id("agents-stopped")
// @version("1")
// @scope("emergency")
// @rationale("All agents stand still until the incident is understood.")
// forbid (principal is Keyturn::Agent, action, resource);
//
// @id("two-use-break-glass")
// @version("1")
// @scope("emergency")
// @rationale("Two people together may run something although it is frozen.")
// permit (principal is Keyturn::Human, action == Keyturn::Action::"break_glass", resource)
// when { context.quorums.contains("two-humans") };
`;

export const STARTER_QUORUMS = `# Who must have approved, by name. A policy asks: context.quorums.contains("two-humans")
two-humans: { any: 2 }
# two-of-three: { any: 2, of: [alice, bob, carol] }
# One person fills one seat, whatever roles they have:
# dev-and-ops: { each: [{ any: 1, role: dev }, { any: 1, role: ops }] }
`;

export const STARTER_TESTS = `# What the policies must decide. \`keyturn policy test\` asks every question. What a row leaves out has a plain default:
# a sandboxed tool that can be undone, two humans enrolled, no approval yet, Wednesday noon.
- name: a human submits
  action: submit
  principal: { kind: human, name: alice }
  expect: allow
  by: humans-submit

- name: an agent submits what was delegated
  action: submit
  principal: { kind: agent, name: robot }
  context: { delegated: true }
  expect: allow
  by: delegated-agents-submit

- name: an agent submits on its own
  action: submit
  principal: { kind: agent, name: robot }
  expect: deny

- name: a human approves
  action: approve
  principal: { kind: human, name: alice }
  expect: allow
  by: humans-approve

- name: a human approves their own proposal
  action: approve
  principal: { kind: human, name: alice }
  context: { proposer: alice, proposer_kind: human }
  expect: deny
  by: no-self-approval

- name: a proposal in a name that no key proves, from the account that approves
  action: approve
  principal: { kind: human, name: alice }
  context: { proposer: bob, proposer_kind: human, same_account: true }
  expect: deny
  by: no-self-approval

- name: a human who works alone approves their own proposal
  action: approve
  principal: { kind: human, name: alice }
  context: { proposer: alice, proposer_kind: human, same_account: true, humans: 1 }
  expect: allow
  by: humans-approve

- name: a human has a simulation
  action: access
  principal: { kind: human, name: alice }
  resource: { risk: MEDIUM }
  expect: allow
  by: enrolled-access

- name: a user who is not enrolled has a simulation
  action: access
  principal: { kind: user, name: stranger }
  expect: deny

- name: a simulation of high risk without an approver
  action: access
  principal: { kind: human, name: alice }
  resource: { risk: HIGH }
  expect: deny
  by: approver-for-high-risk

- name: a simulation that cannot be taken back without an approver
  action: access
  principal: { kind: human, name: alice }
  resource: { irreversible: true }
  expect: deny
  by: approver-for-high-risk

- name: a human is granted five minutes
  action: grant
  principal: { kind: human, name: alice }
  expect: allow
  by: humans-grant

- name: an agent is granted what was delegated
  action: grant
  principal: { kind: agent, name: robot }
  context: { delegated: true }
  expect: allow
  by: delegated-agents-grant

- name: an agent is granted something on its own
  action: grant
  principal: { kind: agent, name: robot }
  expect: deny

- name: half an hour for what cannot be undone
  action: grant
  principal: { kind: human, name: alice }
  resource: { undo: none }
  context: { ttl_s: 1800 }
  expect: deny
  by: short-without-undo

- name: something elevated with one approval
  action: grant
  principal: { kind: human, name: alice }
  resource: { elevated: true }
  approvers: [{ name: bob }]
  expect: deny
  by: two-for-elevated

- name: a plan on protected files with one approval, where there is one human
  action: grant
  principal: { kind: human, name: alice }
  resource: { kind: plan, name: plan, protected: [package.json] }
  approvers: [{ name: alice }]
  context: { humans: 1 }
  expect: deny
  by: two-for-elevated

- name: a tool that may write protected files, where there is one human
  action: grant
  principal: { kind: human, name: alice }
  resource: { writes: [.], protected: [.env] }
  approvers: [{ name: alice }]
  context: { humans: 1 }
  expect: allow

- name: something elevated with two approvals
  action: grant
  principal: { kind: human, name: alice }
  resource: { elevated: true }
  approvers: [{ name: bob }, { name: carol }]
  expect: allow

- name: a run with a valid capability
  action: execute
  principal: { kind: agent, name: robot }
  expect: allow
  by: execute-with-capability

- name: break-glass is denied
  action: break_glass
  principal: { kind: human, name: alice }
  approvers: [{ name: bob }, { name: carol }]
  context: { frozen: true }
  expect: deny
`;
