import * as z from 'zod';
import type { OnOutput } from '../effect/child.ts';
import { serverName } from '../event/shape.ts';
import type { Signer } from '../identity/act.ts';
import { clientCapabilities } from '../intent/client-input.ts';
import { draftSchema } from '../intent/envelope.ts';
import { beginCall, type CallRequest } from '../journey/call.ts';
import { askServer, PASSED_METHODS, type PassRequest } from '../journey/passed.ts';
import { refuseUnnamed } from '../journey/propose.ts';
import { keepAnswers, questionedCall } from '../journey/question.ts';
import * as serving from '../journey/servers.ts';
import { shadowCall } from '../journey/shadow.ts';
import { proposedBy } from './caller.ts';
import { askedId, code, digest, id, jsonObject, name, time, why } from './parts.ts';
import { act, here, nothing, read, write } from './verb.ts';

const server = serverName;
/** By the name of the question. */
const answers = jsonObject;

/** What a server does for all callers of a process or for none: only an entry point of that process asks for it. */
const SHARED = ['resources/subscribe', 'resources/unsubscribe', 'logging/setLevel'] as const;
type Shared = (typeof SHARED)[number];
const ASKED = Object.keys(PASSED_METHODS).filter((method) => !SHARED.some((one) => one === method)) as [
  Exclude<PassRequest['method'], Shared>,
];

