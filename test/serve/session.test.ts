import { describe, expect, it } from 'vitest';
import { sessionsOf } from '../../src/serve/session.ts';
import { expectRefusal } from '../support/refusal.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

describe('a link', () => {
  it('opens one session, within five minutes', async () => {
    let now = 0;
    const sessions = sessionsOf(() => now);
    const [soon, late] = [sessions.link(), sessions.link()];
    now = 5 * MINUTE - 1;
    const { secret, page } = sessions.open(soon);
    expect(sessions.of(secret, page)).toMatchObject({ name: null, key: null });
    await expectRefusal('LINK_SPENT', () => sessions.open(soon));
    now += 1;
    await expectRefusal('LINK_SPENT', () => sessions.open(late));
    await expectRefusal('LINK_SPENT', () => sessions.open('none'));
  });
});

describe('a session', () => {
  it('is over after twelve hours, and where the one of a link is ended the others go on', () => {
    let now = 0;
    const sessions = sessionsOf(() => now);
    const one = sessions.openBy('ada', 'key');
    const other = sessions.open(sessions.link('bo'));
    sessions.end(one.secret);
    expect(sessions.of(one.secret, one.page)).toBeUndefined();
    expect(sessions.of(other.secret, other.page)).toMatchObject({ name: 'bo' });
    expect(sessions.of(other.secret, one.page)).toBeUndefined();
    now = 12 * HOUR - 1;
    expect(sessions.of(other.secret, other.page)).toBeDefined();
    now += 1;
    expect(sessions.of(other.secret, other.page)).toBeUndefined();
  });

  it('is one of 64: the oldest goes', () => {
    const sessions = sessionsOf();
    const [first, second] = [sessions.openBy('ada', 'key'), sessions.openBy('ada', 'key')];
    for (let n = 0; n < 63; n++) sessions.openBy('ada', 'key');
    expect(sessions.of(first.secret, first.page)).toBeUndefined();
    expect(sessions.of(second.secret, second.page)).toBeDefined();
  });
});
