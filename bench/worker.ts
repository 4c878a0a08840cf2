import { closeSync, readdirSync, readFileSync } from 'node:fs';

/**
 * What is measured in a process of its own, so that nothing that ran before disturbs it. A process loads what its own job needs: what
 * other jobs import, such as the driver of a browser, would count as memory of each job.
 */
const jobs = {
  measureCommits: async () => (await import('./commit.ts')).measureCommits,
  commitOnly: async () => (await import('./commit.ts')).commitOnly,
  fill: async () => (await import('./ledger.ts')).fill,
  measureChecks: async () => (await import('./ledger.ts')).measureChecks,
  measureVerify: async () => (await import('./ledger.ts')).measureVerify,
  measureRuns: async () => (await import('./governed.ts')).measureRuns,
  measureCapabilities: async () => (await import('./capability.ts')).measureCapabilities,
  measurePasskeys: async () => (await import('./passkey.ts')).measurePasskeys,
  measureCallers: async () => (await import('./callers.ts')).measureCallers,
  measureProcesses: async () => (await import('./callers.ts')).measureProcesses,
  callShare: async () => (await import('./callers.ts')).callShare,
  measureGrowth: async () => (await import('./growth.ts')).measureGrowth,
  measurePages: async () => (await import('./pages.ts')).measurePages,
  measureWaiting: async () => (await import('./waiting.ts')).measureWaiting,
  measureMcp: async () => (await import('./mcp.ts')).measureMcp,
  measureService: async () => (await import('./service.ts')).measureService,
  servicePart: async () => (await import('./service-part.ts')).servicePart,
  plainPart: async () => (await import('./service-part.ts')).plainPart,
  proposingPart: async () => (await import('./service-part.ts')).proposingPart,
  rejectEach: async () => (await import('./waiting.ts')).rejectEach,
  measurePlans: async () => (await import('./plan.ts')).measurePlans,
  measureRewrites: async () => (await import('./plan.ts')).measureRewrites,
  layPlanMemory: async () => (await import('./plan.ts')).layPlanMemory,
  measurePlanMemory: async () => (await import('./plan.ts')).measurePlanMemory,
  measureEdit: async () => (await import('./plan.ts')).measureEdit,
  measureDispatches: async () => (await import('./agent.ts')).measureDispatches,
  measureAgentRebuild: async () => (await import('./agent.ts')).measureAgentRebuild,
  measurePostgres: async () => (await import('./postgres.ts')).measurePostgres,
  measureConsole: async () => (await import('./console.ts')).measureConsole,
};

type Loaders = typeof jobs;
export type Jobs = { readonly [J in keyof Loaders]: Awaited<ReturnType<Loaders[J]>> };

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
const job: (options: never) => unknown = await jobs[name]();
const answer = await job(JSON.parse(options) as never);
process.stdout.write(JSON.stringify(answer ?? null));
