/**
 * What the agent core and its finder say about a conversation when it is not a refusal: why it waits, went on or ended.
 * These codes have no number. `keyturn explain` knows them all the same.
 */
export const conversationReasons = {
  MATCH_DIRECT: ['The words name one simulation with all its values.', 'Nothing. The conversation goes on.'],
  MATCH_CLARIFIED: ['The answer completed what was missing.', 'Nothing. The conversation goes on.'],
  MATCH_PROPOSED: [
    'A language model of the caller found it, and the words bear it out. It always asks for a yes.',
    'Run `keyturn agent confirm`.',
  ],
  CLARIFY_FIELD_MISSING: ['A value is missing, and nothing is guessed.', 'Run `keyturn agent answer`.'],
  CLARIFY_CANDIDATES_CLOSE: ['The words could mean several simulations.', 'Run `keyturn agent answer`.'],
  CLARIFY_CONFIDENCE_LOW: [
    'The words are close to one simulation, not the same.',
    'Run `keyturn agent answer`.',
  ],
  CLARIFY_EXCEEDED: [
    'The same question was asked as often as it may be, and no answer could be used.',
    'Say the whole goal again with `keyturn agent ask`.',
  ],
  CLARIFY_CONTEXT_STALE: [
    'The answer belongs to a question that is no longer open.',
    'Say the whole goal again with `keyturn agent ask`.',
  ],
  NOTHING_ASKED: [
    'The words ask for nothing now: they name nothing, or they only speak of what they name.',
    'Say what is wanted with `keyturn agent ask`.',
  ],
  UTTERANCE_EMPTY: ['Nothing was said.', 'Say what is wanted with `keyturn agent ask`.'],
  UTTERANCE_TOO_LONG: ['The words are too many to be one goal.', 'Say it in fewer words.'],
  UTTERANCE_UNSAFE: [
    'The words contain invisible characters, or characters that change the reading order.',
    'Say it in plain letters.',
  ],
  MISSING_NEW_CAPABILITY: [
    'No simulation does this. The request was recorded.',
    'See `keyturn intake list`.',
  ],
  MISSING_DRAFT_EXISTS: [
    'A simulation does this, and no human has activated it.',
    'A human runs `keyturn simulation activate`.',
  ],
  MISSING_WITHDRAWN: [
    'A simulation did this, and a human withdrew it, or its time is over.',
    'A human runs `keyturn simulation activate`.',
  ],
  PLAN_CREATED: ['A plan was made from what the finder found.', 'Nothing. The conversation goes on.'],
  CONFIRM_REQUIRED: ['The step waits for a yes or a no of the user.', 'Run `keyturn agent confirm`.'],
  CONFIRM_ACCEPTED: ['The user said yes.', 'Nothing. The conversation goes on.'],
  CONFIRM_DECLINED: [
    'The user said no.',
    'If it is wanted after all, ask for the goal, or for the undo, again.',
  ],
  CONFIRM_EXPIRED: [
    'The yes came too long after the prompt, so it does not count.',
    'Ask for the goal again, and answer its prompt in time.',
  ],
  CLARIFY_REQUIRED: ['The step waits for an answer.', 'Run `keyturn agent answer`.'],
  CLARIFY_ANSWERED: ['The question was answered.', 'Nothing. The conversation goes on.'],
  CHECKS_PASSED: ['Every check before the step passed.', 'Nothing. The conversation goes on.'],
  PLAN_STARTED: ['The first step began.', 'Nothing. The conversation goes on.'],
  STEP_DISPATCHED: ['The step went to the executor.', 'Nothing. The conversation goes on.'],
  STEP_SUCCEEDED: ['The step was done.', 'Nothing. `keyturn agent undo` takes it back.'],
  STEP_FAILED: ['The step was not done, or not wholly.', 'See `keyturn agent status CORRELATION`.'],
  STEP_NOT_NEEDED: ['The same step was done before in this conversation.', 'Nothing. It is not done twice.'],
  TURN_ENDED: ['One step runs in each turn, and this one had its step.', 'Run `keyturn agent resume`.'],
  APPROVER_AWAITED: [
    'An approver has to sign the intent of this step.',
    'A human runs `keyturn approve`. Then run `keyturn agent resume`.',
  ],
  PLAN_RESUMED: ['The plan went on after a pause.', 'Nothing. The conversation goes on.'],
  PLAN_DONE: ['Every step of the plan is done.', 'Nothing. `keyturn agent undo` takes it back.'],
  PLAN_ABORTED: [
    'A step failed or was refused, so the plan ended.',
    'See `keyturn agent status CORRELATION`.',
  ],
  PLAN_WITHDRAWN: ['The plan was given up before it was done.', 'Ask for the goal again if it is wanted.'],
} as const satisfies Readonly<Record<string, readonly [meaning: string, advice: string]>>;
