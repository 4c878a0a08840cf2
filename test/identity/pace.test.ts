import { describe, expect, it } from 'vitest';
import { IDLE, nextPace, type Pace, rateOf } from '../../src/identity/pace.ts';

const later = (seconds: number) => new Date(Date.UTC(2026, 0, 15, 12) + seconds * 1000);
const paced = (...seconds: number[]): Pace =>
  seconds.reduce((pace, at) => nextPace(pace, later(at).toISOString()), IDLE);

describe('the pace of a proposer', () => {
  it('is nothing at first, and counts what was issued in the last minute, hour and day', () => {
    expect(rateOf(IDLE, later(0))).toEqual({ minute: 0, hour: 0, day: 0 });
    const pace = paced(0, 1, 2, 600, 601);
    expect(pace.total).toBe(5);
    expect(rateOf(pace, later(602))).toEqual({ minute: 2, hour: 5, day: 5 });
    expect(rateOf(pace, later(7200))).toEqual({ minute: 0, hour: 0, day: 5 });
    expect(rateOf(pace, later(3 * 86_400))).toEqual({ minute: 0, hour: 0, day: 0 });
  });

  it('never counts less than the window really holds', () => {
    const times = Array.from({ length: 200 }, (_, i) => i * 37);
    let pace = IDLE;
    for (const [i, at] of times.entries()) {
      pace = nextPace(pace, later(at).toISOString());
      const within = (seconds: number) => times.slice(0, i + 1).filter((time) => time > at - seconds).length;
      const { minute, hour, day } = rateOf(pace, later(at));
      expect(minute).toBeGreaterThanOrEqual(within(60));
      expect(hour).toBeGreaterThanOrEqual(within(3600));
      expect(day).toBeGreaterThanOrEqual(within(86_400));
    }
  });

  it('is not set free by a clock that went back', () => {
    const pace = paced(7200, 7201);
    expect(rateOf(pace, later(0))).toEqual({ minute: 2, hour: 2, day: 2 });
    expect(rateOf(nextPace(pace, later(0).toISOString()), later(0)).minute).toBe(3);
  });

  it('stays small, however long it goes on', () => {
    const pace = paced(...Array.from({ length: 3000 }, (_, i) => i * 60));
    expect(pace.total).toBe(3000);
    expect(pace.minutes.length).toBeLessThanOrEqual(61);
    expect(pace.hours.length).toBeLessThanOrEqual(25);
  });
});
