import { describe, expect, it } from 'vitest';
import { postgres } from '../store/postgres-place.ts';
import { type CallersOptions, runCallers } from '../support/callers.ts';
import { type Project, project, TOOLS } from '../support/project.ts';
import { PERMITS, policy, rules } from './authority.ts';
import { shared } from './postgres-host.ts';

const server = postgres();
const SOAK_SECONDS = Number(process.env.KEYTURN_SOAK_SECONDS ?? 30);
const PROPOSALS = 'proposals: { pending: 10000, minute: 10000 }';

const STORES: readonly [string, (name: string) => Promise<Project>][] = [
  ['SQLite', () => project(TOOLS, undefined, PROPOSALS)],
  ['PostgreSQL', (name) => shared(server(), name)],
];

/** So many processes at once, each with these callers: what all of them were answered. */
async function processes(p: Project, many: number, options: CallersOptions): Promise<Record<string, number>> {
  const ends = await Promise.all(Array.from({ length: many }, () => runCallers(p.root, options)));
  const sums: Record<string, number> = {};
  for (const { signal, answers, stderr } of ends) {
    expect({ signal, stderr }).toEqual({ signal: null, stderr: '' });
    for (const [answer, count] of Object.entries(answers!)) sums[answer] = (sums[answer] ?? 0) + count;
  }
  return sums;
}

const limit = (many: number) =>
  PERMITS +
  policy(
    'slowly',
    'capability',
    `forbid (principal, action, resource) when { context.pace_hour >= ${many} };`,
  );

describe.each(STORES)('4 processes with 8 callers each, for one proposer, on one %s', (_, make) => {
  it('are granted all that they ask for where no policy counts', async () => {
    const p = await make('uncounted');
    const options = { callers: 8, journeys: 24, until: 'grant' } as const;
    expect(await processes(p, 4, options)).toEqual({ granted: 96 });
    expect(await p.keyturn.ledger.rebuild({ write: false })).toMatchObject({ differences: [] });
  });

  it('are granted all that they ask for below a limit', async () => {
    const p = await make('below');
    await rules(p, limit(1000));
    const options = { callers: 8, journeys: 24, until: 'grant' } as const;
    expect(await processes(p, 4, options)).toEqual({ granted: 96 });
  });

  it('are granted exactly as many as a limit lets pass', async () => {
    const p = await make('limited');
    await rules(p, limit(37));
    const options = { callers: 8, journeys: 24, until: 'grant' } as const;
    expect(await processes(p, 4, options)).toEqual({ granted: 37, POLICY_DENIED: 59 });
    expect(await p.keyturn.ledger.rebuild({ write: false })).toMatchObject({ differences: [] });
  });
});

describe('128 callers of one library process', () => {
  it('go from the proposal to the record for as long as they like: no crash, no failure', async () => {
    const p = await project(TOOLS, undefined, PROPOSALS);
    const answers = await processes(p, 1, { callers: 128, seconds: SOAK_SECONDS, until: 'record' });
    console.log(`${SOAK_SECONDS} s: ${JSON.stringify(answers)}`);
    expect(Object.keys(answers)).toEqual(['success']);
    await p.keyturn.ledger.verify({ deep: true });
  });
});
