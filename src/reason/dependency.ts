import type { Reason } from './reason.ts';

/** 4000 to 4999: something that this depends on is not so. */
export const dependencyReasons = {
  ALREADY_EXECUTED: [
    4001,
    'The intent has been executed already.',
    'Propose a new intent if it is wanted again.',
  ],
  RUN_IN_DOUBT: [
    4002,
    'A run of this intent started and its end is not recorded: the effect may have happened.',
    'Find out what happened, then run `keyturn resolve`.',
  ],
  RUN_FAILED: [
    4003,
    'The run of this intent failed.',
    'Find out why. A human may authorise one new attempt with `keyturn retry`.',
  ],
  RETRY_NOT_DUE: [4004, 'There is no failed run to try again.', 'Run `keyturn status`.'],
  RESOLVE_NOT_DUE: [4005, 'The execution is not in doubt.', 'Run `keyturn status`.'],
  RUN_STILL_ALIVE: [
    4006,
    'The process of this run is still alive, or on another host.',
    'Wait for it to end. Of another host, `keyturn resolve` and `keyturn rollback` take your word: --host-is-dead.',
  ],
  CLAIM_TAKEN: [
    4007,
    'Another process took this claim first.',
    'Nothing was done here. Look at what the other process did.',
  ],
  TRANSITION_ILLEGAL: [
    4008,
    'The intent is not in a state where this can happen.',
    'Run `keyturn show` to see its state.',
  ],
  SANDBOX_UNAVAILABLE: [
    4010,
    'The tool asks for a sandbox that this machine does not have.',
    'Install bubblewrap (bwrap) and util-linux (prlimit), or change the setting that the message names.',
  ],
  VERIFIER_NOT_FOUND: [4011, 'The approval verifier does not exist.', 'Check the path of the verifier.'],
  VERIFIER_NOT_CALLABLE: [4012, 'The approval verifier cannot be started.', 'Check its permissions.'],
  VERIFIER_ERROR: [
    4013,
    'The approval verifier answered neither yes nor no.',
    'Repair the verifier. Nothing is assumed.',
  ],
  VERIFIER_DENIED: [4014, 'The approval verifier said no.', 'The intent is not approved with this hash.'],
  LOCK_UNAVAILABLE: [
    4015,
    'The queue or the run cannot be locked.',
    'Install util-linux (flock) and coreutils (mkfifo), or wait for the other process.',
  ],
  CLOCK_BEHIND: [
    4016,
    'The clock of this machine is behind the ledger, so nothing that expires can be judged.',
    'Set the clock. If the clock is right and the newest entry is not, a human says so: `keyturn clock accept`.',
  ],
  ROLLBACK_NOT_DUE: [
    4017,
    'There is nothing here that can be rolled back.',
    'Run `keyturn show ID`, or `keyturn agent status CORRELATION`, to see what was done.',
  ],
  ROLLBACK_STUCK: [
    4018,
    'A rollback of this intent could not restore everything.',
    'Follow the instructions in its report, then run `keyturn rollback` again.',
  ],
  CLOCK_AHEAD: [
    4019,
    'The clock of this machine is ahead: of the server of the store, or of the time that has passed since the last entry.',
    'Set the clock, here or on the server. Without a server, if it is right: `keyturn clock accept`.',
  ],
  MADE_IN_FUTURE: [
    4020,
    'It was made at a time that has not come yet: the clock was ahead then, and was set right since.',
    'Reject or revoke it, and make it again.',
  ],
  RUN_AS_UNAVAILABLE: [
    4021,
    'Keyturn cannot run the tool as the user that it must run as.',
    'Run Keyturn as that user or as root, or correct run_as in the registry.',
  ],
  ROLLBACK_UNFINISHED: [
    4022,
    'A rollback of this run began, and its end is not recorded, so its backups stay.',
    'Wait until it ends. If its process is gone, run `keyturn rollback` again first.',
  ],
  BACKUPS_EXPIRED: [
    4023,
    'The backups of this run were given up with `keyturn gc`, so it can no longer be rolled back.',
    'Restore the files from another backup. `keyturn show ID` says who gave them up, when and why.',
  ],
  RUN_PARTIAL: [
    4024,
    'A run of this intent was stopped half way: part of the effect may have happened.',
    'Find out what happened, then run `keyturn resolve`, or `keyturn rollback` for a plan.',
  ],
  SECRET_MISSING: [
    4025,
    'A secret that the tool needs is not there where it would run.',
    'Name it under secrets in .keyturn/executor.yaml of that host, and see that its source is set.',
  ],
  SECRET_UNREADABLE: [
    4026,
    'The file or the command that gives a secret failed.',
    'Try the source of the secret by hand, as the user that runs Keyturn.',
  ],
  SECRET_UNUSABLE: [
    4027,
    'A secret has under 8 bytes, too many, a NUL, or is not UTF-8.',
    'Put another value in its place: a short one cannot be kept out of what is recorded.',
  ],
  EXECUTOR_FILE_INVALID: [
    4028,
    'The file of the executor cannot be used.',
    'It is .keyturn/executor.yaml: a regular file of the user that runs Keyturn, mode 0600.',
  ],
  PACKAGE_MISSING: [
    4029,
    'This needs a package that is not installed: DuckDB, the driver of PostgreSQL and telemetry are installed apart.',
    'Install it as the message says, in the folder where Keyturn is installed, with -g if Keyturn was.',
  ],
  UNDO_NOT_DUE: [4030, 'There is no successful run that could be undone.', 'Run `keyturn show ID`.'],
  UNDO_UNDECLARED: [
    4031,
    'The tool declared no call that undoes it, or a different one.',
    'Propose what makes up for it yourself, or declare undone_by in tools.yaml for the next time.',
  ],
  SERVICE_RUNNING: [
    4032,
    'A service, or an executor, of this project is running here already.',
    'Stop it first, or use it: `keyturn link` prints a link to its console.',
  ],
  ADDRESS_TAKEN: [
    4033,
    'The address cannot be listened at.',
    'Stop what uses it, or name another one with --port and --host.',
  ],
  WAIT_OVER: [4034, 'It has not come that far yet.', 'Ask again.'],
  CLOCK_FITS: [
    4035,
    'The clock fits the ledger. There is nothing to accept.',
    'Nothing was done. `keyturn status` shows when a clock does not fit.',
  ],
  UNDO_UNDER_WAY: [
    4036,
    'Another intent undoes this run already: it waits, runs, or is in doubt.',
    'Run `keyturn show ID` of the intent that the message names. Once it failed, was rejected or has expired, another one can be proposed.',
  ],
  UNDONE_BEFORE: [
    4037,
    'The run was undone before, and is not undone twice.',
    'Run `keyturn show ID` of the intent that the message names. To undo it again, propose the call yourself.',
  ],
  DEPENDENCY_FAILED: [4100, 'An action that this one depends on failed.', 'Correct the action that failed.'],
  DEPENDENCY_NOT_COMPLETED: [
    4101,
    'An action that this one depends on was not completed.',
    'Find out why that action did not run.',
  ],
  RUNNER_MISSING: [
    4102,
    'There is nothing here that could run an action of this type.',
    'Register the pipeline, or remove the action.',
  ],
  IDEMPOTENCY_VIOLATION: [
    4200,
    'This step was dispatched before, under the same idempotency key.',
    'Nothing was done. `keyturn agent status CORRELATION` shows what came of it.',
  ],
  SERVICE_MISSING: [
    4205,
    'No service of this project answers on this machine.',
    'Start `keyturn serve` in another terminal, then run the command again.',
  ],
  LOGIN_UNAVAILABLE: [
    4206,
    'The identity provider does not answer, or not as one does.',
    'Try again. If it stays so, look at the address that --oidc-issuer names.',
  ],
  LEDGER_SET_BACK: [
    4220,
    'The ledger was set back after this was proposed: it may have run since, and no entry would say so.',
    'Find out whether it ran. If it is still wanted, propose it again.',
  ],
  BACKUP_DAMAGED: [4221, 'This is no backup, or it was changed since it was made.', 'Use another backup.'],
  BACKUP_BEHIND: [
    4222,
    'The store holds entries that the backup does not have.',
    'Nothing was changed. Use the store as it is; if it is damaged, move it away, and a human will have to accept what is then forgotten.',
  ],
  NOTIFY_FAILED: [
    4223,
    'A notification did not arrive.',
    'Look at the target: its address, its answer, its secret. Nothing else depends on it.',
  ],
  NOTIFY_TARGET_UNKNOWN: [
    4224,
    'There is no such target of notifications on this host.',
    'Name it in .keyturn/executor.yaml of the host that serves, under notify.targets.',
  ],
  CONSOLE_CHANGED: [
    4240,
    'A file of the console is not as it was built.',
    'Install Keyturn again, or run `npm run build` in a clone. Sign nothing in a console that was changed.',
  ],
} as const satisfies Record<string, Reason>;
