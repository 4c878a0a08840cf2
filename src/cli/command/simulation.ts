import { basename, join, resolve } from 'node:path';
import { parseJson } from '../../canonical/json.ts';
import { visible } from '../../canonical/visible.ts';
import { parseYaml } from '../../canonical/yaml.ts';
import { type Keyturn, type ListedSimulation, parseDuration, type Signer } from '../../keyturn.ts';
import { limits } from '../../limits.ts';
import { refuse } from '../../refusal.ts';
import type { Answer, Call } from '../answer.ts';
import { type Field, fieldLines } from '../fold.ts';
import { actAs, whoActs } from '../human.ts';
import { readInput } from '../input.ts';
import { type Paint, painter } from '../paint.ts';
import { reading, writing } from '../project.ts';
import type { Result } from '../schema.ts';
import { fields, table } from '../table.ts';

type Changed = Result<'simulation activate'>;
type Change = Keyturn['simulations']['register'];

/** Takes a file into the ledger. It gives nobody any right: a draft runs nowhere. */
export function register(call: Call): Promise<Answer> {
  return changing(call, {
    idOf: (keyturn) => idIn(keyturn, call.operands[0] ?? ''),
    show: async (keyturn, id) => {
      const found = await listed(keyturn, id);
      return (columns) => fieldLines(headOf(found), { paint: painter(true), columns, whole: SHORTEN });
    },
    act: (keyturn) => keyturn.simulations.register,
    next: ({ simulation }) => [`Next: keyturn simulation activate ${simulation} --reason …`],
  });
}

/** What is shown is the definition that was registered; a file that differs from it is refused. */
export function activate(call: Call): Promise<Answer> {
  const { ttl = '30d' } = call.options;
  const ttl_s = parseDuration(ttl);
  return changing(call, {
    idOf: async () => call.operands[0] ?? '',
    show: async (keyturn, id) => {
      const found = await listed(keyturn, id);
      const { definition } = found.registered ?? refuse('SIMULATION_NOT_REGISTERED');
      const paint = painter(true);
      const all = [...headOf(found), ...effectOf(await definitionOf(keyturn, definition), ttl)];
      return (columns) => fieldLines(all, { paint, columns, whole: SHORTEN });
    },
    act: (keyturn) => (request) => keyturn.simulations.activate({ ...request, ttl_s }),
    next: ({ standing_delegation, expires_at }) =>
      fields([
        ['Until', expires_at!],
        ['Delegation', standing_delegation ?? 'none of its own: its steps have theirs'],
      ]),
  });
}

export function deprecate(call: Call): Promise<Answer> {
  return withdrawing(call, (keyturn) => keyturn.simulations.deprecate);
}

export function disable(call: Call): Promise<Answer> {
  return withdrawing(call, (keyturn) => keyturn.simulations.disable);
}

/** It must be quick, and work when the file is gone or broken: so it asks for the passphrase alone. */
function withdrawing(call: Call, act: (keyturn: Keyturn) => Change): Promise<Answer> {
  return changing(call, {
    idOf: async () => call.operands[0] ?? '',
    show: async (_, id) => () => [`Simulation: ${visible(id)}`],
    act,
    next: () => [],
  });
}

interface Changing {
  readonly idOf: (keyturn: Keyturn) => Promise<string>;
  readonly show: (keyturn: Keyturn, id: string) => Promise<(columns: number) => readonly string[]>;
  readonly act: (keyturn: Keyturn) => Change;
  readonly next: (changed: Changed) => readonly string[];
}

/** One change of status: a human looks at it, and signs it. */
function changing(call: Call, { idOf, show, act, next }: Changing): Promise<Answer> {
  const reason = call.options.reason!;
  return writing(call, async (keyturn) => {
    const name = await whoActs(keyturn, call.options.as);
    const id = await idOf(keyturn);
    const screen = await show(keyturn, id);
    const sign = (signer: Signer) => act(keyturn)({ id, reason, signer });
    const { body } = await actAs(keyturn, name, sign, screen);
    const { simulation, version, status, definition, proof, standing_delegation, expires_at, by } = body;
    const result: Changed = {
      simulation,
      version,
      status,
      definition,
      proof,
      standing_delegation,
      expires_at,
      by,
      reason,
    };
    const said = `[OK] ${by} made ${simulation}, version ${version}, ${DONE[status]}`;
    return { result, lines: [said, ...next(result)] };
  });
}

