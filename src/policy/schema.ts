/** In its place comes what the policies of a set declare, see `arguments.ts`. */
export const NO_ARGUMENTS = 'type Arguments = {};';

/**
 * What a policy can speak of, in Cedar's own words; published as schemas/keyturn.cedarschema. Every attribute is always
 * there. Only a human can approve or use break-glass: a policy that says otherwise does not fit this schema.
 */
export const CEDAR_SCHEMA = `// What a Keyturn policy can speak of. Every attribute is always there, so no policy needs \`has\`, but for the tools in
// context.arguments.
namespace Keyturn {
  // A User talks to the agent core and is not enrolled.
  entity Human, Agent, User = {
    name: String,
    roles: Set<String>,
    enrolled_by: String,
  };

  // A McpTool is a tool of an MCP server, called through the gate. What it reaches is what its server reaches.
  // A ClientTool is a tool that the program of an agent has itself, such as the Bash of Claude Code. That program runs it, and not Keyturn:
  // no sandbox, no approval and no output is known of it. Its name is the client and the tool in small letters: "claude-code.bash".
  entity Tool, Plan, McpTool, ClientTool = {
    name: String,
    sandboxed: Bool,
    network: Bool,
    // Paths that it may write: relative to the project beneath it, with "/" and no leading "./"; "." is all of the project,
    // and a path outside is absolute.
    writes: Set<String>,
    // Protected files that it may write: the paths of a plan; of a tool what its folders are, lie in or hold.
    protected: Set<String>,
    // "exact", "compensating" or "none".
    undo: String,
    // It may write a protected file. A tool without a sandbox can write everything: ask for sandboxed as well.
    elevated: Bool,
    // Every tool that would run, those of a pipeline's steps too, and the categories of these tools.
    tools: Set<String>,
    categories: Set<String>,
  };

  // A registered action of the agent core. What its effect reaches is as far as the registration tells.
  entity Simulation = {
    name: String,
    sandboxed: Bool,
    network: Bool,
    writes: Set<String>,
    protected: Set<String>,
    undo: String,
    elevated: Bool,
    tools: Set<String>,
    categories: Set<String>,
    version: Long,
    family: String,
    // "LOW", "MEDIUM" or "HIGH".
    risk: String,
    impactful: Bool,
    side_effecting: Bool,
    irreversible: Bool,
  };

  // The arguments of the tool call that is judged, by the name of the tool. A policy declares what it reads, in the words of
  // tools.yaml, and asks for the tool first:
  //   @arguments("pay.amount: integer, pay.to: string")
  //   when { context.arguments has pay && context.arguments.pay.amount > 100 }
  // "integer" is a Long, "number" a decimal, "string" and "path" are a String, "boolean" is a Bool, "list" a Set<String>. Defaults of
  // tools.yaml count as given. A call without a declared argument is denied, and so is one whose value has another type, or is a number
  // that a decimal cannot hold: more than four digits after the point, or beyond 922337203685477.5807. Nothing is rounded.
  // Each step of a pipeline is judged like a call of its own, and the plan around it once more without any; all of these must be allowed.
  // Empty for access: no values are known then.
  ${NO_ARGUMENTS}

  type Circumstances = {
    arguments: Arguments,
    // Where the effect may write, by the first part of each path: "docs" for docs/a.md, "a.md" for a file beside tools.yaml, "." for all of
    // the project, "/" for whatever lies outside of it. Without a sandbox it has both of these, and so has a simulation with a plan. Links
    // are followed before, so ["docs"].containsAll(context.writes_top) is: writes only beneath docs/.
    writes_top: Set<String>,

    // The intent.
    goal: String,
    // Such as "tool:deploy", "plan", or "mcp:files:write_file".
    action: String,
    requested_actions: Set<String>,
    // What the intent bounds itself to, and what it rules out, in the words of docs/cli.md. Both are held.
    scope: Set<String>,
    prohibitions: Set<String>,
    // Of a McpTool: the name of its server in keyturn.yaml, and of the tool as the server has it. Its arguments
    // are in context.arguments, by the name that the gate calls it, such as files__write_file; those that are objects cannot be read.
    // Of a ClientTool: "claude-code", "codex" or "gemini-cli", and the tool as the client has it. Its arguments are found by its name.
    // Empty for anything else.
    server: String,
    tool: String,
    // What the server itself claims in its annotations: "read_only", "destructive", "idempotent", "open_world". They are not checked.
    server_claims: Set<String>,
    // Of a McpTool: what the client of the agent answers to questions of the server ("responses"), and the state that it gives back
    // ("state"), as JSON in canonical form. The client's own words: nothing proves that a human typed them. Empty where there is neither.
    client_said: String,
    proposer: String,
    // "human" or "agent".
    proposer_kind: String,
    // The proposal is signed with its proposer's key.
    proposer_verified: Bool,
    // The user who asked the agent core has proven who they are. Always false today: a user is a name that the caller gives.
    user_verified: Bool,
    // No key proves who asked, and the one who acts now does so from the account of the operating system that proposed, or from one
    // that is not known: it may be the same person under another name.
    same_account: Bool,
    // A human's signed delegation covers this.
    delegated: Bool,
    // How long the intent lives, from its creation to its expiry.
    life_s: Long,
    attempt: Long,

    // The approvals. Only valid, live ones count, each person once.
    // Active humans that are enrolled.
    humans: Long,
    approvals: Long,
    approvers: Set<String>,
    approver_roles: Set<String>,
    // Names of the quorums of quorums.yaml that are met.
    quorums: Set<String>,
    // The lowest among the approvals: 1 by delegation, 2 with a passphrase, 3 with a passkey; 0 without any.
    assurance: Long,
    // The proposer is among the approvers, or may be, as with same_account.
    self_approved: Bool,

    // The capability that is asked for. 0 unless the action is grant.
    ttl_s: Long,
    scope_network: Bool,
    // Paths as in writes of the resource.
    scope_writes: Set<String>,
    // Every path of scope_writes and every folder above it: writes_in.contains("/etc") holds for a write to /etc/hosts.
    // What holds a path instead of lying in it is a folder above that path, or ".": ask scope_writes for those.
    writes_in: Set<String>,
    // No sandbox: it can write anything, whatever scope_writes says.
    unconfined: Bool,

    // Where and when, in UTC.
    environment: String,
    hour: Long,
    // "monday" to "sunday".
    weekday: String,
    epoch_s: Long,

    // Proposals of this proposer that wait for a human, and how many it made lately; of its account where no key proves the
    // name. 0 unless the action is submit.
    pending: Long,
    proposed_minute: Long,
    proposed_hour: Long,
    proposed_day: Long,
    // Capabilities issued to this proposer lately.
    pace_minute: Long,
    pace_hour: Long,
    pace_day: Long,
    // How long it has been running; 0 before it starts.
    running_s: Long,
    // How long it has waited for a human since it was proposed; 0 unless the action is review.
    waited_s: Long,
    frozen: Bool,
  };

  // Scope "review". Who is asked to look at what waits for a human? It gives no right, and takes none: where no policy permits it to a human
  // who could approve, all of them are asked.
  action review appliesTo { principal: [Human], resource: [Tool, Plan, McpTool], context: Circumstances };
  // Scope "intent".
  action submit appliesTo { principal: [Human, Agent], resource: [Tool, Plan, McpTool], context: Circumstances };
  action approve appliesTo { principal: [Human], resource: [Tool, Plan, McpTool], context: Circumstances };
  // May this user have this simulation? An agent is no user. With @needs("approver") a forbid asks for a human's approval instead of saying no.
  action access appliesTo { principal: [Human, User], resource: [Simulation], context: Circumstances };
  // Scope "capability".
  action grant appliesTo { principal: [Human, Agent], resource: [Tool, Plan, McpTool], context: Circumstances };
  // Scope "execution". Asked before it starts, and while it runs.
  action execute appliesTo { principal: [Human, Agent], resource: [Tool, Plan, McpTool], context: Circumstances };
  // Scope "execution". May a client run a tool of its own, which Keyturn cannot hold? Asked by \`keyturn hook\`; no human approves it.
  action pass appliesTo { principal: [Human, Agent], resource: [ClientTool], context: Circumstances };
  // Scope "emergency".
  action break_glass appliesTo { principal: [Human], resource: [Tool, Plan, McpTool], context: Circumstances };
}
`;
