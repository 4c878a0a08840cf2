import type { Reason } from './reason.ts';

/** 5000 to 5999: something broke. */
export const internalReasons = {
  INTERNAL: [5001, 'Keyturn failed in a way it does not know.', 'Report this. Nothing was acknowledged.'],
  RECORDING_FAILED: [
    5002,
    'The tool may have run, and its outcome could not be recorded.',
    'The run is in doubt. Find out what happened, then run `keyturn resolve`.',
  ],
  KEY_MEMORY: [
    5003,
    'There is not enough memory to derive the key from its passphrase.',
    'Nothing was done. Give this process 192 MiB of memory, and try again.',
  ],
  TOOL_NOT_STARTED: [5010, 'The tool could not be started.', 'Read the error output.'],
  TOOL_EXIT_NONZERO: [5011, 'The tool ended with an exit code other than 0.', 'Read the error output.'],
  TOOL_TIMED_OUT: [
    5012,
    'The tool ran longer than its timeout and was killed.',
    'Find out how far it came. What it did until then stays done.',
  ],
  TOOL_KILLED: [
    5013,
    'The tool was killed by a signal.',
    'Find out how far it came. What it did until then stays done.',
  ],
  ACTION_TIMED_OUT: [5100, 'An action took longer than its timeout.', 'Raise its timeout, or do less in it.'],
  PLAN_TIMED_OUT: [
    5101,
    'The plan took longer than its timeout.',
    'It was rolled back. Raise its timeout, or split the plan.',
  ],
  PLAN_CANCELLED: [
    5102,
    'The run was cancelled.',
    'It was rolled back. Propose the plan again if it is wanted.',
  ],
  PIPELINE_FAILED: [5103, 'A pipeline did not end well.', 'Read its output. What it did stays done.'],
  SQL_TIMED_OUT: [
    5200,
    'The SQL ran longer than its timeout and was killed.',
    'Nothing was changed. Make it faster, or raise the timeout.',
  ],
  SQL_ABORTED: [
    5201,
    'The SQL was stopped from outside.',
    'Nothing was changed. Run it again if it is wanted.',
  ],
  SQL_OUT_OF_MEMORY: [
    5202,
    'The SQL needs more memory than it may have.',
    'Nothing was changed. Do less at once, or raise the limit.',
  ],
  SQL_RUNNER_FAILED: [
    5203,
    'The process that runs SQL could not be started, or died.',
    'Nothing was changed. Read the message; a statement may have crashed DuckDB.',
  ],
  REPLAY_DIFFERS: [
    5300,
    'A decision that was recorded cannot be reproduced.',
    'Do not rely on it. Verify the ledger, and find out what changed.',
  ],
  AGENT_REPLAY_DIFFERS: [
    5301,
    'A decision of the agent core, made again from what it was made from, comes out differently.',
    'Do not rely on it. Verify the ledger, and find out what changed.',
  ],
  STEP_TIMED_OUT: [
    5302,
    'A step of the agent core took longer than its timeout.',
    'Find out how far it came. Nothing is tried again.',
  ],
} as const satisfies Record<string, Reason>;
