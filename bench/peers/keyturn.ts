import { existsSync } from 'node:fs';
import { Refusal } from '../../src/keyturn.ts';
import { runGoverned } from '../governed.ts';
import { createProject, openProject, type Project, turnedIntent } from '../project.ts';
import { type Contestant, type Place, serve } from './contestant.ts';

await serve(async (place): Promise<Contestant> => {
  const project = await projectAt(place);
  return {
    journey: async () => runGoverned(project.keyturn, await turnedIntent(project, 'effect')),
    recover: () => recovered(project),
    close: () => project.keyturn.close(),
  };
});

async function projectAt({ root, url, command: [executable, ...args] }: Place): Promise<Project> {
  if (existsSync(root)) return openProject(root);
  // Peers start their child as they are. Without this line root would have it run as `nobody`.
  const as = process.getuid?.() === 0 ? 'run_as: root' : '';
  const tools = `version: 1
tools:
  - name: effect
    summary: The effect of every journey.
    executable: ${executable}
    args: ${JSON.stringify(args)}
    cwd: /
    sandbox: none
    undo: none
    ${as}
`;
  return createProject(root, url ?? undefined, tools);
}

/** The run is asked for again, and the human turns the key again. Both must be told why not. */
async function recovered({ keyturn, ada }: Project): Promise<string> {
  const { intents } = await keyturn.intents.list({ limit: 1 });
  const { intent_id, hash } = intents[0]!;
  const seen = '0'.repeat(64);
  const answers = [
    await refusalOf(() => keyturn.runs.run({ intent_id, hash, seen })),
    await refusalOf(() => keyturn.intents.turn({ intent_id, hash, signer: ada })),
  ];
  return `run and turn are refused: ${[...new Set(answers)].join(', ')}`;
}

async function refusalOf(act: () => Promise<unknown>): Promise<string> {
  try {
    await act();
    return 'NOT REFUSED';
  } catch (error) {
    if (error instanceof Refusal) return error.code;
    throw error;
  }
}
