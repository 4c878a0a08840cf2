import { Annotation, Command, END, interrupt, START, StateGraph } from '@langchain/langgraph';
import { SqliteSaver } from '@langchain/langgraph-checkpoint-sqlite';
import { serve, spawned } from './contestant.ts';

await serve(async ({ root, command }) => {
  const checkpointer = SqliteSaver.fromConnString(`${root}.db`);
  checkpointer.db.pragma('journal_mode = WAL');
  checkpointer.db.pragma('synchronous = FULL');
  const graph = new StateGraph(
    Annotation.Root({ goal: Annotation(), answer: Annotation(), done: Annotation() }),
  )
    .addNode('review', ({ goal }) => ({ answer: interrupt(goal) }))
    .addNode('effect', async ({ answer }) => {
      if (answer !== 'yes') throw new Error('not approved');
      await spawned(command);
      return { done: true };
    })
    .addEdge(START, 'review')
    .addEdge('review', 'effect')
    .addEdge('effect', END)
    .compile({ checkpointer });
  // Each checkpoint is written before the next step begins, as each of Keyturn's commits is.
  const configOf = (thread_id) => ({ configurable: { thread_id }, durability: 'sync' });
  return {
    journey: async (name) => {
      await graph.invoke({ goal: 'Measure.' }, configOf(name));
      const { done } = await graph.invoke(new Command({ resume: 'yes' }), configOf(name));
      if (done !== true) throw new Error(`${name} is not done`);
    },
    recover: async (name) => {
      const { next } = await graph.getState(configOf(name));
      const { done } = await graph.invoke(null, configOf(name));
      return `the thread goes on at "${next}" and ends with done: ${done}`;
    },
    close: async () => checkpointer.db.close(),
  };
});
