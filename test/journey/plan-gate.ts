import { execFileSync } from 'node:child_process';
import { chmodSync, closeSync, constants, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { until } from '../support/processes.ts';
import type { Intent, Project } from '../support/project.ts';
import { create, planOf, type planProjects, proposed } from './plan-story.ts';

const tool = (name: string, sandbox: string) => `
  - name: ${name}
    summary: Reads a FIFO to its end.
    executable: /usr/bin/cat
    args: ["{gate}"]
    parameters: { gate: { type: path } }
    sandbox: ${sandbox}
    undo: none`;
const pipeline = (name: string, by: string, gate: string) =>
  `\n  - { name: ${name}, summary: Waits., steps: [{ tool: ${by}, arguments: { gate: gates/${gate} } }] }`;

/** Its first process dies with Keyturn, and what it started in a session of its own does not. */
const LEAVES = `
  - name: leaves
    summary: Leaves something at work.
    executable: /bin/sh
    args: ["-c", "setsid cat gates/left & wait"]
    sandbox: none
    undo: none
  - { name: nothing, summary: Does nothing., executable: /usr/bin/true, sandbox: none, undo: none }`;

/** Pipelines that wait at a gate: two that touch nothing else, one that may write beneath `data`, and two that may write anywhere. */
const REGISTRY = `version: 1
tools:${tool('reads', '{ network: false, read: [gates], write: [] }')}${tool('writes', '{ network: false, read: [gates], write: [data] }')}${tool('free', 'none')}${LEAVES}
pipelines:${pipeline('one', 'reads', 'one')}${pipeline('two', 'reads', 'two')}${pipeline('data', 'writes', 'data')}${pipeline('free', 'free', 'free')}
  - { name: left, summary: Waits., steps: [{ tool: leaves }] }
`;

const GATES = ['one', 'two', 'data', 'free', 'left'] as const;
type GateName = (typeof GATES)[number];

/** A project with its gates: FIFOs at which a plan waits until a test lets it go. */
export async function gated(planProject: ReturnType<typeof planProjects>): Promise<Project> {
  const p = await planProject({}, REGISTRY);
  for (const folder of ['gates', 'data']) mkdirSync(join(p.root, folder));
  chmodSync(join(p.root, 'data'), 0o777); // a tool runs as `nobody` where Keyturn is root
  const gates = GATES.map((gate) => join(p.root, 'gates', gate));
  execFileSync('mkfifo', ['-m', '666', ...gates]);
  return p;
}

/** A plan that creates a file and then waits at a gate. */
export const waiting = (gate: GateName, target: string) =>
  planOf([
    create('a1', target),
    {
      action_id: 'a2',
      action_type: 'PIPELINE_RUN',
      target: gate,
      operation: { type: 'pipeline_run', pipeline: gate },
      depends_on: ['a1'],
      reversible: false,
    },
  ]);

/** Approved and ordered by ada, with one signature. */
export async function turned(p: Project, plan: string): Promise<Intent> {
  const intent = await proposed(p, plan);
  await p.keyturn.intents.turn({ ...intent, signer: p.ada });
  return intent;
}

const { O_WRONLY, O_NONBLOCK } = constants;

/** Waits until a plan stands at the gate, and holds it there. The plan goes on when it is opened. */
export async function arrivedAt(p: Project, gate: GateName): Promise<() => void> {
  let fd = -1;
  await until(() => {
    try {
      fd = openSync(join(p.root, 'gates', gate), O_WRONLY | O_NONBLOCK);
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENXIO') throw error;
      return false;
    }
  });
  const open = () => {
    if (fd >= 0) closeSync(fd);
    fd = -1;
  };
  onTestFinished(open);
  return open;
}
