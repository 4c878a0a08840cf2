import { describe, expect, it } from 'vitest';
import { type Candidate, rivals, thresholds } from '../../src/finder/rank.ts';
import { similarity } from '../../src/finder/similar.ts';
import { catalog, simulation } from './examples.ts';

const scored = (...scores: readonly number[]): Candidate[] => {
  const { simulations } = catalog(scores.map((_, i) => simulation(`s${i}`)));
  return scores.map((confidence_bp, i) => ({ entry: simulations[i]!, confidence_bp }));
};

describe('the thresholds', () => {
  it('are the ones that are fixed', () => {
    expect(thresholds).toEqual({ match_bp: 9000, clarify_bp: 7000, apart_bp: 800 });
  });

  it('candidates closer than 800 are rivals, and 800 apart they are not', () => {
    expect(rivals(scored(9500, 8701, 4000))).toHaveLength(2);
    expect(rivals(scored(9500, 8700, 4000))).toHaveLength(1);
  });

  it('at most three rivals are asked about, and nobody is nobody’s rival', () => {
    expect(rivals(scored(9500, 9400, 9300, 9200))).toHaveLength(3);
    expect(rivals([])).toEqual([]);
  });
});

describe('a word that somebody typed', () => {
  it.each([
    ['refnd', 'refund'],
    ['sned', 'send'],
    ['invocie', 'invoice'],
    ['invoices', 'invoice'],
    ['reembolsa', 'reembolsar'],
    ['ouvre', 'ouvrir'],
    ['भेज', 'भेजो'],
  ])('%s can stand for %s', (typed, known) => {
    expect(similarity(typed, known)).toBeGreaterThan(0.8);
    expect(similarity(typed, known)).toBeLessThan(1);
  });

  it.each([
    ['unlock', 'lock'],
    ['unsubscribe', 'subscribe'],
    ['desactivar', 'activar'],
    ['contrato', 'contraseña'],
    ['add', 'and'],
    ['退款', '付款'],
  ])('%s never stands for %s', (typed, known) => {
    expect(similarity(typed, known)).toBe(0);
  });
});
