import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { isDigest } from '../../canonical/digest.ts';
import { visible } from '../../canonical/visible.ts';
import { parseYaml } from '../../canonical/yaml.ts';
import { type BoundSection, parseDuration, type Result, type Signer } from '../../keyturn.ts';
import { limits } from '../../limits.ts';
import { type ReasonCode, Refusal, refuse } from '../../refusal.ts';
import type { Answer, Call } from '../answer.ts';
import { drawShown, fieldOf } from '../draw.ts';
import { COLUMNS, type Drawing, type Field, fieldLines } from '../fold.ts';
import { actAs, whoActs } from '../human.ts';
import { readInput } from '../input.ts';
import { painter, stdoutPainter } from '../paint.ts';
import { nextAt, type Opened, reading, writing } from '../project.ts';
import { fields, table } from '../table.ts';

type Changed = Result<'simulations.activate'>;
type Change = Opened['simulations']['register'];
type Simulation = Result<'simulations.get'>;

/** Takes a file into the ledger. It gives no right: a draft runs nowhere. */
export function register(call: Call): Promise<Answer> {
  return changing(call, {
    idOf: (keyturn) => idIn(keyturn, call.operands[0] ?? ''),
    look: async (keyturn, id) => {
      const found = await keyturn.simulations.get({ id });
      return lookAt(found, await checkedFields(keyturn, id), found.sections);
    },
    act: (keyturn, seen) => (request) => keyturn.simulations.register({ ...request, ...seen }),
    next: ({ simulation }) => [`Next: keyturn simulation activate ${simulation} --reason …`],
  });
}