/** MCP servers behind the gate, and calls to them. */
export const mcp = {
  servers: read({
    open_to: 'people',
    about: 'Every MCP server that keyturn.yaml names or a human accepted. Nothing is started.',
    input: nothing,
    output: () =>
      z.strictObject({
        servers: z.array(
          z.strictObject({
            server,
            /** `changed`: keyturn.yaml, or a file, says something else than what was accepted. */
            status: z.enum(['accepted', 'unaccepted', 'changed', 'removed from keyturn.yaml']),
            accepted: digest.nullable(),
            by: name.nullable(),
            accepted_at: time.nullable(),
            tools: z.int(),
            /** How many of them pass without an approval. */
            shadow: z.int(),
          }),
        ),
      }),
    run: async ({ context }) => ({ servers: await serving.serverStatuses(context) }),
  }),

  tools: read({
    open_to: 'anyone',
    about: 'The tools of every accepted MCP server, as their servers define them and as the gate calls them.',
    input: nothing,
    output: () =>
      z.strictObject({
        tools: z
          .array(
            z.strictObject({
              called: z.string(),
              server,
              tool: z.string(),
              pin: digest,
              /** `shadow`: its calls pass without an approval. */
              mode: z.enum(['gate', 'shadow']),
              /** In the words of the server. */
              definition: z.looseObject({}).readonly(),
            }),
          )
          .readonly(),
        /** What of each server reaches callers besides its tools. */
        passes: z.array(z.strictObject({ server, pass: z.array(z.string()).readonly() })).readonly(),
      }),
    run: ({ context }) => serving.serverOffer(context),
  }),

  accept: act({
    open_to: 'people',
    about: 'Accept an MCP server with every tool that was shown. Until then nothing of it is started.',
    input: () => z.strictObject({ reason: z.string() }),
    output: () =>
      z.strictObject({
        server,
        accepted: digest,
        replaces: digest.nullable(),
        tools: z.int(),
        shadow: z.int(),
        ...why,
      }),
    /** What `Keyturn.lookAtServer` showed: a look starts the server, so only a process of this host asks for it. */
    here: here<{ readonly looked: Pick<serving.LookedServer, 'accepted' | 'replaces'> }>('looked'),
    run: async ({ context }, request) => {
      const { body } = await serving.acceptServer(context, request);
      const { server: named, accepted, replaces, tools, shadow = 0, by, reason } = body;
      return { server: named, accepted, replaces, tools, shadow, by, reason };
    },
  }),

  remove: act({
    open_to: 'people',
    about: 'Take back what was accepted of an MCP server: nothing of it can be proposed or run any more.',
    input: () => z.strictObject({ server, reason: z.string() }),
    output: () => z.strictObject({ server, ...why }),
    run: async ({ context }, request) => {
      const { body } = await serving.removeServer(context, request);
      return { server: body.server, by: body.by, reason: body.reason };
    },
  }),

  call: write({
    open_to: 'anyone',
    about:
      'Begin a call in the name of an agent. The same call while it waits is the same intent; one that a grant covers runs at once.',
    input: () =>
      z.strictObject({
        issuer: name.optional(),
        declared_goal: z.string().min(1),
        effect: draftSchema.shape.effect,
        /** The intent whose server asked for what this call brings: all that answer it are one intent. */
        answers: askedId.optional(),
        /** Nothing runs now, not even what a grant covers. */
        is_only_proposed: z.boolean().optional(),
      }),
    output: () =>
      z.strictObject({
        intent_id: id,
        how: z.enum(['proposed', 'same', 'again', 'granted']),
        /** Why a grant that covers it was not used. */
        refused: code.nullable(),
        /** Who has it can withdraw the intent. Null where the proposer signed. */
        receipt: z.string().nullable(),
      }),
    here: here<{
      readonly signer?: Signer | undefined;
      readonly abort?: AbortSignal | undefined;
      readonly onOutput?: OnOutput | undefined;
      readonly onBegun?: ((intent_id: string) => void) | undefined;
    }>('signer', 'abort', 'onOutput', 'onBegun'),
    run: async ({ context, caller }, request) => {
      const { issuer = request.signer?.name, ...asked } = proposedBy(caller, request);
      if (issuer === undefined) return refuseUnnamed(context);
      return beginCall(context, { ...asked, issuer } as CallRequest);
    },
  }),

  question: read({
    open_to: 'proposer',
    refuses: ['INTENT_NOT_FOUND', 'OBJECT_MISSING'],
    about: 'The call of an intent, and the intent that brings what its server asked for.',
    input: () => z.strictObject({ intent_id: askedId }),
    output: () =>
      z.strictObject({
        /** Null for what is no call to a server. */
        call: z
          .strictObject({
            server,
            tool: z.string(),
            arguments: z.looseObject({}).readonly(),
            answered_by: id.nullable(),
            /** What the client answered while other questions are open. */
            partial: answers,
          })
          .nullable(),
      }),
    run: async ({ context }, { intent_id }) => ({ call: await questionedCall(context, intent_id) }),
  }),

  keep: write({
    open_to: 'proposer',
    refuses: ['INTENT_NOT_FOUND', 'OBJECT_MISSING'],
    about:
      'Keep what a client answered to some of the questions of a server, until the other answers make a call of all of them. It approves nothing.',
    input: () => z.strictObject({ intent_id: askedId, answers }),
    output: () => z.strictObject({ /** All that is kept now. */ answers }),
    run: async ({ context }, { intent_id, answers: given }) => ({
      answers: await keepAnswers(context, intent_id, given),
    }),
  }),

  ask: write({
    open_to: 'anyone',
    refuses: ['MCP_CALL_TIMED_OUT'],
    about:
      'Ask an MCP server for a resource, a prompt or a completion, where a human accepted that it passes these on.',
    input: () =>
      z.strictObject({
        server,
        method: z.enum(ASKED),
        params: z.record(z.string(), z.json()),
        /** What the client can answer, where a human accepted that the server may ask it. */
        capabilities: clientCapabilities.optional(),
      }),
    output: () =>
      z.strictObject({
        result: z.looseObject({}).nullable(),
        /** The error of the server, in its words. */
        error: z.looseObject({}).nullable(),
      }),
    here: here<{
      /** Asked in place of `method`. */
      readonly shared?: Shared | undefined;
    }>('shared'),
    run: async ({ context, caller }, { shared, ...request }) => {
      const by = caller.kind === 'owner' ? undefined : caller.name;
      const asked = { ...(request as PassRequest), ...(shared && { method: shared }), by };
      const { result, error } = await askServer(context, asked);
      return { result: result && { ...result }, error: error && { ...error } };
    },
  }),

  pass: write({
    open_to: 'anyone',
    about:
      'Call a tool that a human accepted in shadow mode: it is sent WITHOUT AN APPROVAL, and recorded with what the gate would have done.',
    input: () =>
      z.strictObject({
        issuer: name.optional(),
        declared_goal: z.string().min(1),
        effect: draftSchema.shape.effect,
      }),
    output: () =>
      z.strictObject({
        shadow_id: id,
        /** `run`: a grant covers it. `ask`: a human would have been asked. `deny`: no human could have approved it. */
        would: z.enum(['run', 'ask', 'deny']),
        would_code: code.nullable(),
        result: z.enum(['success', 'failure', 'partial']),
        reason_code: code.nullable(),
        /** What the server answered, as JSON. */
        answer: z.string(),
      }),
    here: here<{
      readonly signer?: Signer | undefined;
      readonly abort?: AbortSignal | undefined;
      readonly onOutput?: OnOutput | undefined;
    }>('signer', 'abort', 'onOutput'),
    run: async ({ context, caller }, request) => {
      const { issuer = request.signer?.name, ...asked } = proposedBy(caller, request);
      if (issuer === undefined) return refuseUnnamed(context);
      return shadowCall(context, { ...asked, issuer } as CallRequest);
    },
  }),

  answered: write({
    open_to: 'anyone',
    about: 'Say that the whole answer of a call was handed to its caller: the same call is then a new one.',
    input: () => z.strictObject({ intent_id: id }),
    output: () => z.strictObject({}),
    here: here<{ readonly by?: 'entry point' }>('by'),
    run: async ({ context }, { intent_id }) => {
      context.calls.answered(intent_id);
      return {};
    },
  }),
};
