import * as z from 'zod';
import { deepFrozen } from '../canonical/frozen.ts';
import type { Json } from '../canonical/json.ts';
import { client, title } from '../event/shape.ts';
import { judgeClientCall } from '../journey/client-call.ts';
import { readArguments } from '../journey/look.ts';
import { refuseUnnamed } from '../journey/propose.ts';
import { toolPin } from '../tool/effect.ts';
import { lintRegistry, lockRegistry, type Tool } from '../tool/registry.ts';
import { proposedBy } from './caller.ts';
import { code, name, reasonCode, tool } from './parts.ts';
import { nothing, read, write } from './verb.ts';

/** What may be proposed. The registry is looked at here; only a locked one is ever run from. */
export const tools = {
  list: read({
    open_to: 'anyone',
    refuses: ['REGISTRY_MISSING'],
    about: 'The tools of the registry, with their parameters.',
    input: nothing,
    output: () => z.strictObject({ tools: z.array(tool) }),
    run: async ({ context }) => {
      const { tools } = context.registry({ requireReadOnly: false });
      return { tools: [...tools.values()].map(toldOf) };
    },
  }),

  arguments: read({
    open_to: 'anyone',
    refuses: ['REGISTRY_MISSING'],
    about:
      'Give each text the type that its parameter has. What has no parameter stays text, and is refused by name later.',
    input: () => z.strictObject({ tool: z.string(), texts: z.record(z.string(), z.string()) }),
    output: () => z.strictObject({ arguments: z.record(z.string(), z.json() as unknown as z.ZodType<Json>) }),
    run: async ({ context }, { tool, texts }) => ({
      arguments: readArguments(context, tool, new Map(Object.entries(texts))),
    }),
  }),

  pass: write({
    open_to: 'anyone',
    about:
      'Ask the policies whether the client of an agent may run a tool of its own. The answer is recorded; Keyturn neither runs it nor knows what it did.',
    input: () =>
      z.strictObject({
        issuer: name.optional(),
        client,
        tool: title,
        arguments: z.record(z.string(), z.json() as unknown as z.ZodType<Json>),
      }),
    output: () => z.strictObject({ allowed: z.boolean(), code: code.nullable(), words: z.string() }),
    run: async ({ context, caller }, request) => {
      const { issuer, ...call } = proposedBy(caller, request);
      if (issuer === undefined) return refuseUnnamed(context);
      return judgeClientCall(context, { ...call, issuer });
    },
  }),

  lint: read({
    open_to: 'people',
    about: 'Everything that is wrong with the registry, and what is only worth a look.',
    input: nothing,
    output: () =>
      z.strictObject({
        registry: z.string(),
        faults: z.array(
          z
            .strictObject({ code: reasonCode, message: z.string(), line: z.int(), column: z.int() })
            .readonly(),
        ),
      }),
    run: async ({ config }) => ({
      registry: config.registry_path,
      faults: lintRegistry(config.registry_path),
    }),
  }),

  lock: write({
    open_to: 'people',
    about: 'Make the registry read-only for all accounts. Tools run only from a locked registry.',
    input: nothing,
    output: () => z.strictObject({ registry: z.string(), changed: z.boolean() }),
    run: async ({ config }) => ({
      registry: config.registry_path,
      changed: lockRegistry(config.registry_path),
    }),
  }),
};

/** A tool is another value whenever the registry changed, so what is told of it is made once. */
const told = new WeakMap<Tool, ReturnType<typeof summaryOf>>();

function toldOf(tool: Tool): ReturnType<typeof summaryOf> {
  const known = told.get(tool) ?? deepFrozen(summaryOf(tool));
  told.set(tool, known);
  return known;
}

function summaryOf(tool: Tool) {
  const { name, summary, executable, sandbox, undo, timeout_s, parameters } = tool;
  const action = tool.action ?? `tool:${name}`;
  return { name, action, pin: toolPin(tool), summary, executable, sandbox, undo, timeout_s, parameters };
}
