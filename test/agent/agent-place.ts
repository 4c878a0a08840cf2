import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import type { AgentAnswer, Confirm } from '../../src/agent/answer-shape.ts';
import type { Signer } from '../../src/identity/act.ts';
import { Keyturn } from '../../src/keyturn.ts';
import { entriesAbout } from '../support/ledger.ts';
import { type Project, projectOfFile, steady, writeRegistry } from '../support/project.ts';

/** Tools in a real sandbox. What they may write is one folder; what they wrote can be counted. */
const TOOLS = `version: 1
tools:
  - name: note
    summary: Writes a line.
    executable: ./note.sh
    args: ["{text}"]
    parameters: { text: { type: string, max_length: 100 } }
    cwd: box
    sandbox: { write: [box] }
    undo: compensating
  - name: say
    summary: Prints a word.
    executable: /usr/bin/printf
    args: ["%s", "{word}"]
    parameters: { word: { type: string, max_length: 100 } }
    # The same on every host: what an activation binds has the folder in it.
    cwd: /usr
    sandbox: {}
    undo: none
  - name: fail
    summary: Fails.
    executable: /usr/bin/false
    sandbox: {}
    undo: none
  - name: wait
    summary: Waits.
    executable: /usr/bin/sleep
    args: ["{seconds}"]
    parameters: { seconds: { type: integer } }
    sandbox: {}
    undo: none
`;

const text = (question: string) => ({
  type: 'string',
  max_length: 80,
  question: { en: question },
  formats: ['"words in quotes"', 'plain words'],
  extract: 'quoted',
});

const calm = { impactful: false, side_effecting: false, irreversible: false };
const careful = { impactful: true, side_effecting: true, irreversible: false };

/** One simulation, short to write. */
function simulation(id: string, phrase: string, rest: object): object {
  return {
    id,
    version: 1,
    family: 'notes',
    summary: { en: phrase.charAt(0).toUpperCase() + phrase.slice(1) },
    phrases: { en: [phrase] },
    risk: 'LOW',
    access_action: id,
    ...rest,
  };
}

export const SIMULATIONS: readonly object[] = [
  simulation('note.add', 'append a notebook line', {
    ...careful,
    risk: 'MEDIUM',
    fields: { text: text('Which words?') },
    effect: { tool: 'note', arguments: { text: '+ {text}' } },
    rollback_plan_ref: 'note.remove',
    phrases: { en: ['append a notebook line'], es: ['añadir una línea al cuaderno'] },
    summary: { en: 'Append a notebook line', es: 'Añadir una línea al cuaderno' },
  }),
  simulation('note.remove', 'strike out some earlier writing', {
    ...careful,
    fields: { text: text('Which words?') },
    effect: { tool: 'note', arguments: { text: '~ {text}' } },
    rollback_plan_ref: 'note.add',
  }),
  simulation('hello.show', 'greet everybody kindly', {
    ...calm,
    effect: { tool: 'say', arguments: { word: 'hello' } },
  }),
  simulation('archive.wipe', 'wipe the whole archive', {
    ...calm,
    side_effecting: true,
    irreversible: true,
    risk: 'HIGH',
    fields: { text: text('Which archive?') },
    effect: { tool: 'note', arguments: { text: '! {text}' } },
  }),
  simulation('engine.break', 'break the old engine', { ...calm, effect: { tool: 'fail' } }),
  simulation('kettle.boil', 'boil the copper kettle', {
    ...calm,
    effect: { tool: 'wait', arguments: { seconds: 60 } },
    timeout_ms: 700,
  }),
  simulation('diary.week', 'fill the weekly diary', {
    ...careful,
    fields: { text: text('Which words?') },
    steps: [
      { simulation: 'note.add', fields: { text: '{text} one' } },
      { simulation: 'hello.show' },
      { simulation: 'note.add', fields: { text: '{text} two' } },
    ],
    rollback_plan_ref: 'note.remove',
  }),
  simulation('diary.broken', 'tear the weekly diary', {
    ...careful,
    fields: { text: text('Which words?') },
    steps: [
      { simulation: 'note.add', fields: { text: '{text} first' } },
      { simulation: 'engine.break' },
      { simulation: 'hello.show' },
    ],
    rollback_plan_ref: 'note.remove',
  }),
  simulation('lamp.dim', 'dim the corridor lamp', {
    ...calm,
    effect: { tool: 'say', arguments: { word: 'dim' } },
  }),
];

