import { answeredValue } from '../finder/clarify.ts';
import type { Field, Simulation } from '../finder/simulation.ts';
import { Refusal } from '../refusal.ts';

/**
 * A user is shown the formats of a field and answers in one of them: whatever is shown as a value must be understood.
 * An example always is a value. A format may be a description, so only what has the form of a value is read.
 */
export function checkSamples(simulation: Simulation): Record<string, string> {
  const [fault] = sampleFaults(simulation);
  if (fault) throw fault;
  const read = Object.values(simulation.fields).flatMap(samplesOf).length;
  return { samples: `${read} examples and formats, each read as a value` };
}

export function sampleFaults({ fields }: Simulation): Refusal[] {
  return Object.entries(fields).flatMap(([name, field]) =>
    samplesOf(field)
      .filter((text) => answeredValue(field, text, 'en') === null)
      .map(
        (text) =>
          new Refusal(
            'SIMULATION_INVALID',
            `The field "${name}" does not understand its own example "${text}".`,
            { field: name },
          ),
      ),
  );
}

function samplesOf(field: Field): string[] {
  const form = FORMS[field.type];
  const formats = form === undefined ? [] : field.formats.filter((text) => form.test(text.trim()));
  return [...(field.examples ?? []), ...formats];
}

/** What looks like a value of its type: digits with separators. For other types there is no way to tell. */
const FORMS: Partial<Record<Field['type'], RegExp>> = {
  date: /^\d[\d\s./年月日-]*$/,
  integer: /^[\d.,'’]+$/,
  number: /^[\d.,'’]+$/,
};
