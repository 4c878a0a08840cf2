import { counted } from '../canonical/counted.ts';
import type { Body, EventKind } from '../event/event.ts';
import { type HumanAssurance, proofAssurance } from '../identity/assurance.ts';
import type { Entry } from '../ledger/entry.ts';
import { explain, type ReasonCode } from '../refusal.ts';

/** Every kind has its words. What is not about one intent is told by its name and its author. */
export function entrySentence({ kind, body }: Pick<Entry, 'kind' | 'body'>): string {
  const tell = Object.hasOwn(WORDS, kind) ? WORDS[kind as keyof typeof WORDS] : undefined;
  if (tell) return (tell as (body: unknown) => string)(body);
  const { by, reason } = body as { by?: unknown; reason?: unknown };
  return `${kind}${typeof by === 'string' ? ` by ${by}` : ''}${typeof reason === 'string' ? `: ${reason}` : ''}`;
}

function because(code: string): string {
  const { meaning } = explain(code as ReasonCode);
  return `${code}. ${meaning}`;
}

type Words = { readonly [K in EventKind]?: (body: Body<K>) => string };

const ACCESS = { ALLOW: 'Yes', DENY: 'No', AP_REQUIRED: 'Yes, once an approver has signed' } as const;

const WOULD = {
  run: 'let it run under a grant',
  ask: 'asked a human',
  deny: 'let no human approve it',
} as const;

const PROVEN_BY: Readonly<Record<HumanAssurance, string>> = {
  key_file: 'a passphrase',
  synced_passkey: 'a passkey that its maker can copy to other devices',
  device_bound_passkey: 'a passkey that never leaves its device',
};

