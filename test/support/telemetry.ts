import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Attributes, metrics, type Span, trace } from '@opentelemetry/api';
import { onTestFinished } from 'vitest';

interface Seen {
  readonly name: string;
  readonly facts: Attributes;
}

/** What an SDK would register, reduced to remembering. */
export function registered(): Seen[] {
  const seen: Seen[] = [];
  const spanOf = (name: string): Span => {
    const one = { name, facts: {} as Attributes };
    const span = {
      setAttribute: (key: string, value: never) => Object.assign(one.facts, { [key]: value }) && span,
      setAttributes: (facts: Attributes) => Object.assign(one.facts, facts) && span,
      setStatus: (status: object) => Object.assign(one.facts, { status: JSON.stringify(status) }) && span,
      end: () => void seen.push(one),
    } as never as Span;
    return span;
  };
  const remember = (name: string) => ({
    add: (_: number, facts: Attributes) => void seen.push({ name, facts }),
    record: (_: number, facts: Attributes) => void seen.push({ name, facts }),
  });
  const tracer = {
    startSpan: spanOf,
    startActiveSpan: (name: string, act: (span: Span) => unknown) => act(spanOf(name)),
  };
  trace.setGlobalTracerProvider({ getTracer: () => tracer as never });
  metrics.setGlobalMeterProvider({
    getMeter: () => ({ createHistogram: remember, createCounter: remember }) as never,
  });
  onTestFinished(() => {
    trace.disable();
    metrics.disable();
    Reflect.deleteProperty(globalThis, Symbol.for('opentelemetry.js.api.1'));
  });
  return seen;
}

/** Sets the section `log` of a project's configuration. */
export function logIn(root: string, log: string): void {
  writeFileSync(join(root, 'keyturn.yaml'), `version: 1\nlog: ${log}\n`);
}

export function readLog(root: string, file: string): string {
  return readFileSync(join(root, file), 'utf8');
}

/** Every line of a log. One that is not whole fails here. */
export function logged(root: string, file: string): Record<string, unknown>[] {
  const text = readLog(root, file);
  if (text !== '' && !text.endsWith('\n')) throw new Error('the last line is not whole');
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
}
