import { closeSync, readdirSync, readFileSync } from 'node:fs';
import { measureAgentRebuild, measureDispatches } from './agent.ts';
import { callShare, measureCallers, measureProcesses } from './callers.ts';
import { measureCapabilities } from './capability.ts';
import { commitOnly, measureCommits } from './commit.ts';
import { measureConsole } from './console.ts';
import { measureRuns } from './governed.ts';
import { measureGrowth } from './growth.ts';
import { fill, measureChecks, measureVerify } from './ledger.ts';
import { measureMcp } from './mcp.ts';
import { measurePages } from './pages.ts';
import { measurePasskeys } from './passkey.ts';
import { layPlanMemory, measureEdit, measurePlanMemory, measurePlans, measureRewrites } from './plan.ts';
import { measurePostgres } from './postgres.ts';
import { measureService } from './service.ts';
import { plainPart, proposingPart, servicePart } from './service-part.ts';
import { measureWaiting, rejectEach } from './waiting.ts';

/** What is measured in a process of its own, so that nothing that ran before disturbs it. */
const jobs = {
  measureCommits,
  commitOnly,
  fill,
  measureChecks,
  measureVerify,
  measureRuns,
  measureCapabilities,
  measurePasskeys,
  measureCallers,
  measureProcesses,
  callShare,
  measureGrowth,
  measurePages,
  measureWaiting,
  measureMcp,
  measureService,
  servicePart,
  plainPart,
  proposingPart,
  rejectEach,
  measurePlans,
  measureRewrites,
  layPlanMemory,
  measurePlanMemory,
  measureEdit,
  measureDispatches,
  measureAgentRebuild,
  measurePostgres,
  measureConsole,
};

export type Jobs = typeof jobs;

/**
 * A descriptor that leaked from the process that started the bench would be covered again in every sandbox. A user's terminal
 * leaks none, so it does not belong in the figures.
 */
function closeInherited(): void {
  for (const fd of readdirSync('/proc/self/fd').map(Number)) {
    if (fd > 2 && !isOurs(fd)) closeSync(fd);
  }
}

/** Node opens everything with close-on-exec, and an inherited descriptor cannot have it. */
function isOurs(fd: number): boolean {
  try {
    const [, flags = '0'] =
      /^flags:\s*([0-7]+)/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'latin1')) ?? [];
    return (Number.parseInt(flags, 8) & 0o2000000) !== 0;
  } catch {
    return true; // gone: the one that listed the folder
  }
}

closeInherited();
const [name, options] = process.argv.slice(2) as [keyof Jobs, string];
const answer = await jobs[name](JSON.parse(options));
process.stdout.write(JSON.stringify(answer ?? null));
