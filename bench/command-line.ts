import { join } from 'node:path';
import { createProject, turnedIntent } from './project.ts';
import type { Sizes } from './sizes.ts';
import { measureStarts, startRow } from './start.ts';
import type { Row } from './table.ts';
import { CLI, type Workshop } from './workshop.ts';

const INTENTS = 20;

/** A whole command, from the start of node to its end, in a project with some intents. */
export const COMMAND_LINE = {
  name: 'command line',
  async rows({ folder }: Workshop, { starts }: Sizes): Promise<Row[]> {
    const root = join(folder, 'command-line');
    const project = await createProject(root);
    let intent_id = '';
    for (let i = 0; i < INTENTS; i++) ({ intent_id } = await turnedIntent(project));
    await project.keyturn.close();
    const asked: [words: string[], most: number][] = [
      [['--version'], 1.3],
      [['--help'], 1.3],
      [['status', '--project', root], 2.2],
      [['list', '--project', root], 2.2],
      [['show', intent_id, '--project', root], 2.2],
    ];
    const commands = asked.map(([words]) => words);
    return measureStarts(CLI, commands, starts).map((measured, i) => {
      const [[word], most] = asked[i]!;
      return startRow(`keyturn ${word}, whole process`, measured, most);
    });
  },
};
