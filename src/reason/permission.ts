import type { Reason } from './reason.ts';

/** 3000 to 3999: nobody who may has said yes. */
export const permissionReasons = {
  REGISTRY_WRITABLE: [
    3001,
    'The tool registry can be written, so it could change during a run.',
    'Run `keyturn tool lock`.',
  ],
  APPROVAL_MISSING: [3002, 'No human has approved this intent.', 'Run `keyturn review`.'],
  APPROVAL_EXPIRED: [3003, 'The approval has expired.', 'Review and approve the intent again.'],
  INTENT_REJECTED: [3004, 'A human rejected this intent. That is final.', 'Propose a new intent.'],
  SELF_APPROVAL: [3005, 'The proposer may not approve their own intent.', 'Ask another human to review it.'],
  NOT_HUMAN: [3006, 'Only an enrolled human may do this.', 'Ask a human.'],
  KEY_REVOKED: [3007, 'The key of this principal was revoked.', 'Use another enrolled key.'],
  PASSPHRASE_WRONG: [3008, 'The passphrase does not open the key.', 'Try again.'],
  PASSPHRASE_WEAK: [3009, 'The passphrase is too short.', 'Use at least 8 characters.'],
  KEY_FILE_INVALID: [
    3010,
    'The key file is missing, damaged or not the enrolled key.',
    'Restore the key file from a backup.',
  ],
  SIGNATURE_INVALID: [3011, 'A signature does not verify.', 'Do not rely on what it signs.'],
  CONFIRMATION_DECLINED: [
    3012,
    'The human did not say y.',
    'Nothing was done. Run the command again if you want it.',
  ],
  NO_TERMINAL: [
    3013,
    'There is no terminal to ask a human at.',
    'Run the command in a terminal. No flag and no variable answers a prompt.',
  ],
  CONFIRMATION_WRONG: [
    3014,
    'What was typed is not the exact id.',
    'Nothing was approved. Copy the id exactly.',
  ],
  LANE_FORBIDDEN: [
    3015,
    'This folder belongs to a Keyturn project that does not allow the lane.',
    'Use `keyturn run`, or set lane.allow in keyturn.yaml.',
  ],
  EFFECT_CHANGED: [
    3016,
    'What would run is not what was approved.',
    'Propose it again and review the new effect.',
  ],
  EXECUTABLE_CHANGED: [
    3017,
    'The executable is not the one that was approved or pinned.',
    'Find out who changed it, then propose again.',
  ],
  LAST_HUMAN: [3018, 'This is the last enrolled human.', 'Enrol another human first.'],
  ALREADY_APPROVED: [
    3019,
    'The intent is approved already.',
    'Nothing was done. Check it with `keyturn lane check`.',
  ],
  APPROVER_REVOKED: [
    3020,
    'The key of a human who approved this was revoked since.',
    'Ask another human to review and approve it.',
  ],
  PERMISSION_DENIED: [
    3100,
    'The system does not allow this file to be read, written or given to its owner.',
    'Check the permissions of the file and of its folder.',
  ],
  PLAN_PATH_OWN: [
    3150,
    'The path belongs to Keyturn. No plan may write it, under any approval.',
    'Remove the action. People change these files themselves.',
  ],
  PLAN_PATH_FORBIDDEN: [
    3151,
    'The configuration forbids this path.',
    'Remove the action, or ask whoever keeps the configuration.',
  ],
  PLAN_PATH_UNLISTED: [
    3152,
    'The path is not one that the plan lists.',
    'Nothing was changed there. Propose a plan that lists it.',
  ],
  PLAN_OPERATION_FORBIDDEN: [
    3153,
    'The configuration does not allow this kind of action.',
    'Remove the action, or ask whoever keeps the configuration.',
  ],
  APPROVAL_NOT_OPTIONAL: [
    3154,
    'The configuration tries to do without an approval.',
    'Remove requires_approval: false. A human approves every plan.',
  ],
  TASK_NOT_APPROVED: [
    3155,
    'The task envelope does not say APPROVED.',
    'Send the task through its validation first. APPROVED there does not replace an approval here.',
  ],
  MANIFEST_STILL_ACTIVE: [
    3156,
    'The rollback manifest is still active, so its backups stay where they are.',
    'Wait until it expires, or roll back first.',
  ],
  SQL_STATEMENT_FORBIDDEN: [
    3200,
    'A statement is of a kind that may not run.',
    'Remove the statement that the message names.',
  ],
  SQL_FUNCTION_FORBIDDEN: [
    3201,
    'A statement calls a function that does more than read.',
    'Remove the call that the message names.',
  ],
  SQL_ACCESS_DENIED: [
    3202,
    'A statement reached for a file, the network or a setting that it may not have.',
    'Use only the tables of the database and the folders that were made readable.',
  ],
  SANDBOX_PATH_PROTECTED: [
    3299,
    'The sandbox profile would let the tool write what belongs to Keyturn.',
    'Correct the registry: let the tool write somewhere else.',
  ],
  POLICY_DENIED: [
    3300,
    'A policy forbids this.',
    'Read the rationale. Change the request, or ask whoever keeps the policies.',
  ],
  POLICY_NO_PERMIT: [
    3301,
    'No policy permits this, and what is not permitted is denied.',
    'Ask whoever keeps the policies whether it should be permitted.',
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
    'Run `keyturn policy diff`, then activate the files or restore them.',
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
  CAPABILITY_MISSING: [
    3320,
    'There is no capability for this run.',
    'Run `keyturn grant`, or give one with --capability.',
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
    'A new attempt needs `keyturn retry` and a new grant.',
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
    'Whoever presents the capability did not prove to be its holder.',
    'Give the holder key with --holder-key.',
  ],
  CAPABILITY_TOO_LONG: [
    3336,
    'The capability would live longer than it may.',
    'Ask for a shorter time. It never outlives the intent.',
  ],
  FROZEN: [3340, 'It is frozen.', 'A human ends it with `keyturn unfreeze`.'],
  NOT_FROZEN: [3341, 'It is not frozen.', 'Nothing was done. `keyturn status` shows what is.'],
  FROZEN_ALREADY: [3342, 'It is frozen already.', 'Nothing was done. `keyturn status` shows since when.'],
  BREAK_GLASS_FORBIDDEN: [
    3343,
    'No policy permits to break the glass here.',
    'Unfreeze instead, or ask whoever keeps the policies.',
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
    'The delegation would come back to somebody in its own chain.',
    'Delegate to somebody else.',
  ],
  KEY_ENROLLED_TWICE: [
    3356,
    'This key is enrolled under another name.',
    'One key speaks for one name. Use a key of its own.',
  ],
  ACTION_NOT_REQUESTED: [
    3360,
    'The frozen intent does not request this action.',
    'Propose a new intent that requests it.',
  ],
  ACTION_PROHIBITED: [
    3361,
    'The intent itself prohibits this action.',
    'Propose a new intent without the prohibition.',
  ],
  ALTERNATE_NOT_NAMED: [
    3362,
    'The frozen intent does not name this alternate tool.',
    'Propose a new intent that names it.',
  ],
  AGENT_TRANSITION_ILLEGAL: [
    3400,
    'The plan or step of the agent core is not in a state where this can happen.',
    'Nothing was done. Run `keyturn agent status` to see its state.',
  ],
  AGENT_REFS_MISSING: [
    3401,
    'A move of the agent core does not name everything that it rests on, or names something else.',
    'Nothing was done. Ask again, so that every check is made anew.',
  ],
  SIMULATION_NOT_REGISTERED: [
    3402,
    'There is no such simulation, and nothing runs that is not one.',
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
    'Ask whoever keeps the policies whether it should be permitted.',
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
} as const satisfies Record<string, Reason>;
