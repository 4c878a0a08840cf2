import type { Json, JsonObject } from '../canonical/json.ts';
import type { Accepted, Started } from '../mcp-call/accepted.ts';
import { pinOf, serverClaims, shadowedTools, type ToolDefinition } from '../mcp-call/definition.ts';
import type { CallInput, McpEffect } from '../mcp-call/effect.ts';
import { calledName } from '../mcp-call/name.ts';
import {
  type Alarm,
  agent,
  type Block,
  block,
  derived,
  type Line,
  lifted,
  line,
  ordered,
  type Piece,
  registry,
  type Shown,
  spaced,
  valued,
  worded,
  words,
} from './shown.ts';
import { alarm, showTool } from './tool.ts';

const server = (text: string): Piece => worded(text, 'server');

/** A call of a tool of an MCP server. What the server says of itself is marked as its words, and decides nothing. */
export function showMcp(effect: McpEffect): Shown {
  const start = showStart(effect.start);
  const values = Object.entries(effect.arguments);
  return {
    kind: 'mcp',
    headline: line('Calls', [server(effect.tool), derived(' of the MCP server '), registry(effect.server)]),
    alarms: ordered(lifted([{ at: [derived('the server')], shown: start }])),
    fields: [
      ...values.filter(([, value]) => !isLong(value)).map(argumentLine),
      ...(values.length === 0 ? [line('Arguments', [derived('none')])] : []),
      ...(effect.input ? inputLines(effect.input) : []),
      line('Offered as', [derived(effect.called)]),
      claimsLine(effect.definition as ToolDefinition),
      line('Definition', [derived(effect.pin)], 'dim'),
      ...fileLines(effect.files),
    ],
    blocks: [
      ...values.filter(([, value]) => isLong(value)).map(argumentBlock),
      definitionBlock(effect.definition as ToolDefinition),
    ],
    parts: [start],
  };
}

/** What the client can be asked for, and what it answered: by itself or by its user, which cannot be told apart here. */
function inputLines({ capabilities, responses, state }: CallInput): Line[] {
  const names = Object.entries(capabilities).map(([name, how]) => {
    const ways = Object.keys(how ?? {}).join(', ');
    return ways === '' ? name : `${name} (${ways})`;
  });
  const answers = Object.entries(responses ?? {}).map(([name, value]) =>
    line('Client answers', [agent(name), derived(' = '), valued(value, 'agent')]),
  );
  return [
    line('Server may ask', [
      derived(`the client of the agent for: ${names.length === 0 ? 'nothing' : names.join(', ')}`),
    ]),
    ...answers,
    ...(state === null ? [] : [line('Server state', [valued(state, 'agent')])]),
  ];
}

/** A server as a human accepts it: how it is started, then every tool with its whole definition. */
export function showServer(accepted: Accepted): Shown {
  const { server: name, start, files, info, tools, pass } = accepted;
  const shown = showStart(start);
  const says = [
    server(info.name),
    derived(' '),
    server(info.version),
    derived(`, protocol ${info.protocol}`),
  ];
  return {
    kind: 'mcp',
    headline: line('Server', [registry(name), derived(`: ${tools.length} tools`)]),
    alarms: ordered([...shadowAlarm(accepted), ...lifted([{ at: [derived('the server')], shown }])]),
    fields: [
      line('Says it is', says),
      ...(pass.length === 0
        ? []
        : [line('Passes on', [registry(pass.join(', ')), derived(', WITHOUT AN APPROVAL')], 'alarm')]),
      ...fileLines(files),
    ],
    blocks: tools.map((tool) => definitionBlock(tool, calledName(name, tool.name))),
    parts: [shown],
  };
}

function shadowAlarm(accepted: Accepted): Alarm[] {
  const tools = shadowedTools(accepted);
  if (tools.length === 0) return [];
  const words = 'SHADOW MODE: calls of these tools pass WITHOUT AN APPROVAL, and are only recorded';
  return [
    alarm(
      'shadow',
      words,
      spaced(
        tools.map((tool) => [server(tool)]),
        ', ',
      ),
    ),
  ];
}

/** How a server is started, or where it is. */
function showStart(start: Started['start']): Shown {
  if (start.kind === 'tool') return showTool(start);
  const { url, headers, secrets, bearer, allow, timeout_ms } = start;
  const given = Object.entries({ ...secrets, ...(bearer !== null && { authorization: bearer }) });
  const headline = line('Reached at', [worded(url, 'registry')]);
  return {
    kind: 'mcp',
    headline,
    alarms: ordered([
      alarm('network', 'LEAVES THIS MACHINE: the arguments are sent to', [worded(url, 'registry')]),
      ...(given.length === 0
        ? []
        : [
            alarm(
              'secret',
              'SECRETS: it gets secrets of the executor',
              words(
                given.map(([, secret]) => secret),
                'registry',
              ),
            ),
          ]),
      alarm('no-undo', 'NO UNDO: what it does stays done'),
    ]),
    fields: [
      headline,
      ...Object.entries(headers).map(([name, value]) =>
        line('Header', [registry(name), derived(': '), worded(value, 'registry')]),
      ),
      ...given.map(([name, secret]) =>
        line('Header', [registry(name), derived(': the secret '), registry(secret)]),
      ),
      ...(allow.length === 0 ? [] : [line('Allowed networks', [registry(allow.join(', '))])]),
      line('Time limit', [derived(`${timeout_ms / 1000} s`)]),
    ],
    blocks: [],
    parts: [],
  };
}

function fileLines(files: McpEffect['files']): Line[] {
  return files.flatMap(({ path, sha256 }) => [
    line('Script', [worded(path, 'derived')]),
    line('SHA-256', [derived(sha256)], 'dim'),
  ]);
}

/** Shown as text of its own below the fields, line by line. */
function isLong(value: Json): value is string {
  return typeof value === 'string' && value.includes('\n');
}

function argumentLine([name, value]: [string, Json]): Line {
  return line('Argument', [agent(name), derived(' = '), valued(value, 'agent')]);
}

function argumentBlock([name, value]: [string, Json]): Block {
  return block('text', [derived('Argument '), agent(name)], value as string, 'agent');
}

function claimsLine(definition: ToolDefinition): Line {
  const claims = serverClaims(definition);
  const claimed =
    claims.length === 0
      ? [derived('nothing')]
      : spaced(
          claims.map((one) => [derived(one)]),
          ', ',
        );
  return line('Server claims', [...claimed, derived(' (not checked)')]);
}

/** All of it, as the server wrote it: a description that speaks to a model is seen by the human. */
export function definitionBlock(definition: ToolDefinition, called?: string): Block {
  const { name, description, ...rest } = definition as unknown as JsonObject & { name: string };
  const text = [
    ...(typeof description === 'string' ? [description, ''] : []),
    JSON.stringify(rest, null, 2),
  ].join('\n');
  const title = [
    derived(called === undefined ? 'Definition' : `${called}, pin ${pinOf(definition).slice(0, 16)}`),
    derived(', IN THE WORDS OF THE SERVER: '),
    server(name),
  ];
  return block('text', title, text, 'server');
}
