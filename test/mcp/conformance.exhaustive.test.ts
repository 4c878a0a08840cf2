import { resolve } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { accepted, mcpProject } from '../mcp-call/servers.ts';
import { serving, withToken } from '../serve/service.ts';
import { elapsed } from '../support/processes.ts';
import type { Project } from '../support/project.ts';
import { overHttp, overStdio } from './conformance/front.ts';
import { NOT_PASSED, type NotPassed, type Route } from './conformance/not-passed.ts';
import { conformance, type Found, installSuite, scenariosOf } from './conformance/suite.ts';
import { enrolled } from './stage.ts';

/**
 * The official suite against the gate, which has a fixture server behind it: over standard input and output, where a grant covers every call, and
 * over HTTP, where nothing is granted and a human turns the key of each.
 */

const LONG = { timeout: 600_000 };
const REVISIONS = ['2025-11-25', '2026-07-28'] as const;

beforeAll(installSuite, 600_000);

async function gated(): Promise<Project> {
  const pass = ['resources', 'prompts', 'completion', 'logging', 'input'];
  const script = resolve('test/mcp/conformance/fixture.mjs');
  const p = await mcpProject({ fixture: { script, more: { pass } } });
  await accepted(p.keyturn, 'fixture', p.ada);
  return p;
}

interface Reached {
  readonly url: string;
  /** Rejects when something goes wrong that the suite cannot see. */
  readonly failed: Promise<never>;
}

async function granted(): Promise<Reached> {
  const p = await gated();
  await enrolled(p);
  await p.keyturn.agents.delegate({
    delegate: 'scout',
    actions: ['mcp:fixture:*'],
    ttl_s: 3600,
    approves: true,
    grant: { uses: 1000 },
    reason: 'everything',
    signer: p.ada,
  });
  const url = await overStdio(['mcp', '--project', p.root, '--as', 'scout']);
  return { url, failed: new Promise(() => {}) };
}

async function approved(): Promise<Reached> {
  const p = await gated();
  const { token } = await withToken(p, 'bot');
  const { address } = await serving(p, { most: 4 });
  return { url: await overHttp(address, token), failed: approving(p) };
}

/** A human needs a moment: what a client cancels at once is cancelled before its key is turned. */
const LOOK_MS = 1_000;

/** A human who turns the key of whatever is proposed, each as soon as they looked at it. Rejects with what they could not turn. */
async function approving({ keyturn, ada: signer }: Project): Promise<never> {
  const stopped = new AbortController();
  onTestFinished(() => stopped.abort());
  const { signal } = stopped;
  const turn = async (intent_id: string, hash: string) => {
    await elapsed(LOOK_MS, 'a human looks before a key is turned', signal);
    try {
      await keyturn.intents.turn({ intent_id, hash, signer });
    } catch (error) {
      // Its client took it back meanwhile.
      if (!(await keyturn.intents.result({ intent_id })).is_over) throw error;
    }
  };
  return new Promise((_done, fail) => {
    const failing = (error: unknown) => {
      if (!signal.aborted) fail(error);
    };
    const following = async () => {
      for await (const { kind, subject, body } of keyturn.ledger.follow({ from: 0, signal }))
        if (kind === 'intent.proposed') turn(subject, (body as { hash: string }).hash).catch(failing);
    };
    following().catch(failing);
  });
}

const ROUTES: Readonly<Record<Route, () => Promise<Reached>>> = { granted, approved };

describe.each(REVISIONS)('the revision %s', (revision) => {
  it.each(['granted', 'approved'] as const)('passes all that applies, %s', LONG, async (route) => {
    const { url, failed } = await ROUTES[route]();
    const words = ['--requirements', revision, '--timeout', '20000'];
    const found = await Promise.race([conformance(url, words), failed]);
    expect([...found.keys()].sort()).toEqual(scenariosOf(revision));
    const known = NOT_PASSED.filter(({ routes, revisions }) => {
      return routes.includes(route) && revisions.includes(revision);
    });
    expect(unexplained(found, known)).toEqual([]);
    expect(passedAfterAll(found, known)).toEqual([]);
  });
});

/** What was not passed for another reason than one that is written down. */
function unexplained(found: Found, known: readonly NotPassed[]): string[] {
  return [...found].flatMap(([scenario, checks]) =>
    checks
      .filter(
        (check) =>
          !known.some(({ says, failed }) => failed[scenario]?.includes(check.id) && says.test(check.says)),
      )
      .map(({ id, says }) => `${scenario} ${id}: ${says}`),
  );
}

/** What is written down as not passed, and was passed. */
function passedAfterAll(found: Found, known: readonly NotPassed[]): string[] {
  return known.flatMap(({ failed, sometimes }) =>
    Object.entries(sometimes ? {} : failed).flatMap(([scenario, ids]) => {
      const checks = found.get(scenario) ?? [];
      return ids.filter((id) => !checks.some((one) => one.id === id)).map((id) => `${scenario} ${id}`);
    }),
  );
}
