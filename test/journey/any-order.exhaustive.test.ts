import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Refusal } from '../../src/refusal.ts';
import { type Project, project, TOOLS, writeMark } from '../support/project.ts';
import { runSeen } from '../support/seen.ts';
import { type Intent, yes } from './authority.ts';

/** What a bystander with a pencil would know. It shares no code with Keyturn. */
interface Known extends Intent {
  readonly expires_ms: number;
  approved_until_ms: number;
  rejected: boolean;
  attempt: number;
  status: 'open' | 'failed' | 'done';
  readonly fails: boolean;
  readonly capabilities: {
    token: string;
    id: string;
    attempt: number;
    until_ms: number;
    state: 'good' | 'used' | 'revoked';
  }[];
}

type Step = { readonly do: string; readonly which: number; readonly other: number };

/** More of what leads somewhere than of what stops it: otherwise hardly anything would ever run. */
const STEPS: readonly string[] = Object.entries({
  propose: 1,
  'propose failing': 1,
  approve: 5,
  grant: 5,
  run: 5,
  present: 3,
  revoke: 2,
  reject: 1,
  retry: 3,
  freeze: 1,
  unfreeze: 3,
  'wait a little': 1,
  'wait long': 1,
}).flatMap(([name, weight]) => Array(weight).fill(name));

const step: fc.Arbitrary<Step> = fc.record({
  do: fc.constantFrom(...STEPS),
  which: fc.nat(2),
  other: fc.nat(5),
});

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

class Story {
  readonly intents: Known[] = [];
  frozen = false;
  runs = 0;
  readonly p: Project;
  readonly clock: { now_ms: number };

  constructor(p: Project, clock: { now_ms: number }) {
    this.p = p;
    this.clock = clock;
  }

  async take({ do: what, which, other }: Step): Promise<void> {
    const intent = this.intents[which % Math.max(1, this.intents.length)];
    if (what.startsWith('propose')) return this.propose(what === 'propose failing');
    if (what === 'wait a little') return this.wait(100_000);
    if (what === 'wait long') return this.wait(2_000_000);
    if (what === 'freeze') return this.attempt(() => this.freeze());
    if (what === 'unfreeze') return this.attempt(() => this.unfreeze());
    if (!intent) return;
    const acts: Record<string, () => Promise<void>> = {
      approve: () => this.approve(intent),
      grant: () => this.grant(intent),
      run: () => this.run(intent, undefined),
      present: () => this.run(intent, this.tokens()[other % Math.max(1, this.tokens().length)]),
      revoke: () => this.revoke(intent, other),
      reject: () => this.reject(intent),
      retry: () => this.retry(intent),
    };
    await this.attempt(acts[what]!);
  }

  wait(ms: number): void {
    this.clock.now_ms += ms;
  }

  tokens(): string[] {
    return this.intents.flatMap(({ capabilities }) => capabilities.map(({ token }) => token));
  }

  /** A refusal is an answer; anything else is a bug. */
  async attempt(act: () => Promise<void>): Promise<void> {
    try {
      await act();
    } catch (error) {
      if (!(error instanceof Refusal) || error.code === 'INTERNAL') throw error;
    }
  }

  async propose(fails: boolean): Promise<void> {
    const { intent_id, hash, expires_at } = await this.p.keyturn.intents.propose({
      declared_goal: 'x',
      effect: fails
        ? { kind: 'tool', tool: 'fail', arguments: {} }
        : { kind: 'tool', tool: 'mark', arguments: { file: 'marks' } },
    });
    this.intents.push({
      intent_id,
      hash,
      expires_ms: Date.parse(expires_at),
      approved_until_ms: 0,
      rejected: false,
      attempt: 1,
      status: 'open',
      fails,
      capabilities: [],
    });
  }

  async approve(intent: Known): Promise<void> {
    const { intent_id, hash } = intent;
    const { expires_at } = await this.p.keyturn.intents.approve({ intent_id, hash, signer: this.p.ada });
    intent.approved_until_ms = Math.max(intent.approved_until_ms, Date.parse(expires_at));
  }

  async reject(intent: Known): Promise<void> {
    const { intent_id, hash } = intent;
    await this.p.keyturn.intents.reject({ intent_id, hash, reason: 'no', signer: this.p.ada });
    intent.rejected = true;
  }

