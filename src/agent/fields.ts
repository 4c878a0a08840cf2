import { RE2JS } from 're2js';
import { type Digest, sha256 } from '../canonical/digest.ts';
import { canonicalBytes, type Json } from '../canonical/json.ts';
import { visible } from '../canonical/visible.ts';
import type { Scalar, SimulationMatchPacket } from '../finder/packet.ts';
import type { Field, Simulation } from '../finder/simulation.ts';
import { simulationLimits } from '../limits.ts';
import { refuse } from '../refusal.ts';
import type { FieldValue } from './contracts.ts';

/** Values by the name of their field. */
export type Values = Readonly<Record<string, Scalar>>;

/**
 * The values of a packet, checked against the definition that was registered. The attacker is a finder, or a user who talks
 * to one, with a value that the field does not take.
 */
export function valuesOf(packet: SimulationMatchPacket, definition: Simulation): Values {
  if (packet.intent_family !== definition.family)
    refuse('FINDER_PACKET_INVALID', `The family of "${definition.id}" is "${definition.family}".`);
  return checkedValues(
    definition,
    Object.fromEntries(packet.evidence_spans.map(({ field, value }) => [field, value])),
  );
}

export function checkedValues({ id, fields }: Simulation, values: Values): Values {
  const unknown = Object.keys(values).find((name) => !Object.hasOwn(fields, name));
  if (unknown !== undefined)
    refuse('FINDER_PACKET_INVALID', `The simulation "${id}" has no field "${unknown}".`);
  for (const [name, field] of Object.entries(fields)) {
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    if (value === undefined || !takes(field, value))
      refuse(
        'FINDER_PACKET_INVALID',
        `The field "${name}" of "${id}" is missing or does not take its value.`,
      );
  }
  return values;
}

function takes(field: Field, value: Scalar): boolean {
  switch (field.type) {
    case 'string':
      return typeof value === 'string' && takesText(field, value);
    case 'integer':
    case 'number':
      return typeof value === 'number' && takesNumber(field, value);
    case 'boolean':
      return typeof value === 'boolean';
    case 'date':
      return typeof value === 'string' && isDay(value);
    case 'enum':
      return typeof value === 'string' && field.enum!.includes(value);
  }
}

function takesText({ pattern, max_length }: Field, text: string): boolean {
  if (text === '' || text.length > (max_length ?? simulationLimits.value_chars)) return false;
  if (visible(text) !== text) return false;
  return pattern === undefined || RE2JS.compile(pattern).matches(text);
}

function takesNumber({ type, min, max }: Field, number: number): boolean {
  if (!Number.isFinite(number) || (type === 'integer' && !Number.isSafeInteger(number))) return false;
  return number >= (min ?? number) && number <= (max ?? number);
}

function isDay(text: string): boolean {
  const at = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(`${text}T00:00:00.000Z`) : Number.NaN;
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(text);
}

/** In the order of their names, so that the same values always look the same. */
export function listOf(values: Values): FieldValue[] {
  return Object.keys(values)
    .sort()
    .map((field) => ({ field, value: values[field]! }));
}

export function valuesIn(list: readonly FieldValue[]): Values {
  return Object.fromEntries(list.map(({ field, value }) => [field, value]));
}

export function fingerprintOf(values: Values): Digest {
  return sha256(canonicalBytes(listOf(values)));
}

const WHOLE = /^\{([a-z][a-z0-9_]{0,63})\}$/;
const PART = /\{([a-z][a-z0-9_]{0,63})\}/g;

/** A string that is one placeholder becomes the value with its type; inside other text it becomes text. */
export function filled(template: Json, values: Values): Json {
  if (typeof template === 'string') return filledText(template, values);
  if (typeof template !== 'object' || template === null) return template;
  if (Array.isArray(template)) return template.map((item: Json) => filled(item, values));
  return Object.fromEntries(Object.entries(template).map(([key, item]) => [key, filled(item, values)]));
}

function filledText(text: string, values: Values): Json {
  const whole = WHOLE.exec(text)?.[1];
  if (whole !== undefined)
    return values[whole] ?? refuse('SIMULATION_INVALID', `There is no field "${whole}".`);
  return text.replace(PART, (_, name: string) =>
    String(values[name] ?? refuse('SIMULATION_INVALID', `There is no field "${name}".`)),
  );
}
