import { relative } from 'node:path';
import { counted } from '../../canonical/counted.ts';
import { visible } from '../../canonical/visible.ts';
import { type Fault, isRemark } from '../../keyturn.ts';
import { Refusal, refuse } from '../../refusal.ts';
import type { Answer, Call } from '../answer.ts';
import { folded, stdoutColumns } from '../fold.ts';
import { type Paint, stdoutPainter } from '../paint.ts';
import { reading, readingHere } from '../project.ts';
import type { Result } from '../schema.ts';

export function list(call: Call): Promise<Answer> {
  return reading(call, async (keyturn) => {
    const result = await keyturn.tools.list();
    const paint = stdoutPainter();
    const columns = stdoutColumns();
    const lines = result.tools
      .flatMap((tool) => toolLines(tool, paint))
      .flatMap((line) => (columns === undefined ? [line] : folded(line, columns, 6)));
    return { result, lines: lines.length > 0 ? lines : ['The registry has no tools.'] };
  });
}

type Summary = Result<'tool list'>['tools'][number];

function toolLines(
  { name, summary, executable, sandbox, undo, parameters }: Summary,
  paint: Paint,
): string[] {
  return [
    `${paint('bold', name)}  ${visible(summary)}`,
    `  ${visible(executable)}, undo ${undo}${sandbox === 'none' ? `, ${paint('alarm', 'NO SANDBOX')}` : ''}`,
    ...Object.entries(parameters).map(
      ([parameter, spec]) => `  --arg ${parameter}=…  ${parameterWords(spec)}`,
    ),
  ];
}

function parameterWords(spec: Summary['parameters'][string]): string {
  const optional = spec.required && spec.default === undefined ? '' : ', optional';
  const bounds = boundsOf(spec).map((one) => `, ${one}`);
  return visible(
    `${spec.type}${optional}${bounds.join('')}${spec.description ? `: ${spec.description}` : ''}`,
  );
}

/** What a value has to keep, as the refusal of one that does not says it. */
function boundsOf(spec: Summary['parameters'][string]): string[] {
  const { enum: choices, min, max, pattern } = spec;
  const { min_length, max_length, max_items } = spec as { [name: string]: number | undefined };
  return [
    ...(choices ? [`one of ${choices.join(' ')}`] : []),
    ...(min === undefined ? [] : [`at least ${min}`]),
    ...(max === undefined ? [] : [`at most ${max}`]),
    ...(max_items === undefined ? [] : [`at most ${counted(max_items, 'item')}`]),
    ...(min_length === undefined ? [] : [`at least ${counted(min_length, 'character')}`]),
    ...(max_length === undefined ? [] : [`at most ${counted(max_length, 'character')}`]),
    ...(pattern === undefined ? [] : [`pattern ${pattern}`]),
  ];
}

export function lint(call: Call): Promise<Answer> {
  return reading(call, async ({ tools, service }) => {
    const result = await tools.lint();
    const { faults } = result;
    // The path is one of the host.
    const file = service === undefined ? relative(process.cwd(), result.registry) : result.registry;
    const [first, ...others] = faults.filter((fault) => !isRemark(fault));
    if (!first) {
      const remarks = remarkLines(file, faults);
      return { result, lines: [...remarks, okLine(faults, remarks.length, service)] };
    }
    const refusal = new Refusal(
      first.code,
      `${first.message}${others.length > 0 ? ` And ${others.length} more.` : ''}`,
    );
    const lines = [...remarkLines(file, faults), ...faultLines(file, [first, ...others].toSorted(byPlace))];
    return { result, lines, refusal };
  });
}

/** That the file can be written is no remark for the person who edits it: the last line says what comes next. */
function remarkLines(file: string, faults: readonly Fault[]): string[] {
  const remarks = faults.filter((fault) => isRemark(fault) && fault.code !== 'REGISTRY_WRITABLE');
  return faultLines(file, remarks).map((line) => `warning: ${line}`);
}

function okLine(faults: readonly Fault[], warnings: number, service: string | undefined): string {
  const found = warnings === 0 ? null : `No errors, ${counted(warnings, 'warning')}`;
  return faults.some(({ code }) => code === 'REGISTRY_WRITABLE')
    ? `[OK] ${found ?? 'Nothing is wrong with the registry'}. Next${service === undefined ? '' : ', on its host'}: keyturn tool lock`
    : `[OK] ${found === null ? '' : `${found}. `}The registry can be used`;
}

function byPlace(a: Fault, b: Fault): number {
  return a.line - b.line || a.column - b.column;
}

function faultLines(file: string, faults: readonly Fault[]): string[] {
  return faults.map(
    ({ code, message, line, column }) => `${visible(`${file}:${line}:${column}: ${message}`)} (${code})`,
  );
}

/** A registry that cannot be used is not locked: the person who locks it believes that it is ready. */
export function lock(call: Call): Promise<Answer> {
  return readingHere(call, async (keyturn) => {
    const { faults } = await keyturn.tools.lint();
    const fault = faults.find((one) => !isRemark(one));
    if (fault) refuse(fault.code, `Line ${fault.line}, column ${fault.column}: ${fault.message}`);
    const result = await keyturn.tools.lock();
    return {
      result,
      lines: [result.changed ? '[OK] The registry is locked' : '[OK] The registry was locked already'],
    };
  });
}
