import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { VERBS } from '../../src/face/verbs.ts';
import type { Face } from '../../src/keyturn.ts';
import { Refusal } from '../../src/refusal.ts';
import { agent, authority, human } from '../journey/authority.ts';
import type { Project } from '../support/project.ts';

export const PROPOSERS = ['scout', 'probe', 'ben'] as const;
export type Proposer = (typeof PROPOSERS)[number];

interface Proposed {
  readonly proposer: Proposer;
  readonly intent_id: string;
  /** What tells of it: its id, its goal, its argument. */
  readonly marks: readonly string[];
}

const NONE = '00000000-0000-4000-8000-000000000000';

/** Of a file whose text is the id of an intent and its goal: a refusal that names what is there, or how often, would tell of it. */
const FILE = 'notes-of-others.json';
const edit = (operation: object) => ({
  action_id: 'a1',
  action_type: 'FILE_MODIFY',
  target: FILE,
  operation,
});
const search = (pattern: string) =>
  edit({ type: 'text_replace', pattern, replacement: '', regex: true, expected_matches: 99 });
const PLANS = [
  search('goal-[0-9]'),
  search('nothing'),
  edit({ type: 'json_update_value', path: '$.nothing', value: 1 }),
  edit({ type: 'line_delete', start_line: 99, end_line: 99 }),
].map((action) => ({ plan_id: 'x', action_plan: [action], execution_instructions: {} }));
const GUESSES = PLANS.map((plan) => JSON.stringify(plan));

/** What is asked of each verb that an agent may call, about an intent. A verb that is not here fails the test. */
const ASKED: Readonly<Record<string, (intent_id: string) => readonly object[]>> = {
  'intents.propose': (id) => [
    ...['replaces', 'undoes', 'intent_id'].map((by) => ({
      declared_goal: 'again',
      effect: { kind: 'tool', tool: 'say', arguments: { word: 'again' } },
      [by]: id,
    })),
    ...PLANS.map((plan) => ({
      declared_goal: 'again',
      effect: { kind: 'plan', plan, config: null, task_id: 'x' },
    })),
  ],
  'intents.undo': (intent_id) => [{ intent_id }],
  'intents.withdraw': (intent_id) => [{ intent_id, reason: 'x', receipt: 'r'.repeat(43) }],
  'intents.get': (intent_id) => [{ intent_id }],
  'intents.result': (intent_id) => [{ intent_id }],
  'intents.twin': (intent_id) => [{ intent_id }],
  'intents.waitFor': (intent_id) => [{ intent_id, signal: AbortSignal.timeout(20) }],
  'intents.previewSubmit': (intent_id) => [{ intent_id, delegation: NONE }],
  'intents.submit': (intent_id) => [{ intent_id, hash: 'a'.repeat(64), delegation: NONE }],
  'intents.grant': (intent_id) => [{ intent_id, hash: 'a'.repeat(64), delegation: NONE }],
  'agents.delegate': (delegation) => [
    { delegate: 'scout', actions: ['tool:say'], ttl_s: 60, reason: 'x', delegation },
  ],
  'intents.list': () => [
    {},
    { limit: 1 },
    { text: 'goal' },
    { tool: 'say' },
    { status_word: 'waiting' },
    { status_word: 'expired', tool: 'say' },
    { until: '2999-01-01T00:00:00.000Z' },
    ...['scout', 'probe', 'ben', 'ada'].flatMap((proposer) => [{ proposer }, { needs: proposer }]),
  ],
  'plans.read': () => [{ plan: '' }],
  'plans.validate': () => [{ plan: '' }, ...GUESSES.map((plan) => ({ plan }))],
  'runs.progress': (execution_id) => [{ execution_id }],
  'tools.list': () => [{}],
  'tools.arguments': () => [{ tool: 'say', texts: { word: 'x' } }],
  'tools.pass': (id) => [{ client: 'claude', tool: 'Read', arguments: { path: id } }],
  'mcp.tools': () => [{}],
  'mcp.call': (id) => [
    { declared_goal: 'x', effect: { kind: 'mcp', server: 'nobody', tool: 'x', arguments: { id } } },
  ],
  'runs.cancel': (execution_id) => [{ execution_id }],
  'mcp.question': (intent_id) => [{ intent_id }],
  'mcp.keep': (intent_id) => [{ intent_id, answers: { a: {} } }],
  'mcp.ask': (id) => [{ server: 'nobody', method: 'resources/read', params: { uri: id } }],
  'mcp.pass': (id) => [
    { declared_goal: 'x', effect: { kind: 'mcp', server: 'nobody', tool: 'x', arguments: { id } } },
  ],
  'mcp.answered': (intent_id) => [{ intent_id }],
};

/** The answer as a text, or the refusal with all that it says. */
async function answerOf(face: Face, verb: string, request: object): Promise<string> {
  const [namespace, name] = verb.split('.') as [keyof Face, string];
  const methods = face[namespace] as unknown as Record<string, (request: object) => Promise<unknown>>;
  try {
    return JSON.stringify(await methods[name]!(request));
  } catch (error) {
    // An own intent is waited for until the time is over.
    if (error instanceof DOMException && error.name === 'TimeoutError') return '';
    if (!(error instanceof Refusal)) throw error;
    return JSON.stringify([error.code, error.message, error.facts]);
  }
}

export async function proposeAll(p: Project, proposers: readonly Proposer[]): Promise<Proposed[]> {
  const all: Proposed[] = [];
  for (const [i, proposer] of proposers.entries()) {
    const marks = [`goal-${i}-of-${proposer}`, `word-${i}-of-${proposer}`] as const;
    const effect = { kind: 'tool', tool: 'say', arguments: { word: marks[1] } } as const;
    const draft = { declared_goal: marks[0], effect, issuer: proposer };
    const { intent_id } = await p.keyturn.intents.propose(draft);
    all.push({ proposer, intent_id, marks: [intent_id, ...marks] });
  }
  return all;
}

const open = Object.entries(VERBS).flatMap(([namespace, verbs]) =>
  Object.entries(verbs).flatMap(([name, { open_to }]) =>
    open_to === 'people' ? [] : [`${namespace}.${name}`],
  ),
);

/** Asks everything that an agent may ask, about everything that was proposed. */
export async function requireNothingOfOthers(proposers: readonly Proposer[]): Promise<void> {
  expect(Object.keys(ASKED).sort()).toEqual([...open].sort());
  const p = await authority();
  await Promise.all(['scout', 'probe'].map((name) => agent(p, name)));
  await human(p, 'ben');
  const all = await proposeAll(p, proposers);
  writeFileSync(join(p.root, FILE), JSON.stringify(all.flatMap(({ marks }) => marks)));
  for (const name of ['scout', 'probe'] as const) {
    const face = p.keyturn.as({ name });
    const theirs = all.filter(({ proposer }) => proposer !== name).flatMap(({ marks }) => marks);
    for (const verb of open)
      for (const { intent_id } of all)
        for (const request of ASKED[verb]!(intent_id)) {
          const answer = await answerOf(face, verb, request);
          for (const mark of theirs) expect(answer, verb).not.toContain(mark);
          expect(answer, verb).not.toContain('"EDIT_');
        }
  }
}