/** What is shown is what is signed: a file that differs from it by then is refused. */
export function activate(call: Call): Promise<Answer> {
  const { ttl = '30d' } = call.options;
  const ttl_s = parseDuration(ttl);
  return changing(call, {
    idOf: async () => call.operands[0] ?? '',
    look: async (keyturn, id) => {
      const found = await keyturn.simulations.get({ id });
      if (found.has_changed && found.registered_version === found.version)
        refuse('SIMULATION_CHANGE_ILLEGAL', 'The file is not what was registered. Give it a new version.');
      const is_new = found.registered_version !== found.version;
      const { consent, sections, digest } = await keyturn.simulations.bound({ id });
      const more: Field[] = [
        ...(is_new ? await checkedFields(keyturn, id) : []),
        ...[['For', ttl] as const, ...consent.map(fieldOf), ['Binds', digest] as const],
      ];
      return lookAt(found, more, sections, { bound: digest });
    },
    act: (keyturn, seen) => (request) => keyturn.simulations.activate({ ...request, ...seen, ttl_s }),
    next: ({ own_delegation, expires_at }) =>
      fields([
        ['Until', expires_at!],
        ['Delegation', own_delegation ?? 'none of its own: its steps have theirs'],
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
function withdrawing(call: Call, act: (keyturn: Opened) => Change): Promise<Answer> {
  return changing(call, {
    idOf: async () => call.operands[0] ?? '',
    look: async (_, id) => ({ screen: () => [`Simulation: ${visible(id)}`], seen: {} }),
    act,
    next: () => [],
  });
}

/** All faults at once, before a human is asked to sign; and which words would lead elsewhere. */
async function checkedFields(keyturn: Opened, id: string): Promise<Field[]> {
  const { faults, changes } = await keyturn.simulations.check({ id });
  if (faults.length > 0)
    refuse(codeOf(faults), faults.map(({ code, message }) => `${code}: ${message}`).join('\n'));
  return changes.map((change) => ['Words', changeLine(change)]);
}

type Checked = Result<'simulations.check'>;

function codeOf(faults: Checked['faults']): ReasonCode {
  return faults.length === 1 ? (faults[0]!.code as ReasonCode) : 'SIMULATION_INVALID';
}

function changeLine({ text, before, after, source }: Checked['changes'][number]): string {
  const whose = source === 'goal' ? 'a goal of a user' : 'a phrase';
  return visible(`${JSON.stringify(text)} (${whose}): ${before ?? 'nothing'}, then ${after ?? 'nothing'}`);
}

/** What registering would refuse, and which words would lead elsewhere. */
export function check(call: Call): Promise<Answer> {
  return reading(call, async (keyturn) => {
    const result = await keyturn.simulations.check({ id: await idIn(keyturn, call.operands[0] ?? '') });
    const { faults, changes } = result;
    const found = faults.map(({ code, message }) => `[FAULT] ${code}: ${visible(message)}`);
    const lines = [...found, ...changes.map((one) => `Words: ${changeLine(one)}`)];
    if (faults.length > 0) {
      const more = faults.length > 1 ? ` And ${faults.length - 1} more.` : '';
      return { result, lines, refusal: new Refusal(codeOf(faults), `${faults[0]!.message}${more}`) };
    }
    return { result, lines: [...lines, `[OK] ${result.id}, version ${result.version}, can be registered`] };
  });
}

/** A file to fill in: in the project, or in this folder for one that is elsewhere. One that is there is never written over. */
export function scaffold(call: Call): Promise<Answer> {
  return reading(call, async (keyturn) => {
    const { id: wanted } = call.options;
    const request = { tool: call.operands[0] ?? '', ...(wanted !== undefined && { id: wanted }) };
    const result = await keyturn.simulations.scaffold(request);
    const { id, text } = result;
    // The name of a file here is no word of a service: it follows from what was asked for.
    const expected = wanted ?? request.tool.replace(/[^a-z0-9._-]/g, '-');
    if (id !== expected || !/^[a-z0-9][a-z0-9._-]*$/.test(id))
      refuse('SERVICE_FOREIGN', 'The answer is for another simulation than was asked for.');
    const folder = keyturn.layout?.simulations ?? process.cwd();
    const file = join(folder, `${id}.yaml`);
    mkdirSync(folder, { recursive: true });
    try {
      writeFileSync(file, text, { flag: 'wx' });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      refuse('FILE_EXISTS', `${file} is there already.`);
    }
    const brought = keyturn.layout ? '' : ' bring it into simulations/ of the project on its host,';
    const next = nextAt(keyturn, 'keyturn simulation try "…"');
    const lines = [`[OK] ${file}`, `Next: write down how people ask for it,${brought} then ${next}`];
    return { result, lines };
  });
}

/** What the finder makes of words. Nothing is recorded. */
export function tryOut(call: Call): Promise<Answer> {
  return reading(call, async (keyturn) => {
    const { language } = call.options;
    const request = { utterance: call.operands[0] ?? '', ...(language !== undefined && { language }) };
    const result = await keyturn.simulations.try(request);
    return { result, lines: triedLines(result) };
  });
}

function triedLines(tried: Result<'simulations.try'>): string[] {
  const { packet, language, clauses, candidates, strangers, is_accounted } = tried;
  const kinds = clauses.map(
    ({ text, kinds }) => `${JSON.stringify(text)} ${kinds.length === 0 ? 'a request' : kinds.join(', ')}`,
  );
  const accounted = is_accounted ? 'everything that was said' : `all but ${strangers.join(', ')}`;
  return fields([
    ['Packet', packetWords(packet)],
    ['Language', language],
    ...kinds.map((line): [string, string] => ['Said', visible(line)]),
    ...(tried.is_several ? [['Several', 'two things are asked for at once'] as [string, string]] : []),
    ...candidates.map(({ simulation, status, confidence_bp }): [string, string] => [
      'Candidate',
      `${simulation} (${status}) ${(confidence_bp / 100).toFixed(1)} %`,
    ]),
    ...(candidates.length === 0 ? [] : [['Accounted', visible(accounted)] as [string, string]]),
  ]);
}

function packetWords(packet: Result<'simulations.try'>['packet']): string {
  switch (packet.kind) {
    case 'SIMULATION_MATCH': {
      const values = packet.evidence_spans.map(({ field, value }) => ` ${field}=${JSON.stringify(value)}`);
      return visible(`${packet.kind} ${packet.simulation_id}${values.join('')}`);
    }
    case 'CLARIFY':
      return visible(`${packet.kind} ${packet.question}`);
    default:
      return `${packet.kind} ${packet.reason_code}`;
  }
}

interface Look {
  readonly screen: (columns: number) => readonly string[];
  /** The digests of what is on the screen. */
  readonly seen: { readonly digest?: string; readonly bound?: string };
}

interface Changing {
  readonly idOf: (keyturn: Opened) => Promise<string>;
  readonly look: (keyturn: Opened, id: string) => Promise<Look>;
  readonly act: (keyturn: Opened, seen: Look['seen']) => Change;
  readonly next: (changed: Changed) => readonly string[];
}

/** One change of status: a human looks at it, and signs it. */
function changing(call: Call, { idOf, look, act, next }: Changing): Promise<Answer> {
  const { digest: wanted } = call.options;
  const reason = call.options.reason!;
  if (wanted !== undefined && !isDigest(wanted)) refuse('HASH_MALFORMED');
  return writing(call, async (keyturn) => {
    const name = await whoActs(keyturn, call.options.as);
    const id = await idOf(keyturn);
    const { screen, seen } = await look(keyturn, id);
    if (wanted !== undefined && wanted !== seen.digest)
      refuse('SIMULATION_CHANGE_ILLEGAL', 'The file is not what --digest names. Look at it again.');
    const sign = (signer: Signer) => act(keyturn, seen)({ id, reason, signer });
    const result = await actAs(keyturn, name, sign, screen);
    return { result, lines: [doneLine(result), ...next(result)] };
  });
}

function doneLine({ by, simulation, version, status }: Changed): string {
  const verb = { Draft: 'registered', Active: 'activated', Deprecated: 'deprecated', Disabled: 'disabled' };
  const as_draft = status === 'Draft' ? ', as a draft' : '';
  return `[OK] ${by} ${verb[status]} ${simulation}, version ${version}${as_draft}`;
}

/** An id, or a file of simulations/. A file elsewhere is not what would be registered. */
async function idIn({ layout }: Opened, word: string): Promise<string> {
  if (!word.includes('/') && !word.endsWith('.yaml')) return word;
  if (!layout) return refuse('USAGE', 'At a service, a simulation is named by its id.');
  const path = resolve(word.includes('/') ? word : join(layout.simulations, word));
  if (path !== join(layout.simulations, basename(path)))
    refuse('USAGE', `${word} is not in ${layout.simulations}. Only what is there can be registered.`);
  const { value } = parseYaml(readInput(path, limits.yaml_bytes), limits.yaml_bytes);
  const { id } = (value ?? {}) as { id?: unknown };
  return typeof id === 'string' ? id : refuse('SIMULATION_INVALID', `${word} has no id.`);
}

function lookAt(
  found: Simulation,
  more: readonly Field[],
  sections: readonly BoundSection[],
  seen: Look['seen'] = {},
): Look {
  const drawing = { paint: painter(true) };
  const ends = found.registered?.own_delegation ?? null;
  const ended: Field[] = ends === null ? [] : [['Ends', `the delegation ${ends}`]];
  const all = [...found.lines.map(fieldOf), ...more, ...ended];
  return {
    screen: (columns) => [
      ...fieldLines(all, { ...drawing, columns }),
      ...sectionLines(sections, { ...drawing, columns }),
    ],
    seen: { ...seen, digest: found.digest },
  };
}

function sectionLines(sections: readonly BoundSection[], drawing: Drawing): string[] {
  return sections.flatMap(({ title, shown }) => [title, ...drawShown(shown, drawing, '  ')]);
}

/** One simulation, for the human who decides about it. */
export function show(call: Call): Promise<Answer> {
  return reading(call, async (keyturn) => {
    const result = await keyturn.simulations.get({ id: await idIn(keyturn, call.operands[0] ?? '') });
    const registration: Field[] = [
      ['Digest', result.digest],
      ['Until', result.expires_at ?? '-'],
      ...(result.registered?.status === 'Active' ? [heldField(result.differs)] : []),
      ...(result.has_changed ? [['File', 'is not what was registered, or is gone'] as const] : []),
    ];
    const columns = process.stdout.columns ?? COLUMNS;
    const drawing = { paint: stdoutPainter(), columns };
    const lines = fieldLines([...result.lines.map(fieldOf), ...registration], drawing);
    return { result, lines: [...lines, ...sectionLines(result.sections, drawing)] };
  });
}

function heldField(differs: readonly string[]): Field {
  if (differs.length === 0) return ['Runs', 'what was activated'];
  return ['Runs', [['alarm', `NOT: it is not what was activated. Differs: ${visible(differs.join(', '))}`]]];
}

export function list(call: Call): Promise<Answer> {
  return reading(call, async (keyturn) => {
    const result = await keyturn.simulations.list();
    const { simulations } = result;
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
    return {
      result,
      lines: table(['ID', 'VERSION', 'STATUS', 'RISK', 'UNTIL', 'SUMMARY'], rows, { prose: true }),
    };
  });
}
