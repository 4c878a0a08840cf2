import { Keyturn } from '../keyturn.ts';
import type { Answer, Call } from './answer.ts';
import { say } from './say.ts';

export function folderOf({ options }: Call): string {
  return options.project ?? process.cwd();
}

/** Opens the project to look at it. No row is written. */
export async function reading(call: Call, act: (keyturn: Keyturn) => Promise<Answer>): Promise<Answer> {
  return closing(await Keyturn.open({ at: folderOf(call), mode: 'read' }), act);
}

/** Opens the project to change it, and says first what a crash may have left behind. */
export async function writing(call: Call, act: (keyturn: Keyturn) => Promise<Answer>): Promise<Answer> {
  return closing(await Keyturn.open({ at: folderOf(call) }), async (keyturn) => {
    if (!call.options.json) await mentionDoubt(keyturn);
    return act(keyturn);
  });
}

export async function closing(keyturn: Keyturn, act: (keyturn: Keyturn) => Promise<Answer>): Promise<Answer> {
  try {
    return await act(keyturn);
  } finally {
    await keyturn.close();
  }
}

async function mentionDoubt(keyturn: Keyturn): Promise<void> {
  const runs = (await keyturn.runs.inDoubt()).runs.length;
  if (runs > 0) say(2, `${runs === 1 ? '1 run is' : `${runs} runs are`} in doubt: see \`keyturn status\`.`);
}
