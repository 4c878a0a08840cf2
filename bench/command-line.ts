import { join } from 'node:path';
import { commitTogether, LONG_AGO, openStore } from './facts.ts';
import { createProject, turnedIntent } from './project.ts';
import type { Sizes } from './sizes.ts';
import { measureStarts, startRow } from './start.ts';
import type { Row } from './table.ts';
import { CLI, type Workshop } from './workshop.ts';

const INTENTS = 20;
/** What gathers in a month of a team that lets most proposals expire. */
const WAITING = 1_000;
const EXPIRED = 10_000;
const TOGETHER = 1_000;

const count = (value: number) => value.toLocaleString('en');

/** A whole command, from the start of node to its end, in a project with some intents. */
export const COMMAND_LINE = {
  name: 'command line',
  async rows({ folder }: Workshop, { starts }: Sizes): Promise<Row[]> {
    const root = join(folder, 'command-line');
    const project = await createProject(root);
    let intent_id = '';
    for (let i = 0; i < INTENTS; i++) ({ intent_id } = await turnedIntent(project));
    await project.keyturn.close();
    const crowded = await crowdedProject(join(folder, 'command-line-crowded'));
    const asked: [words: string[], most: number][] = [
      [['--version'], 1.3],
      [['--help'], 1.3],
      [['status', '--project', root], 2.2],
      [['list', '--project', root], 2.2],
      [['show', intent_id, '--project', root], 2.2],
      [['status', '--project', crowded], 2.2],
      [['list', '--needs', 'ada', '--project', crowded], 2.2],
    ];
    const commands = asked.map(([words]) => words);
    return measureStarts(CLI, commands, starts).map((measured, i) => {
      const [words, most] = asked[i]!;
      const among = words.at(-1) === crowded ? `, ${count(WAITING)} wait and ${count(EXPIRED)} expired` : '';
      return startRow(`keyturn ${words[0]}, whole process${among}`, measured, most);
    });
  },
};

async function crowdedProject(root: string): Promise<string> {
  const { keyturn } = await createProject(root);
  const store = await openStore(keyturn.layout.store, 'write');
  for (let i = 0; i < EXPIRED; i += TOGETHER) await commitTogether(store, TOGETHER, 'planner', LONG_AGO);
  await commitTogether(store, WAITING);
  await store.close();
  await keyturn.close();
  return root;
}
