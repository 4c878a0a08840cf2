import { type Attributes, metrics, type Span, trace } from '@opentelemetry/api';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Keyturn } from '../src/keyturn.ts';
import { openTelemetry, SILENT } from '../src/telemetry.ts';
import { project, ready, TOOLS } from './support/project.ts';
import { expectRefusal } from './support/refusal.ts';

interface Seen {
  readonly name: string;
  readonly facts: Attributes;
}

/** What an SDK would register, reduced to remembering. */
function registered(): Seen[] {
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

describe('telemetry', () => {
  it('is silent, and the same functions as without it, where no SDK is registered', async () => {
    expect(await openTelemetry()).toBe(SILENT);
    expect(await SILENT.span('run', async () => 7)).toBe(7);
  });

  it('tells operations, kinds, codes and counts, and nothing that an intent is about', async () => {
    const p = await project(TOOLS);
    const seen = registered();
    const keyturn = await Keyturn.open({ at: p.root });
    onTestFinished(() => keyturn.close());
    const effect = { kind: 'tool', tool: 'say', arguments: { word: 'xyzzy-argument' } };
    const intent = await keyturn.propose({ declared_goal: 'xyzzy-goal', effect });
    const { intent_id, hash } = intent;
    await expectRefusal('APPROVAL_MISSING', () => keyturn.grant({ intent_id, hash, signer: p.ada }));
    await ready({ ...p, keyturn }, intent);
    expect((await keyturn.run({ intent_id, hash, confirm: async () => true })).result).toBe('success');

    const named = (name: string) => seen.filter((one) => one.name === name).map(({ facts }) => facts);
    expect(named('keyturn.run')).toEqual([{ 'keyturn.result': 'success', 'keyturn.code': 'OK' }]);
    expect(named('keyturn.grant').map((facts) => facts['keyturn.code'])).toEqual(['APPROVAL_MISSING', 'OK']);
    expect(named('keyturn.commit').flatMap((facts) => facts['keyturn.kinds'])).toContain('execution.claimed');
    expect(named('keyturn.entries')).toContainEqual({ 'keyturn.kind': 'execution.finished' });
    expect(named('keyturn.decisions')).toContainEqual({ 'keyturn.allowed': true, 'keyturn.code': 'OK' });
    expect(named('keyturn.duration')).toContainEqual({ 'keyturn.operation': 'run', 'keyturn.code': 'OK' });
    const all = JSON.stringify(seen);
    for (const secret of ['xyzzy', intent_id, hash, 'ada', p.root]) expect(all).not.toContain(secret);
  });
});
