import { DBOS } from '@dbos-inc/dbos-sdk';
import { serve, spawned } from './contestant.ts';

/** An approval that does not come within a day is none. */
const DAY_S = 86_400;

await serve(async ({ url, command }) => {
  const act = DBOS.registerWorkflow(
    async () => {
      if ((await DBOS.recv('approval', DAY_S)) !== 'yes') throw new Error('not approved');
      await DBOS.runStep(() => spawned(command), { name: 'effect' });
      return 'done';
    },
    { name: 'act' },
  );
  // A process with the same version and executor takes up what a killed one left.
  DBOS.setConfig({
    name: 'keyturn-bench',
    systemDatabaseUrl: url,
    applicationVersion: '1',
    executorID: 'bench',
    logLevel: 'error',
  });
  await DBOS.launch();
  return {
    journey: async (workflowID) => {
      const handle = await DBOS.startWorkflow(act, { workflowID })();
      await DBOS.send(workflowID, 'yes', 'approval');
      if ((await handle.getResult()) !== 'done') throw new Error(`${workflowID} is not done`);
    },
    recover: async (workflowID) => {
      const result = await DBOS.retrieveWorkflow(workflowID).getResult();
      return `launch recovers the workflow, which ends with ${result}`;
    },
    close: () => DBOS.shutdown(),
  };
});
