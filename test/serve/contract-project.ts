import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { once } from '../../src/canonical/once.ts';
import type { OpenKey } from '../../src/identity/act.ts';
import { askedFor, furnish, yes as saidYes } from '../agent/agent-place.ts';
import { human, named, PERMITS, policy, proposeSay, rules, yes } from '../journey/authority.ts';
import { create, planOf, specOf } from '../journey/plan-story.ts';
import { accepted, SERVERS, writeServers } from '../mcp-call/servers.ts';
import { found, type Intent, type Project, writeRegistry } from '../support/project.ts';
import { scratch } from '../support/scratch.ts';
import { runSeen } from '../support/seen.ts';
import { withToken } from './service.ts';

export interface Furnished extends Project {
  readonly token: string;
  readonly states: States;
}

const SETTINGS = `version: 1
service: { requests_minute: 10000000, at_once: 4 }
proposals: { pending: 10000, minute: 100000 }
`;

const UNDONE = `
  - name: pay
    summary: Pays.
    executable: /usr/bin/true
    args: ["{to}"]
    parameters: { to: { type: string, max_length: 20 } }
    sandbox: none
    undo: compensating
    undone_by: { tool: refund, arguments: { from: "{to}" } }
  - name: refund
    summary: Takes it back.
    executable: /usr/bin/true
    args: ["{from}"]
    parameters: { from: { type: string, max_length: 20 } }
    sandbox: none
    undo: none
`;

const GLASS = policy(
  'break_glass',
  'emergency',
  'permit (principal, action == Keyturn::Action::"break_glass", resource);',
);

/** A project in which everything that can be asked about is there once: people, agents, runs, plans, conversations, a server. */
export async function furnished(): Promise<Furnished> {
  const root = scratch();
  appendFileSync(join(root, 'keyturn.yaml'), SETTINGS);
  const passed = { pass: ['resources'], timeout_s: 1 };
  const servers = {
    every: { script: SERVERS.everything, more: passed },
    odd: { script: SERVERS.odd, args: ['plain', '{files}/log'], more: passed },
  };
  writeServers(root, servers, root);
  const p = await found(root);
  onTestFinished(() => p.keyturn.close());
  await furnish(p);
  writeRegistry(root, `${readFileSync(join(root, 'tools.yaml'), 'utf8')}${UNDONE}`);
  const { token, token_id } = await withToken(p, 'bot');
  for (const server of ['every', 'odd']) await accepted(p.keyturn, server, p.ada);
  const told = await askedFor(p.keyturn, 'append a notebook line "x"');
  await saidYes(p.keyturn, told);
  // It fails, and so a figure of the agent core is breached.
  const failed = await p.keyturn.conversations.ask({ user_id: 'ada', utterance: 'break the old engine' });
  const bo = await human(p, 'bo');
  await rules(p, `${PERMITS}\n${GLASS}`);
  const known = { token_id, correlation_id: told.correlation_id, erased_id: failed.correlation_id };
  return { ...p, token, states: statesOf(p, bo, known) };
}

export const toolCall = (tool: string, args: object) => ({ kind: 'tool' as const, tool, arguments: args });

/** What is known of the project, and what makes more of it. */
function statesOf(p: Project, bo: OpenKey, known: Known) {
  const { keyturn, ada } = p;
  const waiting = (over: object = {}) => proposeSay(p, { issuer: 'bot', ...over });
  const turned = async (over: object = {}) => {
    const intent = await waiting(over);
    const { capability_id } = await keyturn.intents.turn({ ...intent, signer: ada });
    return { ...intent, capability_id };
  };
  const ran = async (over: object = {}) => {
    const intent = await turned(over);
    const { execution_id } = await runSeen(keyturn, { ...named(intent), confirm: yes });
    return { ...intent, execution_id };
  };
  const reason = 'a test';
  const erased = once(async () => {
    const run = await ran({ effect: toolCall('say', { word: 'secret' }) });
    const undo = [run.execution_id];
    await keyturn.ledger.erase({ digest: run.hash, undo, reason, signer: ada });
    return run;
  });
  const erasedTalk = once(async () => {
    await eraseTalk(p, known.erased_id);
    return known.erased_id;
  });
  let made = 0;
  const planned = async () => {
    made += 1;
    const spec = await specOf(p, planOf([create('a1', `plans/new-${made}.txt`)]));
    return { kind: 'plan' as const, ...spec };
  };
  const ranPlan = async () => ran({ declared_goal: 'Change files', effect: await planned() });
  const delegated = async () =>
    keyturn.agents.delegate({
      ...{ delegate: 'bo', actions: ['tool:say'], approves: true, ttl_s: 3600, reason, signer: ada },
    });
  return {
    ...{ p, bo, ...known, waiting, turned, ran, erased, erasedTalk, planned, ranPlan, delegated },
    planPath: () => `plans/new-${made}.txt`,
    going: async () => going(p, await turned({ effect: toolCall('wait', { seconds: 60 }) })),
    decision: () => decisionOf(p),
    otherHead: () => otherHead(p),
  };
}

export type States = ReturnType<typeof statesOf>;

interface Known {
  readonly token_id: string;
  readonly correlation_id: string;
  /** A conversation that may be erased. */
  readonly erased_id: string;
}

/** A run of a minute, once it is claimed. */
async function going({ keyturn }: Project, intent: Intent) {
  let begun = (_: string) => {};
  const claimed = new Promise<string>((done) => {
    begun = done;
  });
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const ended = runSeen(keyturn, {
    ...named(intent),
    confirm: yes,
    onClaimed: begun,
    abort: stop.signal,
  }).catch(() => {});
  return { execution_id: await claimed, ended };
}

/** A head of another size, which no key signed. */
async function otherHead({ keyturn }: Project): Promise<string> {
  const { text } = await keyturn.ledger.head();
  return text.replace(/\n[0-9]+\n/, '\n99999\n');
}

async function decisionOf({ keyturn }: Project): Promise<string> {
  const { entries } = await keyturn.ledger.entries({ kind: 'approval.granted' });
  return (entries[0]!.body as { decision: string }).decision;
}

/** Erases what was said in a conversation, as far as that may be erased. */
async function eraseTalk({ keyturn, ada }: Project, correlation_id: string): Promise<void> {
  const { entries } = await keyturn.ledger.entries({ subject: `agent:${correlation_id}`, limit: 200 });
  const texts = entries.map(({ body }) => JSON.stringify(body));
  for (const digest of new Set(texts.flatMap((text) => text.match(/[0-9a-f]{64}/g) ?? []))) {
    const found = await keyturn.ledger.explainErase({ digest }).catch(() => null);
    if (found === null || found.kept !== null) continue;
    const { holders, undo } = found;
    await keyturn.ledger.erase({ digest, holders, undo, reason: 'a test', signer: ada }).catch(() => {});
  }
}
