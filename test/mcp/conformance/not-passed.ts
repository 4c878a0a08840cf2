/** By a grant over standard input and output, or by a human over HTTP. */
export type Route = 'granted' | 'approved';

interface Because {
  readonly why: string;
  readonly routes: readonly Route[];
}

const BOTH: readonly Route[] = ['granted', 'approved'];
const of = (why: string, names: readonly string[], routes = BOTH): [string, Because][] =>
  names.map((name) => [name, { why, routes }]);

/** What of the suite the gate does not pass, and why. A scenario that fails and does not stand here fails the test. */
export const NOT_PASSED: Readonly<Record<string, Because | undefined>> = Object.fromEntries([
  ...of(
    'A server behind the gate may not ask the client for anything: what a client answers by itself is no word of a human.',
    [
      'tools-call-sampling',
      'tools-call-elicitation',
      'elicitation-sep1034-defaults',
      'elicitation-sep1330-enums',
      'input-required-result-basic-elicitation',
      'input-required-result-basic-sampling',
      'input-required-result-basic-list-roots',
      'input-required-result-request-state',
      'input-required-result-multiple-input-requests',
      'input-required-result-multi-round',
      'input-required-result-non-tool-request',
      'input-required-result-result-type',
      'input-required-result-tampered-state',
      'input-required-result-capability-check',
      'tasks-mrtr-input',
      'tasks-mrtr-composition',
    ],
  ),
  ...of(
    'What of it is passed on from a server has other names behind the gate, and it is passed on only where a human accepted it so.',
    [
      'completion-complete',
      'prompts-get-simple',
      'prompts-get-with-args',
      'prompts-get-embedded-resource',
      'prompts-get-with-image',
      'resources-read-text',
      'resources-read-binary',
      'resources-templates-read',
      'resources-subscribe',
      'resources-unsubscribe',
      'tools-call-with-logging',
    ],
  ),
  ...of(
    'Over HTTP the gate answers with one message, and tells nothing on the way to it.',
    ['tools-call-with-progress'],
    ['approved'],
  ),
  ...of(
    'It is about HTTP, which stands before the gate here only as a part of the test.',
    ['dns-rebinding-protection', 'server-sse-polling'],
    ['granted'],
  ),
  ...of(
    'Over standard input there are no headers; over HTTP a call of an older protocol is held for longer than the scenario waits.',
    ['http-header-validation'],
  ),
  ...of('The fixture has no tool with headers of its own.', ['http-custom-header-server-validation']),
  ...of(
    'Faults that are left: over HTTP a method that 2026-07-28 removed or nobody knows is answered with 200 and not with 404, and a request of it without `_meta` with -32020 and not with -32602. It also asks for a tool that needs sampling.',
    ['server-stateless'],
  ),
  ...of(
    'A fault that is left: `tasks/*` of a client that declared no tasks is answered with -32602 and not with -32021.',
    ['tasks-capability-negotiation'],
  ),
  ...of(
    'A call that waits for a human is a task whatever its tool is, and one under a grant is none: which of the two is not the choice of the server. Faults that are left in it: a call that a token made cannot be cancelled (RECEIPT_INVALID), a second cancel of an ended task is an error, and a protocol error of the server ends as completed.',
    [
      'tasks-lifecycle',
      'tasks-dispatch-and-envelope',
      'tasks-request-headers',
      'tasks-required-task-error',
      'tasks-request-state-removal',
    ],
  ),
]);
