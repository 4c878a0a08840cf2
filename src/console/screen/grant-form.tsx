import { useState } from 'preact/hooks';
import { sha256 } from '../../canonical/digest.ts';
import { canonicalBytes, type Json } from '../../canonical/json.ts';
import { visible } from '../../canonical/visible.ts';
import { callAction } from '../../mcp-call/name.ts';
import { useApp, useTold } from '../app.ts';
import { useCell } from '../cell.ts';
import type { SignatureAsked } from '../gesture.ts';
import {
  type ArgumentLimits,
  type Grantable,
  grantCommand,
  isUnsaid,
  type JsonSchema,
  type Limit,
  limitedNames,
  limitKinds,
  schemaOf,
  UNLIMITED,
} from '../grant-limits.ts';
import { SignedAct } from '../part/signed-act.tsx';
import { plural } from '../words.ts';

/** A human lets the key of an agent use one tool so often, within these limits, for so long. */
export function GrantForm() {
  const { api, world } = useApp();
  const { people } = useCell(world);
  const told = useTold(async () => {
    const [{ tools }, { tools: served }] = await Promise.all([api.tools.list(), api.mcp.tools()]);
    return [...tools.map(ofRegistry), ...served.map(ofServer)];
  }, []);
  const agents = people.flatMap(({ name, kind, status, credentials }) => {
    const keys = credentials.filter((one) => one.status === 'active');
    return kind === 'agent' && status === 'active' && keys.length === 1
      ? [{ name, key: keys[0]!.public_key }]
      : [];
  });
  const [chosen, setChosen] = useState({ agent: '', tool: '' });
  const [limits, setLimits] = useState<ArgumentLimits>({});
  const [bounds, setBounds] = useState({ uses: '20', minutes: '30' });
  const tools = told.value ?? [];
  const agent = agents.find(({ name }) => name === chosen.agent) ?? agents[0];
  const tool = tools.find(({ action }) => action === chosen.tool) ?? tools[0];
  if (told.value === null) return null;
  if (!agent || !tool)
    return (
      <p class="dim">
        {agent
          ? 'No tool is registered.'
          : 'A grant is for an agent with a key of its own. None is enrolled.'}
      </p>
    );
  const [uses, minutes] = [Number(bounds.uses), Number(bounds.minutes)];
  const names = Object.keys(tool.arguments);
  const pins = tools.filter(({ action }) => action === tool.action).map(({ pin }) => pin);
  const is_whole =
    Number.isInteger(uses) &&
    uses > 0 &&
    Number.isInteger(minutes) &&
    minutes > 0 &&
    names.every((name) => !isUnsaid(tool.arguments[name]!, limits[name] ?? UNLIMITED));
  const limited = limitedNames(tool, limits);
  const setLimit = (name: string, limit: Limit) => setLimits({ ...limits, [name]: limit });
  return (
    <section class="deed grant" aria-label="A new grant">
      <header>
        <h2>A new grant</h2>
      </header>
      <div class="form">
        <label>
          <span>Agent</span>
          <select
            value={agent.name}
            onChange={({ currentTarget }) => setChosen({ ...chosen, agent: currentTarget.value })}
          >
            {agents.map(({ name }) => (
              <option value={name}>{name}</option>
            ))}
          </select>
        </label>
        <label>
          <span>Tool</span>
          <select
            value={tool.action}
            onChange={({ currentTarget }) => {
              setChosen({ ...chosen, tool: currentTarget.value });
              setLimits({});
            }}
          >
            {tools.map(({ name, action }) => (
              <option value={action}>{visible(name)}</option>
            ))}
          </select>
        </label>
        <label>
          <span>Times</span>
          <input
            inputMode="numeric"
            value={bounds.uses}
            onInput={({ currentTarget }) => setBounds({ ...bounds, uses: currentTarget.value })}
          />
        </label>
        <label>
          <span>Minutes</span>
          <input
            inputMode="numeric"
            value={bounds.minutes}
            onInput={({ currentTarget }) => setBounds({ ...bounds, minutes: currentTarget.value })}
          />
        </label>
      </div>
      {names.length > 0 && (
        <dl class="rows">
          {names.map((name) => (
            <LimitRow
              key={`${tool.action} ${name}`}
              name={name}
              schema={tool.arguments[name]!}
              limit={limits[name] ?? UNLIMITED}
              onLimit={(limit) => setLimit(name, limit)}
            />
          ))}
        </dl>
      )}
      <div class="inset">
        <p>
          <b>
            <bdi>{agent.name}</bdi> may run {visible(tool.name)} {plural(uses || 0, 'time')} within{' '}
            {plural(minutes || 0, 'minute')}, without asking.
          </b>{' '}
          {limited.length === 0 ? 'With any arguments.' : `Only with the limits of ${limited.join(', ')}.`}
        </p>
        {is_whole && (
          <SignedAct
            text="Grant this…"
            subject={`grant${tool.action}${agent.name}`}
            command={grantCommand({ agent: agent.name, tool, limits, uses, minutes })}
            doing={`let ${agent.name} run ${visible(tool.name)} ${plural(uses, 'time')}`}
            done="Granted."
            ask={(reason) => grantAsked({ agent, tool, limits, pins, uses, ttl_s: minutes * 60, reason })}
          />
        )}
      </div>
    </section>
  );
}