  async grant(intent: Known): Promise<void> {
    const granted = await this.p.keyturn.intents.grant({
      intent_id: intent.intent_id,
      hash: intent.hash,
      signer: this.p.ada,
      is_issued: true,
    });
    const { capability_id: id, attempt, expires_at, token } = granted;
    intent.capabilities.push({ token: token!, id, attempt, until_ms: Date.parse(expires_at), state: 'good' });
  }

  async revoke({ capabilities }: Known, other: number): Promise<void> {
    const capability = capabilities[other % Math.max(1, capabilities.length)];
    if (!capability) return;
    await this.p.keyturn.runs.revokeCapability({
      capability_id: capability.id,
      reason: 'x',
      signer: this.p.ada,
    });
    capability.state = 'revoked';
  }

  async retry(intent: Known): Promise<void> {
    const { intent_id } = intent;
    await this.p.keyturn.runs.retry({ intent_id, reason: 'again', signer: this.p.ada });
    intent.attempt += 1;
    intent.status = 'open';
  }

  async freeze(): Promise<void> {
    await this.p.keyturn.system.freeze({ scope: 'system', reason: 'x', signer: this.p.ada });
    this.frozen = true;
  }

  async unfreeze(): Promise<void> {
    await this.p.keyturn.system.unfreeze({ scope: 'system', reason: 'x', signer: this.p.ada });
    this.frozen = false;
  }

  /** The capability that makes this run right, by the pencil's book. */
  entitled(intent: Known, token: string | undefined) {
    const now_ms = this.clock.now_ms;
    const may =
      !this.frozen &&
      !intent.rejected &&
      intent.status === 'open' &&
      now_ms < intent.expires_ms &&
      now_ms < intent.approved_until_ms;
    if (!may) return undefined;
    return intent.capabilities.findLast(
      (one) =>
        one.state === 'good' &&
        one.attempt === intent.attempt &&
        now_ms < one.until_ms &&
        (token === undefined || one.token === token),
    );
  }

  async run(intent: Known, token: string | undefined): Promise<void> {
    const right = this.entitled(intent, token);
    const before = this.marks();
    try {
      await runSeen(this.p.keyturn, { ...intent, confirm: yes, capability: token });
    } catch (error) {
      // Both ways: what is not right does not run, and what is right does.
      expect(right, `refused as ${(error as Refusal).code}`).toBeUndefined();
      expect(this.marks()).toBe(before);
      throw error;
    }
    expect(right, 'it ran without being entitled').toBeDefined();
    right!.state = 'used';
    intent.status = intent.fails ? 'failed' : 'done';
    this.runs += 1;
    expect(this.marks()).toBe(before + (intent.fails ? 0 : 1));
  }

  marks(): number {
    const path = join(this.p.root, 'marks');
    return existsSync(path) ? readFileSync(path, 'utf8').split('\n').length - 1 : 0;
  }
}

it('no sequence of calls, in any order, runs an effect without an approved, unexpired, unrevoked, unused, matching capability', async () => {
  const clock = { now_ms: Date.parse('2026-03-02T10:00:00.000Z') };
  const p = await project(TOOLS, () => new Date(clock.now_ms));
  writeMark(p.root);
  let runs = 0;
  await fc.assert(
    fc.asyncProperty(fc.boolean(), fc.array(step, { minLength: 12, maxLength: 40 }), async (ahead, steps) => {
      const story = new Story(p, clock);
      await story.propose(false);
      await story.propose(true);
      // Half of the stories begin with an intent that is ready: otherwise chance alone decides whether anything runs.
      const opening = ahead ? ['approve', 'grant'].map((what) => ({ do: what, which: 0, other: 0 })) : [];
      try {
        for (const one of [...opening, ...steps]) await story.take(one);
      } finally {
        // Later, because the same act twice at one moment is one act.
        clock.now_ms += 1000;
        if (story.frozen) await story.unfreeze();
        // What this story left waiting expires, and takes no room from the next.
        clock.now_ms += DAY_MS + HOUR_MS;
        runs += story.runs;
      }
    }),
    { numRuns: 40 },
  );
  // A property that nothing ever runs would hold as well.
  expect(runs).toBeGreaterThan(5);
  expect((await p.keyturn.ledger.rebuild({ write: false })).differences).toEqual([]);
  await p.keyturn.ledger.verify({ deep: true });
}, 600_000);
