import { createProject, type Project, readyIntent } from './project.ts';
import { timed, usual } from './timing.ts';

/** Callers that share one Keyturn. The first is what the last is measured against. */
export const CALLERS = [1, 8, 32, 128] as const;

export interface CallerTimes {
  /** Journeys in a second, for each of CALLERS. */
  readonly rates: readonly number[];
  readonly failures: number;
  readonly journeys: number;
}

/** One proposer, one human, one process. The numbers of callers take turns, so that none has the longer ledger. */
export async function measureCallers({
  root,
  rounds,
  journeys,
}: {
  root: string;
  rounds: number;
  journeys: number;
}): Promise<CallerTimes> {
  const project = await createProject(root);
  await together(project, 1, journeys);
  const times = CALLERS.map((): number[] => []);
  let failures = 0;
  for (let round = 0; round < rounds; round++) {
    for (const [i, callers] of CALLERS.entries()) {
      times[i]!.push(
        await timed(async () => {
          failures += await together(project, callers, journeys);
        }),
      );
    }
  }
  await project.keyturn.close();
  return {
    rates: times.map((each) => (1000 * journeys) / usual(each)),
    failures,
    journeys: rounds * journeys * CALLERS.length,
  };
}

/** So many callers share so many journeys. Returns how many failed. */
async function together(project: Project, callers: number, journeys: number): Promise<number> {
  let left = journeys;
  let failures = 0;
  const caller = async () => {
    while (left > 0) {
      left -= 1;
      await readyIntent(project).catch(() => {
        failures += 1;
      });
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  return failures;
}