function LimitRow({
  name,
  schema,
  limit: { kind, text },
  onLimit,
}: {
  readonly name: string;
  readonly schema: JsonSchema;
  readonly limit: Limit;
  readonly onLimit: (limit: Limit) => void;
}) {
  return (
    <div>
      <dt>
        <bdi>{visible(name)}</bdi>
      </dt>
      <dd class="limit">
        <select
          aria-label={`Limit of ${name}`}
          value={kind}
          onChange={({ currentTarget }) => onLimit({ kind: currentTarget.value as Limit['kind'], text })}
        >
          {limitKinds(schema).map(([one, words]) => (
            <option value={one}>{words}</option>
          ))}
        </select>
        {kind !== 'any' && (
          <input
            aria-label={`Value of ${name}`}
            value={text}
            onInput={({ currentTarget }) => onLimit({ kind, text: currentTarget.value })}
          />
        )}
      </dd>
    </div>
  );
}

/** The page makes the bounds itself, with the pin of the definition that it was told: another digest is refused. */
function grantAsked({
  agent,
  tool,
  limits,
  pins,
  uses,
  ttl_s,
  reason,
}: {
  readonly agent: { readonly name: string; readonly key: string };
  readonly tool: Grantable;
  readonly limits: ArgumentLimits;
  /** Of every tool that does the same action. */
  readonly pins: readonly string[];
  readonly uses: number;
  readonly ttl_s: number;
  readonly reason: string;
}): SignatureAsked {
  const schema = schemaOf(tool, limits);
  const bounds = sha256(
    canonicalBytes({
      format: 'keyturn-grant/1',
      arguments: schema as unknown as Json,
      pins: pins.map((pin) => ({ action: tool.action, pin })),
    }),
  );
  const [delegate, delegate_key, actions] = [agent.name, agent.key, [tool.action]];
  return {
    verb: 'agents.delegate',
    request: {
      delegate,
      delegate_key,
      actions,
      ttl_s,
      approves: true,
      reason,
      grant: { uses, arguments: schema },
    },
    expected: {
      kind: 'delegation.granted',
      subject: null,
      fixed: {
        delegate,
        delegate_key,
        actions,
        approves: true,
        grant: { uses, bounds },
        delegation: null,
        reason,
      },
      free: [],
      ttl_s,
    },
  };
}

interface Parameter {
  readonly type: string;
}

const TYPES: Readonly<Record<string, JsonSchema>> = {
  string: { type: 'string' },
  path: { type: 'string' },
  integer: { type: 'integer' },
  number: { type: 'number' },
  boolean: { type: 'boolean' },
  list: { type: 'array', items: { type: 'string' } },
  array: { type: 'array' },
  object: { type: 'object', additionalProperties: true },
};

function ofRegistry({
  name,
  action,
  pin,
  parameters,
}: {
  readonly name: string;
  readonly action: string;
  readonly pin: string;
  readonly parameters: Readonly<Record<string, Parameter>>;
}): Grantable {
  const types = Object.entries(parameters).map(([key, { type }]) => [key, TYPES[type] ?? {}]);
  return { name, action, pin, arguments: Object.fromEntries(types) };
}

/** Of a definition only the type is taken over: the rest is the server's, and its pin covers it. */
function ofServer({
  called,
  server,
  pin,
  definition,
}: {
  readonly called: string;
  readonly server: string;
  readonly pin: string;
  readonly definition: Readonly<Record<string, unknown>>;
}): Grantable {
  const { properties = {} } = (definition.inputSchema ?? {}) as {
    properties?: Readonly<Record<string, { readonly type?: unknown }>>;
  };
  const types = Object.entries(properties).map(([key, { type }]) => [
    key,
    typeof type === 'string' ? (TYPES[type] ?? {}) : {},
  ]);
  return {
    name: called,
    action: callAction(server, called),
    pin,
    arguments: Object.fromEntries(types),
  };
}
