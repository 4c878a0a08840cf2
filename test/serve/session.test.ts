import { describe, expect, it } from 'vitest';
import { ownServiceState } from '../../src/project/service-state.ts';
import { sessionsOf } from '../../src/serve/session.ts';
import { expectRefusal } from '../support/refusal.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

describe('a link', () => {
  it('opens one session, within five minutes', async () => {
    let now = 0;
    const sessions = sessionsOf(
      ownServiceState(() => now),
      () => now,
    );
    const [soon, late] = [await sessions.link(), await sessions.link()];
    now = 5 * MINUTE - 1;
    const { secret, page } = await sessions.open(soon);
    expect(await sessions.of(secret, page)).toMatchObject({ name: null, key: null });
    await expectRefusal('LINK_SPENT', () => sessions.open(soon));
    now += 1;
    await expectRefusal('LINK_SPENT', () => sessions.open(late));
    await expectRefusal('LINK_SPENT', () => sessions.open('none'));
  });

  it('that a key asked for opens a session that ends with that key', async () => {
    const sessions = sessionsOf(ownServiceState());
    const { secret, page } = await sessions.open(await sessions.link({ name: 'ada', key: 'key' }));
    expect(await sessions.of(secret, page)).toMatchObject({ name: 'ada', key: 'key' });
  });
});

describe('a session', () => {
  it('is over after twelve hours, and where the one of a link is ended the others go on', async () => {
    let now = 0;
    const sessions = sessionsOf(
      ownServiceState(() => now),
      () => now,
    );
    const one = await sessions.openBy('ada', 'key');
    const other = await sessions.open(await sessions.link({ name: 'bo', key: null }));
    await sessions.end(one.secret);
    expect(await sessions.of(one.secret, one.page)).toBeUndefined();
    expect(await sessions.of(other.secret, other.page)).toMatchObject({ name: 'bo' });
    expect(await sessions.of(other.secret, one.page)).toBeUndefined();
    now = 12 * HOUR - 1;
    expect(await sessions.of(other.secret, other.page)).toBeDefined();
    now += 1;
    expect(await sessions.of(other.secret, other.page)).toBeUndefined();
  });

  it('is over after twelve hours, also where the clock was set back, or stood while the machine slept', async () => {
    let [now, steady] = [100 * HOUR, 0];
    const state = ownServiceState(
      () => now,
      () => steady,
    );
    const sessions = sessionsOf(state, () => now);
    const isOver = async ({ secret, page }: { secret: string; page: string }) =>
      (await sessions.of(secret, page)) === undefined;
    const [one, other] = [await sessions.openBy('ada', 'key'), await sessions.openBy('ada', 'key')];
    const link = await sessions.link();
    now -= 50 * HOUR;
    steady += 5 * MINUTE;
    await expectRefusal('LINK_SPENT', () => sessions.open(link));
    steady = 12 * HOUR - 1;
    expect(await isOver(one)).toBe(false);
    steady += 1;
    expect(await isOver(one)).toBe(true);
    steady = 0;
    now = 112 * HOUR;
    expect(await isOver(other)).toBe(true);
  });

  it('is one of 1,024: the oldest goes', async () => {
    const sessions = sessionsOf(ownServiceState());
    const [first, second] = [await sessions.openBy('ada', 'key'), await sessions.openBy('ada', 'key')];
    for (let n = 0; n < 1023; n++) await sessions.openBy('ada', 'key');
    expect(await sessions.of(first.secret, first.page)).toBeUndefined();
    expect(await sessions.of(second.secret, second.page)).toBeDefined();
  });
});
