import type { Reason } from './reason.ts';

/** 3300 to 3999: policies, capabilities, freezes and delegations say no. */
export const authorityReasons = {
  POLICY_DENIED: [
    3300,
    'A policy forbids this.',
    'Read the rationale. Change the request, or ask the people who maintain the policies.',
  ],
  POLICY_NO_PERMIT: [
    3301,
    'No policy permits this, and what is not permitted is denied.',
    'Ask the people who maintain the policies whether it should be permitted.',
  ],
  POLICY_ERROR: [
    3302,
    'A policy could not be evaluated, so the answer is no.',
    'Correct the policy that the message names, then run `keyturn policy check`.',
  ],
  POLICY_MISSING: [
    3303,
    'No policies are active, so nothing is permitted.',
    'Run `keyturn policy activate`.',
  ],
  POLICY_FILES_DIFFER: [
    3304,
    'The files in policies/ are not the policies that a human activated.',
    'The active policies go on deciding. Run `keyturn policy diff`, then activate the files or restore them.',
  ],
  POLICY_TEST_FAILED: [
    3305,
    'A decision is not the one that the policy tests expect.',
    'Correct the policies or the expectation, then run `keyturn policy test`.',
  ],
  DECISION_STALE: [
    3306,
    'Something that this decision rests on changed while it was made.',
    'Nothing was done. Ask again.',
  ],
  POLICY_REPLACED: [
    3307,
    'Other policies were activated after these were compared with the active ones.',
    'Look at `keyturn policy diff` again, then activate.',
  ],
  DECISION_MISSING: [
    3308,
    'The decision of the policies that this rests on is not there.',
    'Nothing was done. Ask again, so that the policies decide.',
  ],
  DECISION_MISMATCH: [
    3309,
    'The decision of the policies that this rests on is about something else, or denies it.',
    'Nothing was done. Ask again, so that the policies decide.',
  ],
  ORDER_MISSING: [
    3320,
    'There is no open order to run this.',
    'Run `keyturn turn` or `keyturn grant`, or give a capability with --capability.',
  ],
  CAPABILITY_FORGED: [
    3321,
    'The signature of the capability does not verify.',
    'Do not use it. Find out who made it.',
  ],
  CAPABILITY_ALGORITHM: [
    3322,
    'The capability is signed in another way than Keyturn signs.',
    'Do not use it. Find out who made it.',
  ],
  CAPABILITY_KEY_UNKNOWN: [
    3323,
    'The capability names a signing key that this ledger does not know.',
    'Use a capability of this project.',
  ],
  CAPABILITY_EXPIRED: [3324, 'The capability has expired.', 'Run `keyturn grant` again.'],
  CAPABILITY_NOT_YET: [3325, 'The capability is not valid yet.', 'Wait, and check the clocks.'],
  CAPABILITY_REVOKED: [3326, 'The capability was revoked.', 'Find out why, then grant a new one.'],
  CAPABILITY_USED: [
    3327,
    'The capability was used. It is good for one run.',
    'A new attempt needs `keyturn retry` and a new order (`keyturn grant`).',
  ],
  CAPABILITY_UNKNOWN: [3328, 'This ledger has not issued that capability.', 'Check the id, or grant one.'],
  CAPABILITY_WRONG_AUDIENCE: [
    3329,
    'The capability is for another executor.',
    'Run it where it belongs, or grant one for this executor.',
  ],
  CAPABILITY_WRONG_ACTION: [
    3330,
    'The capability is for another action.',
    'Grant a capability for the action of this intent.',
  ],
  CAPABILITY_OUT_OF_SCOPE: [
    3331,
    'The run would reach beyond the scope of the capability.',
    'Grant a capability whose scope covers it, or propose a smaller change.',
  ],
  CAPABILITY_CONDITION_UNMET: [
    3332,
    'A condition of the capability is not met.',
    'Wait until it is met, or grant a capability with other conditions.',
  ],
  CAPABILITY_INTENT_CHANGED: [
    3333,
    'The capability was granted for another intent, another attempt or another effect.',
    'Grant a capability for this one.',
  ],
  CAPABILITY_WIDENED: [
    3334,
    'A capability can be made narrower and never wider.',
    'Ask a human for a wider one.',
  ],
  CAPABILITY_HOLDER_UNPROVEN: [
    3335,
    'The presenter of the capability did not prove to be its holder.',
    'Give the holder key with --holder-key.',
  ],
  CAPABILITY_TOO_LONG: [
    3336,
    'The capability would live longer than it may.',
    'Ask for a shorter time. It never outlives the intent.',
  ],
  CAPABILITY_TOO_MANY: [
    3337,
    'Too many capabilities for this intent are still unused and not revoked.',
    'Use one of them, or revoke some with `keyturn revoke`.',
  ],
  ORDER_LAPSED: [
    3338,
    'The order to run it was not used in time.',
    'Run `keyturn turn` or `keyturn grant` again.',
  ],
  CONTROL_KEY_ELSEWHERE: [
    3339,
    'This host has no control key, so it can neither approve nor order, nor issue what was ordered.',
    'Do it where a control key is (`--service URL`), let a service there issue it (`keyturn execute --control-plane URL`), or give this host one: `keyturn control rotate`.',
  ],
  FROZEN: [3340, 'It is frozen.', 'A human ends it with `keyturn unfreeze`.'],
  NOT_FROZEN: [3341, 'It is not frozen.', 'Nothing was done. `keyturn status` shows what is.'],
  FROZEN_ALREADY: [3342, 'It is frozen already.', 'Nothing was done. `keyturn status` shows since when.'],
  BREAK_GLASS_FORBIDDEN: [
    3343,
    'No policy permits break-glass here.',
    'Unfreeze instead, or ask the people who maintain the policies.',
  ],
  EXECUTOR_UNKNOWN: [
    3344,
    'The key of this executor was not added by a human, or is not the one that claimed the run.',
    'Look at `keyturn executor list`. A human adds a host with `keyturn executor add` on that host.',
  ],
  EXECUTOR_REVOKED: [
    3345,
    'The executor was revoked.',
    'Run it elsewhere. What it was running is in doubt until a human settles it with `keyturn resolve`.',
  ],
  SEEN_OTHER: [
    3346,
    'What would run now is not what was shown.',
    'Look at it again. Nothing was ordered or run.',
  ],
  INTENT_WITHDRAWN: [3347, 'The proposer withdrew this intent. That is final.', 'Propose a new intent.'],
  RECEIPT_INVALID: [
    3348,
    'Only its proposer can withdraw an intent, and nothing proves that this is the proposer.',
    'Show the receipt that `propose` returned, or sign with the key of the proposer.',
  ],
  IDEMPOTENCY_KEY_REUSED: [
    3349,
    'Something else was proposed under this idempotency key.',
    'Use a new key for a new request. The first one is as it was.',
  ],
  DELEGATION_UNKNOWN: [3350, 'There is no such delegation.', 'Run `keyturn delegation list`.'],
  DELEGATION_EXPIRED: [3351, 'The delegation has ended.', 'Ask a human to delegate again.'],
  DELEGATION_REVOKED: [3352, 'The delegation was revoked.', 'Ask the human who revoked it.'],
  DELEGATION_OUT_OF_SCOPE: [
    3353,
    'The delegation does not cover this.',
    'Ask a human to submit it, or to delegate it.',
  ],
  DELEGATION_WIDENED: [
    3354,
    'A delegation can pass on what it was given and never more.',
    'Ask a human for a wider one.',
  ],
  DELEGATION_CYCLE: [
    3355,
    'The delegation would return to a member of its own chain.',
    'Delegate to another agent.',
  ],
  KEY_ENROLLED_TWICE: [
    3356,
    'This key is enrolled under another name.',
    'One key speaks for one name. Use a key of its own.',
  ],
  ACT_LATE: [3357, 'The time to sign this has passed.', 'Look at it again, then sign what it says now.'],
  ACT_CHANGED: [
    3358,
    'What was signed is not what this would do now.',
    'Look at it again, then sign what it says now.',
  ],
  CONTROL_KEY_UNKNOWN: [3359, 'The ledger knows no such control key.', 'Look at `keyturn control list`.'],
  ACTION_NOT_REQUESTED: [
    3360,
    'The approved intent does not request this action.',
    'Propose a new intent that requests it.',
  ],
  ACTION_PROHIBITED: [
    3361,
    'The intent itself prohibits this action.',
    'Propose a new intent without the prohibition.',
  ],
  ALTERNATE_NOT_NAMED: [
    3362,
    'The approved intent does not name this alternate tool.',
    'Propose a new intent that names it.',
  ],
  RUN_STOPPED: [
    3363,
    'A human stopped the run.',
    'Read why with `keyturn show`. What was ended half way is settled with `keyturn resolve`.',
  ],
  STOP_NOT_DUE: [
    3364,
    'There is no run to stop: it has not begun, or it has ended.',
    'Nothing was done. `keyturn show ID` says what became of an intent; `keyturn revoke` or `keyturn reject` keeps one from beginning.',
  ],
  INTENT_REPLACED: [
    3365,
    'A human edited this intent: another one replaces it. That is final.',
    'Look at the one that replaces it. `keyturn show` names it.',
  ],
  EDIT_NOT_DUE: [
    3366,
    'Only an intent that waits for its approval can be edited.',
    'Nothing was done. Propose what is wanted now with `keyturn propose --replaces`.',
  ],
  EDIT_EMPTY: [
    3367,
    'The edit changes nothing.',
    'Nothing was done. Approve it as it is, or change its arguments, its plan or its goal.',
  ],
  EXECUTOR_ELSEWHERE: [
    3368,
    'It is for an executor with another name or label.',
    'Order it with `keyturn turn` or in the console: the executor with that label runs it.',
  ],
  EXECUTOR_ABSENT: [
    3369,
    'No executor with that name or label is enrolled, so nothing would take the order.',
    'Run `keyturn executor add --serves LABEL` for the host that should run it.',
  ],
  CONTROL_KEY_REVOKED: [
    3370,
    'The control key decides and issues nothing any more.',
    'Order it again: another control key issues it. `keyturn control rotate` gives a host a new one.',
  ],
  RUN_CANCELLED: [
    3371,
    'The caller whose call it is cancelled the run, and it was ended half way.',
    'Find out how far it came. What is in doubt is settled with `keyturn resolve`.',
  ],
  ORDER_OPEN: [
    3372,
    'Another order to run it came while this one was signed.',
    'It runs by that order. Order it again only where that one should not run.',
  ],
  AGENT_TRANSITION_ILLEGAL: [
    3400,
    'The plan or step of the agent core is not in a state where this can happen.',
    'Nothing was done. Run `keyturn agent status CORRELATION` to see its state.',
  ],
  AGENT_REFS_MISSING: [
    3401,
    'A move of the agent core does not name everything that it rests on, or names something else.',
    'Nothing was done. Ask again, so that every check is repeated.',
  ],
  SIMULATION_NOT_REGISTERED: [
    3402,
    'There is no such simulation. Only a registered simulation runs.',
    'A human registers it with `keyturn simulation register`.',
  ],
  SIMULATION_NOT_ACTIVE: [
    3403,
    'The simulation is not active here, or not in this version.',
    'A human activates it with `keyturn simulation activate`.',
  ],
  SIMULATION_CHANGE_ILLEGAL: [
    3404,
    'The status of the simulation cannot change in this way.',
    'Run `keyturn simulation list`. A changed definition needs a new version, which starts as a draft.',
  ],
  ACCESS_SCOPE_VIOLATION: [
    3405,
    'The user may not do this.',
    'Ask the people who maintain the policies whether it should be permitted.',
  ],
  ACCESS_AP_REQUIRED: [
    3406,
    'An approver has to sign this before it is dispatched.',
    'A human approves the pending intent. Then run `keyturn agent resume`.',
  ],
  CONFIRMATION_MISSING: [
    3407,
    'The requester has not said yes, and without a yes nothing is dispatched.',
    'Run `keyturn agent confirm`.',
  ],
  CONFIRMATION_AMBIGUOUS: [
    3408,
    'The answer is neither a clear yes nor a clear no.',
    'Answer with one of the words that the prompt names.',
  ],
  INTAKE_LIMITED: [
    3409,
    'Too much was asked for that does not exist yet.',
    'Nothing was recorded. Ask again later.',
  ],
  SLO_BREACHED: [
    3410,
    'A figure of the agent core is outside its target, and no waiver covers it.',
    'Find out why. A human may waive it for a bounded time.',
  ],
  ACTIVATION_DIFFERS: [
    3411,
    'What would run, or what would undo it, is not what a human activated.',
    'Find out who changed it. If the change is wanted, a human looks at it and runs `keyturn simulation activate`.',
  ],
  USER_IS_AGENT: [
    3412,
    'The user is enrolled as an agent, and an agent cannot ask or say yes as a user.',
    'A person asks and confirms, under a name that is not the name of an agent.',
  ],
  PROPOSALS_LIMITED: [
    3413,
    'This source has too many proposals waiting, or proposes too fast.',
    'Nothing was recorded. Decide on what waits (`keyturn review`), or propose again later.',
  ],
  SLO_NOT_MEASURED: [
    3420,
    'A figure of the agent core was not measured in the last 24 hours, so the check does not pass.',
    'Let something be dispatched, and look again.',
  ],
  SLO_NOT_BREACHED: [
    3421,
    'The figure is within its target or was not measured, and a waiver accepts only a breach that is there.',
    'Run `keyturn agent slo` to see what is breached.',
  ],
  ROLE_REQUIRED: [
    3422,
    'The human lacks the role that this act needs.',
    'Ask a human with that role, or assign the role with `keyturn identity assign`.',
  ],
} as const satisfies Record<string, Reason>;