const DONE: Readonly<Record<Changed['status'], string>> = {
  Draft: 'a registered draft',
  Active: 'active',
  Deprecated: 'deprecated',
  Disabled: 'disabled',
};

const SHORTEN = 'the file has all of it';

/** An id, or a file of simulations/. A file elsewhere is not what would be registered. */
async function idIn({ layout }: Keyturn, word: string): Promise<string> {
  if (!word.includes('/') && !word.endsWith('.yaml')) return word;
  const path = resolve(word.includes('/') ? word : join(layout.simulations, word));
  if (path !== join(layout.simulations, basename(path)))
    refuse('USAGE', `${word} is not in ${layout.simulations}. Only what is there can be registered.`);
  const { value } = parseYaml(readInput(path, limits.yaml_bytes), limits.yaml_bytes);
  const { id } = (value ?? {}) as { id?: unknown };
  return typeof id === 'string' ? id : refuse('SIMULATION_INVALID', `${word} has no id.`);
}

async function listed(keyturn: Keyturn, id: string): Promise<ListedSimulation> {
  const found = (await keyturn.simulations.list()).find((one) => one.id === id);
  return found ?? refuse('SIMULATION_NOT_REGISTERED', `There is no simulation "${id.slice(0, 64)}".`);
}

function headOf({ id, version, status, summary, risk }: ListedSimulation): Field[] {
  return [
    ['Simulation', [['bold', visible(id)], `, version ${version}, ${status} now`]],
    ['Summary', visible(summary)],
    ['Risk', [[risk === 'HIGH' ? 'alarm' : 'bold', risk]]],
  ];
}

/** What a definition says about the world, for the eyes of whoever activates it. */
interface Definition {
  readonly effect?: unknown;
  readonly steps?: unknown;
  readonly rollback_plan_ref?: string;
  readonly access_action: string;
  readonly impactful: boolean;
  readonly side_effecting: boolean;
  readonly irreversible: boolean;
  readonly risk: string;
}

async function definitionOf(keyturn: Keyturn, digest: string): Promise<Definition> {
  const bytes = await keyturn.object(digest);
  return parseJson(bytes, bytes.length) as unknown as Definition;
}

function effectOf(found: Definition, ttl: string): Field[] {
  const { effect, steps, rollback_plan_ref, access_action, irreversible, risk } = found;
  const marks = (['impactful', 'side_effecting', 'irreversible'] as const).filter((mark) => found[mark]);
  const style: Parameters<Paint>[0] = irreversible ? 'alarm' : 'bold';
  const waits = risk === 'HIGH' || irreversible;
  return [
    ['Does', visible(JSON.stringify(effect ?? steps))],
    ['It is', marks.length === 0 ? 'without consequences' : [[style, marks.join(', ')]]],
    ['Undone by', rollback_plan_ref ?? 'nothing'],
    ['Access', access_action],
    ['For', ttl],
    [
      'On a yes',
      waits
        ? 'an approver signs each run first'
        : [['alarm', 'IT RUNS: the user says yes, and nobody else looks']],
    ],
  ];
}

export function list(call: Call): Promise<Answer> {
  return reading(call, async (keyturn) => {
    const simulations = (await keyturn.simulations.list()).map(
      ({ id, version, status, summary, risk, registered, has_changed }) => ({
        id,
        version,
        status,
        summary,
        risk,
        registered_version: registered?.version ?? null,
        expires_at: registered?.expires_at ?? null,
        has_changed,
      }),
    );
    const result: Result<'simulation list'> = { simulations };
    if (simulations.length === 0) return { result, lines: ['No simulations.'] };
    const rows = simulations.map((one) =>
      [
        one.id,
        String(one.version),
        one.has_changed ? `${one.status}, file differs` : one.status,
        one.risk,
        one.expires_at ?? '-',
        one.summary,
      ].map(visible),
    );
    return { result, lines: table(['ID', 'VERSION', 'STATUS', 'RISK', 'UNTIL', 'SUMMARY'], rows) };
  });
}