const WORDS: Words = {
  'credential.added': ({ by, credential, reason }) =>
    `${by} added the credential "${credential.label}"${credential.kind === 'passkey' ? ', a passkey' : ''}: ${reason}`,
  'credential.revoked': ({ by, public_key, reason }) =>
    `${by} revoked the credential ${public_key}: ${reason}`,
  'token.added': ({ by, token_id, reason }) => `${by} added the token ${token_id}: ${reason}`,
  'token.revoked': ({ by, token_id, reason }) => `${by} revoked the token ${token_id}: ${reason}`,
  'head.accepted': ({ by, kept_size, forgets, reason }) =>
    `${by} accepted the ledger as it is${kept_size === null ? '' : `, although ${kept_size} entries were kept`}${forgets ? '; everything is frozen, and nothing that was proposed before runs' : ''}: ${reason}`,
  'intent.proposed': ({
    proposer,
    proposer_kind,
    proposer_signature,
    on_behalf_of,
    tool,
    replaces,
    alternates,
  }) =>
    `${proposer} (${proposer_kind}${proposer_signature === null ? ', by name only' : ', signed with its key'}) ` +
    `proposed ${tool}${alternates.length === 0 ? '' : `, or else ${alternates.map((one) => one.tool).join(', ')}`}` +
    `${on_behalf_of === null ? '' : `, asked for by ${on_behalf_of}`}` +
    `${replaces === null ? '' : `; it replaces ${replaces}`}`,
  'call.passed': ({ by, client, tool }) =>
    `the policies let ${client} run its own ${tool} for ${by}; Keyturn did not run it, and knows neither sandbox nor result`,
  'call.blocked': ({ by, client, tool, reason_code }) =>
    `${client} was not let run its own ${tool} for ${by}: ${because(reason_code)}`,
  'intent.refused': ({ reason_code }) => `it was refused: ${because(reason_code)}`,
  'intent.submitted': ({ by }) => `${by} submitted it`,
  'intent.withdrawn': ({ by, reason, receipt }) =>
    `${by} withdrew it${receipt === null ? ', signed with its key' : ', with the receipt of the proposal'}: ${reason}`,
  'intent.replaced': ({ by, replacement }) => `${by} replaced it by ${replacement}`,
  'intent.delegated': ({ by, delegation, approver, expires_at }) =>
    `${by} submitted it under the delegation ${delegation}` +
    `${approver === null ? '' : `, which counts as the approval of ${approver.by} until ${expires_at}`}`,
  'approval.granted': ({ by, expires_at, signature }) =>
    `${by} approved it until ${expires_at}, proven by ${PROVEN_BY[proofAssurance(signature)]}`,
  'approval.denied': ({ by, reason }) => `${by} rejected it: ${reason}`,
  'order.given': ({
    by,
    order_id,
    action,
    attempt,
    lapses_at,
    approves_until,
    holder,
    delegation,
    signature,
  }) =>
    `${by} ${approves_until === null ? '' : `approved it until ${approves_until}, proven by ${PROVEN_BY[proofAssurance(signature)]}, and `}` +
    `ordered one run of ${action}, attempt ${attempt}, to begin by ${lapses_at}; the order is ${order_id}` +
    `${holder === null ? '' : ', bound to the key of its holder'}` +
    `${delegation === null ? '' : `, under the delegation ${delegation}`}`,
  'order.denied': ({ order_id, reason_code }) => `the order ${order_id} was denied: ${because(reason_code)}`,
  'capability.issued': ({ capability_id, action, expires_at, break_glass }) =>
    `the capability ${capability_id} for ${action} was issued until ${expires_at}${break_glass ? ', BY BREAK-GLASS' : ''}`,
  'capability.denied': ({ by, reason_code }) => `${by} was denied a capability: ${because(reason_code)}`,
  'capability.revoked': ({ by, capability_id, reason }) =>
    `${by} revoked the capability ${capability_id}: ${reason}`,
  'break_glass.used': ({ by, attempt, reason }) =>
    `!!! ${by} USED BREAK-GLASS for attempt ${attempt}: ${reason}`,
  'execution.claimed': ({ execution_id, attempt, capability_id, tool, executor }) =>
    `the execution ${execution_id} of ${tool} began, attempt ${attempt}, ` +
    `with the capability ${capability_id}, on ${executor.host}`,
  'execution.checkpointed': ({ execution_id, manifest }) =>
    `the execution ${execution_id} backed up what it changes; the digest of its manifest is ${manifest}`,
  'execution.announced': ({ execution_id, journal }) =>
    `the execution ${execution_id} announced what it does next; the digest of its journal is ${journal}`,
  'execution.refused': ({ reason_code, capability_id }) =>
    `a run was refused${capability_id === null ? '' : ` with the capability ${capability_id}`}: ${because(reason_code)}`,
  'execution.stopped': ({ by, execution_id, reason }) =>
    `${by} stopped the execution ${execution_id}: ${reason}`,
  'violation.detected': ({ execution_id, reason_code, revoked }) =>
    `!!! VIOLATION during the execution ${execution_id}: ${because(reason_code)} ` +
    `${counted(revoked.length, 'outstanding capability', 'outstanding capabilities')} ${revoked.length === 1 ? 'was' : 'were'} revoked`,
  'execution.finished': ({ execution_id, result, exit_code, reason_code }) =>
    `the execution ${execution_id} ended: ${result}${exit_code === null ? '' : `, exit code ${exit_code}`}` +
    `${reason_code === null ? '' : `, ${because(reason_code)}`}`,
  'execution.resolved': ({ by, execution_id, outcome, reason }) =>
    `${by} settled the execution ${execution_id}: it ${outcome.replaceAll('_', ' ')}: ${reason}`,
  'retry.authorised': ({ by, attempt, tool, reason }) =>
    `${by} authorised attempt ${attempt} with ${tool}: ${reason}`,
  'rollback.claimed': ({ by, execution_id, except, reason }) =>
    `${by} began to roll back the execution ${execution_id}` +
    `${except.length === 0 ? '' : `, and leaves ${except.join(', ')} as it is`}: ${reason}`,
  'agent.received': ({ user_id, packet_kind, reason_code }) =>
    `${user_id} said something, and the finder answered ${packet_kind} (${reason_code})`,
  'agent.planned': ({ rolls_back, steps }) =>
    `a plan${rolls_back === null ? '' : ' to undo an earlier one'} was made: ${steps.map((step) => step.simulation).join(', ')}`,
  'agent.confirmed': ({ answer }) =>
    `the user answered the prompt: ${answer === 'AMBIGUOUS' ? 'neither a clear yes nor a clear no' : answer}`,
  'agent.access': ({ user_id, access_action, outcome }) =>
    `may ${user_id} do ${access_action}? ${ACCESS[outcome]}`,
  'agent.moved': ({ step_id, from, to, reason_code }) =>
    `${step_id === null ? 'the plan' : 'a step'} went from ${from} to ${to} (${reason_code})`,
  'backups.expired': ({ by, execution_id, bytes, gives_up_undo, reason }) =>
    `${by} let the backups of the execution ${execution_id} expire (${bytes} bytes)` +
    `${gives_up_undo ? ', AND GAVE UP ITS UNDO' : ''}: ${reason}`,
  'mcp.shadowed': ({ proposer, tool, would, would_code }) =>
    `SHADOW: ${proposer} called ${tool}, and it passed without an approval. The gate would have ${WOULD[would]}` +
    `${would_code === null ? '' : ` (${because(would_code)})`}`,
  'mcp.shadow_ended': ({ tool, result, reason_code }) =>
    `SHADOW: the call of ${tool} ended: ${result}${reason_code === null ? '' : `, ${because(reason_code)}`}`,
  'ledger.archived': ({ by, from, to, file, sha256, reason }) =>
    `${by} archived entries ${from} to ${to - 1} in ${file} (sha256 ${sha256}): ${reason}`,
  'object.expired': ({ by, bytes, reason }) => `${by} removed the object with gc (${bytes} bytes): ${reason}`,
  'rollback.finished': ({ execution_id, result }) => `the rollback of ${execution_id} ended: ${result}`,
};
