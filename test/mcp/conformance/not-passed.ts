/** By a grant over standard input and output, or by a human over HTTP. */
export type Route = 'granted' | 'approved';

/** Checks of the suite that the gate does not pass, and why. */
export interface NotPassed {
  readonly why: string;
  readonly routes: readonly Route[];
  /** Of the protocol. */
  readonly revisions: readonly string[];
  /** What the suite says of each. */
  readonly says: RegExp;
  /** By scenario. */
  readonly failed: Readonly<Record<string, readonly string[]>>;
}

const BOTH: readonly Route[] = ['granted', 'approved'];
const LEGACY = ['2025-11-25'];
const STATELESS = ['2026-07-28'];

/** A check that fails and does not stand here with these words fails the test, and so does one that stands here and passes. */
export const NOT_PASSED: readonly NotPassed[] = [
  {
    why: 'A server with a handshake sends its questions while the call runs. The gate passes none of these on: what the client answered would be input of a call that a human approved without it.',
    routes: BOTH,
    revisions: LEGACY,
    says: /^Server did not request (?:sampling|elicitation) from client$/,
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
    says: /^No log notifications received$/,
    failed: { 'tools-call-with-logging': ['tools-call-with-logging'] },
  },
  {
    why: 'HTTP stands before the gate here only as a part of the test. Over HTTP the service looks at Host and Origin, and passes it.',
    routes: ['granted'],
    revisions: [...LEGACY, ...STATELESS],
    says: /^Expected HTTP 4xx for invalid Host\/Origin headers, got 200$/,
    failed: { 'dns-rebinding-protection': ['localhost-host-rebinding-rejected'] },
  },
  {
    why: 'Over standard input and output there are no headers and no statuses: HTTP stands before the gate here only as a part of the test, which answers everything with 200.',
    routes: ['granted'],
    revisions: STATELESS,
    says: /got (?:status code |HTTP |status )?200|\(missing\)|returned a (?:successful response|result)/,
    failed: {
      'http-header-validation': ['sep-2243-server-reject-invalid-headers'],
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
    why: 'Over standard input a message that names no version is one of the protocol with a handshake, which may be spoken there, too. Over HTTP a header tells them apart.',
    routes: ['granted'],
    revisions: STATELESS,
    says: /^Expected error code -32602, got undefined$/,
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
    says: /^(?:Failed to receive progressive stream|Logging target endpoint context dropped)/,
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
    says: /^tools\/call for failing_job returned a successful response/,
    failed: {
      'tasks-required-task-error': ['sep-2663-server-returns-missing-capability-when-required'],
    },
  },
];
