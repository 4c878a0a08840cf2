import type { Request } from '../src/keyturn.ts';
import { commitTogether, openStore } from './facts.ts';
import { createProject, type Project } from './project.ts';
import { addRunRows } from './run-rows.ts';
import { timed, usual } from './timing.ts';

const TOGETHER = 1_000;
const WARM_UP = 5;

type Page = (keyturn: Project['keyturn']) => Promise<unknown>;

const NEEDLE = 'Find the needle.';
const SINCE = '2020-01-01T00:00:00.000Z';

/** What a person asks a list for. Each fits every row, or none. */
const PAGES: Readonly<Record<string, Page>> = {
  ...named<Request<'intents.list'>>('intents', (keyturn, filter) => keyturn.intents.list(filter), {
    'no filter': {},
    'that wait': { status_word: 'waiting' },
    'that are stuck, of which there are none': { status_word: 'STUCK' },
    'of a tool': { tool: 'deploy' },
    'of a proposer': { proposer: 'planner' },
    'of a proposer that is not there': { proposer: 'nobody' },
    'with a text': { text: 'measure' },
    'with a text that none has': { text: 'a text that none has' },
    'with a text that only the oldest has, as far as one page looks': { text: NEEDLE },
    'of a tool that only the oldest is of': { tool: 'bare' },
    'of that tool that are stuck, of which there are none': { tool: 'bare', status_word: 'STUCK' },
    'since a time': { since: SINCE },
    'until a time before all of them': { until: SINCE },
    'of a tool that wait': { tool: 'deploy', status_word: 'waiting' },
    'that one human is asked to look at': { needs: 'ada' },
  }),
  ...named<Request<'runs.list'>>('runs', (keyturn, filter) => keyturn.runs.list(filter), {
    'no filter': {},
    'that succeeded': { status_word: 'succeeded' },
    'that failed, of which there are none': { status_word: 'failed' },
    'of a tool': { tool: 'nothing' },
    'of a proposer that is not there': { proposer: 'nobody' },
    'of an executor that is not there': { executor: 'nowhere' },
    'of a tool that failed, of which there are none': { tool: 'nothing', status_word: 'failed' },
    'with a text that none has': { text: 'a text that none has' },
    'since a time': { since: SINCE },
  }),
  ...named<Request<'runs.capabilities'>>(
    'capabilities',
    (keyturn, filter) => keyturn.runs.capabilities(filter),
    {
      'no filter': {},
      'that are spent': { status_word: 'spent' },
      'that are open, of which there are none': { status_word: 'ordered' },
      'by a human': { by: 'ada' },
      'by one that is not there': { by: 'nobody' },
      'with a text that none has': { text: 'a text that none has' },
      'since a time': { since: SINCE },
    },
  ),
  ...named<Request<'ledger.entries'>>('entries', (keyturn, filter) => keyturn.ledger.entries(filter), {
    'no filter': {},
    'of a kind': { kind: 'intent.proposed' },
    'of a kind that is rare': { kind: 'key.enrolled' },
    'of a kind that there is none of': { kind: 'break_glass.used' },
    'that one human signed': { signer: 'ada' },
    'about one subject': { subject: 'system' },
    'until a time': { until: '2999-01-01T00:00:00.000Z' },
  }),
};

/** The same list under each filter. */
function named<F extends object>(
  list: string,
  ask: (keyturn: Project['keyturn'], filter: F) => Promise<unknown>,
  filters: Readonly<Record<string, F>>,
): Record<string, Page> {
  return Object.fromEntries(
    Object.entries(filters).map(([name, filter]) => [
      `${list}, ${name}`,
      (keyturn: Project['keyturn']) => ask(keyturn, filter),
    ]),
  );
}

interface PageTimes {
  readonly list: string;
  readonly few_ms: number;
  readonly many_ms: number;
}

interface Asked {
  readonly root: string;
  readonly rounds: number;
  readonly few: number;
  readonly many: number;
}

/** The first page of each list, in two projects in turn. */
export async function measurePages({ root, rounds, few, many }: Asked): Promise<PageTimes[]> {
  const [small, big] = [await filled(`${root}-few`, few), await filled(`${root}-many`, many)];
  const found: PageTimes[] = [];
  for (const [list, ask] of Object.entries(PAGES)) {
    const times: { few: number; many: number }[] = [];
    const page = ({ keyturn }: Project) => timed(() => ask(keyturn));
    for (let i = 0; i < rounds + WARM_UP; i++) {
      const time = { few: await page(small), many: await page(big) };
      if (i >= WARM_UP) times.push(time);
    }
    found.push({
      list,
      few_ms: usual(times.map((time) => time.few)),
      many_ms: usual(times.map((time) => time.many)),
    });
  }
  for (const { keyturn } of [small, big]) await keyturn.close();
  return found;
}

/** The oldest intent is the only one of its tool, and with its goal. */
async function filled(root: string, intents: number): Promise<Project> {
  const project = await createProject(root);
  const effect = { kind: 'tool' as const, tool: 'bare', arguments: {} };
  await project.keyturn.intents.propose({ issuer: 'planner', declared_goal: NEEDLE, effect });
  const store = await openStore(project.keyturn.layout.store, 'write');
  for (let i = 0; i < intents; i += TOGETHER) await commitTogether(store, Math.min(TOGETHER, intents - i));
  await store.close();
  await addRunRows(project, intents);
  return project;
}
