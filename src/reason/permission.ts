import type { Reason } from './reason.ts';

/** 3000 to 3999: a yes is missing from those who may give it. */
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
  PASSPHRASE_WEAK: [
    3009,
    'The passphrase is easy to guess.',
    'Use four or more words that do not belong together, or 12 random characters.',
  ],
  KEY_FILE_INVALID: [
    3010,
    'The key file is missing, damaged or not the enrolled key.',
    'Restore the key file from a backup.',
  ],
  SIGNATURE_INVALID: [3011, 'A signature does not verify.', 'Do not rely on what it signs.'],
  CONFIRMATION_DECLINED: [
    3012,
    'The answer was not yes.',
    'Nothing was done. If you want it after all, run the command again, or ask again.',
  ],
  NO_TERMINAL: [
    3013,
    'There is no terminal to ask a human at.',
    'Run the command in a terminal. No flag and no variable answers a prompt.',
  ],
  CONFIRMATION_WRONG: [
    3014,
    'What was typed is not what the question asks for.',
    'Nothing was done. Type what the question asks for, as the screen shows it.',
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
  LAST_HUMAN: [
    3018,
    'This is the last human who can act.',
    'Enrol another human first, who is no auditor, or add another credential.',
  ],
  ALREADY_APPROVED: [
    3019,
    'The intent is approved already.',
    'Nothing was done. Check it with `keyturn lane check`.',
  ],
  APPROVER_REVOKED: [
    3020,
    'The key of a human who approved this was revoked since, or they became an auditor.',
    'Ask another human to review and approve it.',
  ],
  SHOWN_IN_PART: [
    3021,
    'What a yes would cover was not shown to its end.',
    'Nothing was done. Run it again and go through all pages; a shows all of them at once.',
  ],
  PASSPHRASE_DIFFERS: [3022, 'The two passphrases are not the same.', 'Type the same passphrase twice.'],
  PASSKEY_INVALID: [
    3023,
    'What the passkey answered cannot be used.',
    'Try again with the passkey that was enrolled. If it happens again, revoke the passkey and enrol it again.',
  ],
  PASSKEY_UNVERIFIED: [
    3024,
    'The authenticator did not verify who used the passkey.',
    'Set a PIN or a fingerprint on the authenticator, then try again.',
  ],
  PASSKEY_ORIGIN: [
    3025,
    'The passkey was used on another page than it is enrolled for.',
    'Do not rely on what it signs. Open the console at its own address.',
  ],
  CREDENTIAL_UNKNOWN: [
    3026,
    'This person has no such credential.',
    'See `keyturn credential list` for those that there are.',
  ],
  CREDENTIAL_FOREIGN: [
    3027,
    'This person has a credential that works, and adds another one with it.',
    'If it is lost, revoke it first: `keyturn credential revoke`. Then add a new one.',
  ],
  CREDENTIAL_AMBIGUOUS: [
    3028,
    'Several credentials could be meant.',
    'Name one of them. `keyturn credential list` shows them.',
  ],
  CREDENTIAL_TOO_MANY: [
    3029,
    'This person has as many credentials as one can have.',
    'Revoke one that is not used any more.',
  ],
  OBJECT_KEPT: [
    3030,
    'Decisions rest on this object, and it holds no words of a person. It is never erased.',
    'Revoke a capability, activate other policies, or disable a simulation.',
  ],
  ERASE_UNCONFIRMED: [
    3031,
    'Erasing it would take away more than was confirmed.',
    'See `keyturn object erase DIGEST --preview`, then confirm what it names.',
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
    'Remove the action, or ask the owner of the configuration.',
  ],
  PLAN_PATH_UNLISTED: [
    3152,
    'The path is not one that the plan lists.',
    'Nothing was changed there. Propose a plan that lists it.',
  ],
  PLAN_OPERATION_FORBIDDEN: [
    3153,
    'The configuration does not allow this kind of action.',
    'Remove the action, or ask the owner of the configuration.',
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
    'The run can still be rolled back, so its backups stay where they are.',
    'Roll back first, or give the undo up with `keyturn gc --undoable-too`.',
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
  MESSAGE_SIGNATURE_INVALID: [
    3205,
    'The signature of the request is not one that holds here now.',
    'Sign the request again as docs/http.md says, with a key that is enrolled and for this ledger.',
  ],
  MESSAGE_REPLAYED: [
    3206,
    'A request with this signature came before, or it is too old.',
    'Sign each request by itself, with a new nonce, and send it at once.',
  ],
  LOGIN_REFUSED: [
    3207,
    'The identity provider did not show an enrolled human.',
    'Open /v1/login again, with the account of an enrolled human.',
  ],
  AUDITOR_ACTS: [
    3210,
    'An auditor reads everything and acts on nothing.',
    'Ask another human to do it, or to assign other roles.',
  ],
  NOT_FOR_AGENTS: [3211, 'An agent cannot ask for this.', 'Ask a human.'],
  CALLER_OTHER: [3212, 'The caller is not the one that the request names.', 'Ask in your own name.'],
  CALLER_UNPROVEN: [
    3220,
    'Who is calling is not proven.',
    'Send the token of an agent (Authorization: Bearer), or open the link that `keyturn serve` printed.',
  ],
  TOKEN_INVALID: [
    3221,
    'The token, or the session, is not one that holds here now.',
    'Use another token (`keyturn token add`), or open a new link.',
  ],
  LINK_SPENT: [
    3222,
    'The link was used before, is older than 5 minutes, or is not one of this service.',
    'Run `keyturn link` as the account of the service: it prints a new one.',
  ],
  ORIGIN_FOREIGN: [
    3223,
    'A page of another origin asks, or the request does not say which page does.',
    'Ask from a page of this service, or with a token.',
  ],
  SESSION_READS: [
    3224,
    'A session only reads. Every act of a human needs a proof of its own.',
    'Propose with the token of an agent, or at the terminal.',
  ],
  TOKEN_TOO_MANY: [
    3225,
    'This agent has as many tokens as one may have.',
    'Revoke one that is no longer needed.',
  ],
  CALLER_LIMITED: [
    3226,
    'This caller asks too often, or for too much at once.',
    'Wait as long as Retry-After says. keyturn.yaml sets the limits (service).',
  ],
  NOTIFY_ADDRESS_DENIED: [
    3227,
    'The host of a notification is at an address of this machine or of a private network, or has no TLS.',
    'If it is meant, name the address in the target in .keyturn/executor.yaml, such as `allow: [127.0.0.0/8]`.',
  ],
  MCP_SERVER_UNACCEPTED: [
    3260,
    'No human has accepted this MCP server. Nothing of it is started.',
    'Run `keyturn mcp accept NAME`: it shows every tool, and asks for a signature.',
  ],
  MCP_SERVER_CHANGED: [
    3261,
    'How the MCP server is started is not what a human accepted.',
    'Run `keyturn mcp diff NAME` to see the difference, and `keyturn mcp accept NAME` to accept it.',
  ],
  MCP_DEFINITION_CHANGED: [
    3262,
    'The MCP server now defines the tool in another way than a human accepted.',
    'Run `keyturn mcp diff NAME` to see the difference, and `keyturn mcp accept NAME` to accept it.',
  ],
  GRANT_OUTSIDE: [
    3263,
    'The call is outside of what the grant allows.',
    'Propose it without the grant: a human decides on it.',
  ],
  GRANT_SPENT: [
    3264,
    'The grant was used as often as it may be.',
    'Propose it without the grant, or ask a human for another one.',
  ],
  GRANT_PIN_CHANGED: [
    3265,
    'The grant was given for another definition of the tool, and ended when that changed.',
    'Propose it without the grant, or ask a human for another one.',
  ],
  MCP_ADDRESS_DENIED: [
    3266,
    'The MCP server is at an address of this machine or of a private network, or has no TLS.',
    'If it is meant, name the network under `allow` of the server in keyturn.yaml, and accept it.',
  ],
  MCP_NOT_SHADOW: [
    3267,
    'The tool is not in shadow mode as a human accepted it, so no call passes without an approval.',
    'Call it through the gate, or accept its server again with `mode: shadow`.',
  ],
  MCP_NOT_PASSED: [
    3268,
    'No human accepted that this MCP server passes this on besides its tools.',
    'Name it under `pass` of the server in keyturn.yaml, and accept the server again.',
  ],
  RUN_AS_CANNOT_REACH: [
    3296,
    'The user that the tool runs as cannot reach a path that it needs.',
    'Give that user the right (chown, chmod or setfacl), or name another user with run_as in the registry (for an MCP server: --run-as, or run_as in keyturn.yaml).',
  ],
  SANDBOX_TOO_WIDE: [
    3297,
    'The folders of the sandbox hold too many others to search them for the keys of other projects, or too many sockets to cover them.',
    'Correct the registry: name the folders that the tool needs.',
  ],
  COVERED_WRITABLE: [
    3298,
    'A file that covers names is written by the tool itself, or by Keyturn.',
    'Correct the registry: let the tool write somewhere else, or leave the file out of covers.',
  ],
  SANDBOX_PATH_PROTECTED: [
    3299,
    'The sandbox profile would let the tool write what belongs to Keyturn.',
    'Correct the registry: let the tool write somewhere else.',
  ],
} as const satisfies Record<string, Reason>;
