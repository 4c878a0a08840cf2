import { commitOnly, measureCommits } from './commit.ts';
import { measureRuns } from './governed.ts';
import { fill, measureChecks, measureVerify } from './ledger.ts';

/** What is measured in a process of its own, so that nothing that ran before disturbs it. */
const jobs = { measureCommits, commitOnly, fill, measureChecks, measureVerify, measureRuns };

export type Jobs = typeof jobs;

const [name, options] = process.argv.slice(2) as [keyof Jobs, string];
const answer = await jobs[name](JSON.parse(options));
process.stdout.write(JSON.stringify(answer ?? null));
