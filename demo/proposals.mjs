/** What the agent of `npm start` asks for: something harmless, something to undo, something that the policies deny, and something that no plan may. */

/** A rule of the playground, beside those that every project begins with. */
export const RULE = `@id("mallory-is-not-greeted")
@version("1")
@scope("capability")
@arguments("greet.name: string")
@rationale("A rule of the playground: Mallory is not greeted.")
forbid (principal, action == Keyturn::Action::"grant", resource)
when { context.arguments has greet && context.arguments.greet.name == "Mallory" };
`;

/** A plan of one change to one file. */
const plan = (plan_id, action_type, target, operation) => ({
  kind: 'plan',
  plan: { plan_id, action_plan: [{ action_id: 'only', action_type, target, operation }] },
  config: null,
  task_id: plan_id,
});

/** There is a first line in every file that is not empty, so this can be proposed again. */
const atTop = (content) => ({ type: 'line_insert', line_number: 1, content });

const PROPOSALS = [
  {
    declared_goal: 'Say hello',
    effect: { kind: 'tool', tool: 'greet', arguments: { name: 'Grace' } },
  },
  {
    declared_goal: 'Add a line to notes.md',
    effect: plan('add-a-note', 'FILE_MODIFY', 'notes.md', atTop('bot was here.')),
  },
  {
    declared_goal: 'Say hello to Mallory: the policies deny it',
    effect: { kind: 'tool', tool: 'greet', arguments: { name: 'Mallory' } },
  },
  {
    declared_goal: 'Change the policies: no plan may, also after an approval',
    effect: plan('loosen', 'FILE_MODIFY', 'policies/keyturn.cedar', atTop('// Anything goes.')),
  },
];

/** Proposes what does not wait from an earlier start. Returns all that waits. */
export async function proposeAll(intents, say) {
  const { intents: earlier } = await intents.list({ status_word: 'waiting' });
  const waiting = [];
  for (const asked of PROPOSALS) {
    const goal = asked.declared_goal;
    const known = earlier.find((one) => one.goal === goal);
    try {
      const { intent_id } = known ?? (await intents.propose(asked));
      waiting.push({ intent_id, goal });
      say(`  waits    ${intent_id.slice(0, 8)}  ${goal}`);
    } catch (error) {
      if (error.name !== 'ServiceRefusal') throw error;
      say(`  refused  ${error.code}  ${goal}`);
    }
  }
  return waiting;
}

/** The agent waits for each, and says what it hears, until the service is gone. */
export function tellOutcomes(intents, waiting, say) {
  for (const { intent_id, goal } of waiting)
    intents.waitFor({ intent_id }).then(
      ({ status_word, reason }) =>
        say(`bot hears: ${goal}: ${status_word}${reason === null ? '' : `, because: ${reason}`}`),
      // The service is gone: there is nothing to hear any more.
      () => {},
    );
}