/** Everything but the draft. Steps come before what they are steps of. */
const ACTIVE = [
  'note.add',
  'note.remove',
  'hello.show',
  'archive.wipe',
  'engine.break',
  'kettle.boil',
  'diary.week',
  'diary.broken',
];

export interface AgentPlace {
  readonly root: string;
  readonly keyturn: Keyturn;
  readonly ada: Signer;
  /** The lines that tools really wrote. */
  written(): string[];
  /** Another process would open the project like this. */
  again(): Promise<Keyturn>;
}

/** A real project with real tools and simulations that a human activated. One for each file of tests. */
export function agentPlace(clock?: () => Date): () => AgentPlace {
  let place: AgentPlace | undefined;
  const others: Keyturn[] = [];
  projectOfFile(
    async (p) => {
      place = {
        ...p,
        written: () => writtenIn(p.root),
        again: async () => {
          const other = await Keyturn.open({ at: p.root, ...(clock && steady(clock)) });
          others.push(other);
          return other;
        },
      };
      await furnish(p);
    },
    { clock },
  );
  afterAll(async () => {
    for (const one of others) await one.close();
  });
  return () => place!;
}

/** Tools, simulations, and the human who activates them. */
export async function furnish({ root, keyturn, ada }: Project): Promise<void> {
  mkdirSync(join(root, 'box'));
  writeFileSync(join(root, 'note.sh'), '#!/bin/sh\necho "$1" >> lines\n', { mode: 0o755 });
  writeRegistry(root, TOOLS);
  for (const one of SIMULATIONS) writeSimulation(root, one);
  for (const id of ACTIVE) await keyturn.simulations.register({ id, reason: 'A test.', signer: ada });
  for (const id of ACTIVE) await keyturn.simulations.activate({ id, reason: 'A test.', signer: ada });
}

/** JSON is YAML. */
export function writeSimulation(root: string, one: object): void {
  const path = join(root, 'simulations', `${(one as { id: string }).id}.yaml`);
  if (existsSync(path)) chmodSync(path, 0o644);
  writeFileSync(path, JSON.stringify(one));
}

export function writtenIn(root: string): string[] {
  const path = join(root, 'box', 'lines');
  return existsSync(path) ? readFileSync(path, 'utf8').split('\n').slice(0, -1) : [];
}

/** The kinds of the entries about a subject, in their order. */
export async function kindsOf({ keyturn }: AgentPlace, subject: string): Promise<string[]> {
  return (await entriesAbout(keyturn, subject)).map(({ kind }) => kind);
}

export function prompted(answer: AgentAnswer): Confirm {
  if (answer.kind !== 'CONFIRM') throw new Error(`expected a prompt, got ${JSON.stringify(answer)}`);
  return answer;
}

/** Asks for a step that needs a yes, and returns what the prompt names. */
export async function askedFor(keyturn: Keyturn, utterance: string, user_id = 'ada'): Promise<Confirm> {
  return prompted(await keyturn.conversations.ask({ user_id, utterance }));
}

/** Of a prompt, what an answer to it names. */
export const named = ({
  correlation_id,
  plan_id,
  step_id,
}: Pick<Confirm, 'correlation_id' | 'plan_id' | 'step_id'>) => ({ correlation_id, plan_id, step_id });

/** The words of a user about a prompt, or about whatever else names its plan. */
export const words = (
  keyturn: Keyturn,
  prompt: Pick<Confirm, 'correlation_id' | 'plan_id' | 'step_id'>,
  text: string,
  user_id = 'ada',
) => keyturn.conversations.confirm({ ...named(prompt), user_id, text });

export const yes = (keyturn: Keyturn, prompt: Confirm, user_id = 'ada') =>
  words(keyturn, prompt, 'yes', user_id);

/** A user at another machine, in an account of their own. */
export async function elsewhere<T>(root: string, act: (keyturn: Keyturn) => Promise<T>): Promise<T> {
  const account = { host: 'elsewhere', machine: null, uid: 4711, user: 'another' };
  const keyturn = await Keyturn.open({ at: root, account });
  try {
    return await act(keyturn);
  } finally {
    await keyturn.close();
  }
}
