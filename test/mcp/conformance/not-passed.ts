/** By a grant over standard input and output, or by a human over HTTP. */
export type Route = 'granted' | 'approved';

/** Checks of the suite that the gate does not pass, and why: they fail, warn of what a server should do, or are skipped. */
export interface NotPassed {
  readonly why: string;
  readonly routes: readonly Route[];
  /** Of the protocol. */
  readonly revisions: readonly string[];
  /** What the suite says of each, after the word for how it ended. */
  readonly says: RegExp;
  /** Whether it is passed where the human is fast enough. */
  readonly sometimes?: true;
  /** By scenario, each check once, however often the suite made it. */
  readonly failed: Readonly<Record<string, readonly string[]>>;
}

const BOTH: readonly Route[] = ['granted', 'approved'];
const LEGACY = ['2025-11-25'];
const STATELESS = ['2026-07-28'];

/** A check that is not passed and does not stand here with these words fails the test, and so does one that stands here and is passed. */
export const NOT_PASSED: readonly NotPassed[] = [
  {
    why: 'A server with a handshake sends its questions while the call runs. The gate passes none of these on: what the client answered would be input of a call that a human approved without it.',
    routes: BOTH,
    revisions: LEGACY,
    says: /^FAILURE: Server did not request (?:sampling|elicitation) from client$/,
    failed: {
      'tools-call-sampling': ['tools-call-sampling'],
      'tools-call-elicitation': ['tools-call-elicitation'],
      'elicitation-sep1034-defaults': ['elicitation-sep1034-general'],
      'elicitation-sep1330-enums': ['elicitation-sep1330-general'],
    },
  },
  {
    why: 'Over HTTP a server works for all callers of the service. Its log tells of the calls of others, so no caller gets it.',
    routes: ['approved'],
    revisions: LEGACY,
    says: /^FAILURE: No log notifications received$/,
    failed: { 'tools-call-with-logging': ['tools-call-with-logging'] },
  },
  {
    why: 'HTTP stands before the gate here only as a part of the test. Over HTTP the service looks at Host and Origin, and passes it.',
    routes: ['granted'],
    revisions: [...LEGACY, ...STATELESS],
    says: /^FAILURE: Expected HTTP 4xx for invalid Host\/Origin headers, got 200$/,
    failed: { 'dns-rebinding-protection': ['localhost-host-rebinding-rejected'] },
  },
  {
    why: 'Over standard input and output there are no headers and no statuses: HTTP stands before the gate here only as a part of the test, which answers everything with 200.',
    routes: ['granted'],
    revisions: STATELESS,
    says: /got (?:status code |HTTP |status )?200|\(missing\)|returned a (?:successful response|result)/,
    failed: {
      'http-header-validation': [
        'sep-2243-server-reject-invalid-headers',
        'sep-2243-server-reject-error-code',
      ],
      'http-custom-header-server-validation': [
        'sep-2243-server-reject-invalid-param-chars',
        'sep-2243-server-reject-param-mismatch',
        'sep-2243-server-validate-param-match',
      ],
      'server-stateless': [
        'sep-2575-http-server-meta-invalid-400',
        'sep-2575-http-server-unsupported-version-400',
        'sep-2575-http-server-header-mismatch-400',
        'sep-2575-missing-capability-http-400',
        'sep-2575-http-server-method-not-found-404',
        'sep-2575-http-server-method-not-found-404-initialize',
        'sep-2575-http-server-method-not-found-404-ping',
        'sep-2575-http-server-method-not-found-404-logging-setlevel',
        'sep-2575-http-server-method-not-found-404-resources-subscribe',
        'sep-2575-http-server-method-not-found-404-resources-unsubscribe',
      ],
      'tasks-request-headers': [
        'tasks-headers-reject-mismatched-method',
        'sep-2663-server-rejects-mismatched-mcp-name-on-tasks-get',
      ],
    },
  },
  {
    why: 'Over standard input and output there are neither sessions nor streams of events: the part of the test that stands before the gate gives no name to a session, and its streams cannot be taken up again.',
    routes: ['granted'],
    revisions: LEGACY,
    says: /^WARNING: Server did not (?:provide session ID|send priming event|send retry field)/,
    failed: {
      'server-sse-multiple-streams': ['server-sse-multiple-streams-session'],
      'server-sse-polling': [
        'server-sse-polling-session',
        'server-sse-priming-event',
        'server-sse-retry-field',
      ],
    },
  },
  {
    why: 'A session over HTTP is a name that a client repeats. The service keeps nothing of it that would have to be ended, so it takes no DELETE, as the specification permits.',
    routes: ['approved'],
    revisions: LEGACY,
    says: /^SKIPPED: .*\b405\b/,
    failed: {
      'server-session-lifecycle': ['server-session-delete-accepted', 'server-session-terminated-returns-404'],
    },
  },
  {
    why: 'The suite skips it in every server: its own part for it is not written yet.',
    routes: BOTH,
    revisions: STATELESS,
    says: /^SKIPPED: .*harness needs a rewrite/,
    failed: { 'tasks-status-notifications': ['tasks-status-notifications'] },
  },
  {
    why: 'The call that changes the prompts waits for a human, and the scenario does not wait as long.',
    routes: ['approved'],
    revisions: STATELESS,
    says: /^WARNING: Mutated the prompt list but no notifications/,
    sometimes: true,
    failed: { 'server-stateless': ['sep-2575-server-sends-prompts-list-changed-on-subscription'] },
  },
  {
    why: 'The server changed its tools. Nothing changes for the client of the gate, and it is told of nothing, until a human accepted them.',
    routes: BOTH,
    revisions: STATELESS,
    says: /^WARNING: Mutated the tool list but no notifications/,
    failed: { 'server-stateless': ['sep-2575-server-sends-tools-list-changed-on-subscription'] },
  },
  {
    why: 'Over standard input a message that names no version is one of the protocol with a handshake, which may be spoken there, too. Over HTTP a header tells them apart.',
    routes: ['granted'],
    revisions: STATELESS,
    says: /^FAILURE: Expected error code -32602, got undefined$/,
    failed: {
      'server-stateless': [
        'sep-2575-request-meta-invalid-missing-meta',
        'sep-2575-request-meta-invalid-missing-protocol-version',
      ],
    },
  },
  {
    why: 'The scenario gives up after half a second, and a human needs longer.',
    routes: ['approved'],
    revisions: STATELESS,
    says: /^FAILURE: (?:Failed to receive progressive stream|Logging target endpoint context dropped)/,
    failed: {
      'server-stateless': [
        'sep-2575-http-server-no-independent-requests-on-stream',
        'sep-2575-server-no-log-without-loglevel',
      ],
    },
  },
  {
    why: 'A call that waits for a human is a task for a client that follows tasks, whatever its tool is: the server cannot answer it at once.',
    routes: ['approved'],
    revisions: STATELESS,
    says: /task/,
    failed: {
      'tasks-lifecycle': ['tasks-sync-tool-call'],
      'tasks-dispatch-and-envelope': [
        'sep-2663-legacy-task-param-ignored',
        'tasks-result-type-complete-on-non-task-responses',
      ],
      'tasks-request-headers': ['tasks-headers-tolerate-mcp-method-on-tools-call'],
      'tasks-mrtr-composition': ['sep-2663-mrtr-synchronous-before-task-creation'],
    },
  },
  {
    why: 'No tool needs a task behind the gate: for a client that follows none, the call is held until it has an answer.',
    routes: BOTH,
    revisions: STATELESS,
    says: /^FAILURE: tools\/call for failing_job returned a successful response/,
    failed: {
      'tasks-required-task-error': ['sep-2663-server-returns-missing-capability-when-required'],
    },
  },
];
