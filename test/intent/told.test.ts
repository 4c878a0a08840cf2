import { describe, expect, it } from 'vitest';
import { isTold, type ToldIntent } from '../../src/intent/told.ts';

const effect = { kind: 'tool', tool: 'say', arguments: {}, digest: 'd1' } as never;
const alternate = { kind: 'tool', tool: 'whisper', arguments: {}, digest: 'd2' } as never;
const envelope = {
  issuer: 'scout',
  on_behalf_of: null,
  expiry: '2026-01-02T00:00:00.000Z',
  requested_actions: ['tool:say', 'tool:whisper'],
  replaces: null,
  undoes: null,
  effect,
  alternates: [alternate],
};
const told: ToldIntent = {
  proposer: 'scout',
  on_behalf_of: null,
  expires_at: '2026-01-02T00:00:00.000Z',
  actions: ['tool:say', 'tool:whisper'],
  replaces: null,
  undoes: null,
  effect_digest: 'd1',
  choices: [{ effect_digest: 'd1' }, { effect_digest: 'd2' }],
};

describe('what is told about an intent', () => {
  it('is what its envelope says, whichever of its calls comes next', () => {
    expect(isTold(envelope, told)).toBe(true);
    expect(isTold(envelope, { ...told, effect_digest: 'd2' })).toBe(true);
  });

  it.each<Partial<ToldIntent>>([
    { proposer: 'ada' },
    { on_behalf_of: 'ada' },
    { expires_at: '2027-01-02T00:00:00.000Z' },
    { actions: ['tool:say'] },
    { replaces: 'another' },
    { undoes: 'another' },
    { effect_digest: 'd3' },
    { choices: [{ effect_digest: 'd1' }] },
  ])('is something else with %j', (other) => {
    expect(isTold(envelope, { ...told, ...other })).toBe(false);
  });
});
