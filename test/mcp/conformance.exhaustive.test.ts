import { resolve } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { accepted, mcpProject } from '../mcp-call/servers.ts';
import { serving, withToken } from '../serve/service.ts';
import type { Project } from '../support/project.ts';
import { overHttp, overStdio } from './conformance/front.ts';
import { NOT_PASSED, type Route } from './conformance/not-passed.ts';
import { conformance, type Found, installSuite } from './conformance/suite.ts';
import { enrolled } from './stage.ts';

/**
 * The official suite against the gate, which has a fixture server behind it: over standard input and output, where a grant covers every call, and
 * over HTTP, where nothing is granted and a human turns the key of each.
 */

const LONG = { timeout: 600_000 };
const REVISIONS = ['2025-11-25', '2026-07-28'] as const;

beforeAll(installSuite, 600_000);

async function gated(): Promise<Project> {
  const p = await mcpProject({ fixture: { script: resolve('test/mcp/conformance/fixture.mjs') } });
  await accepted(p.keyturn, 'fixture', p.ada);
  return p;
}

async function granted(): Promise<string> {
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
  return overStdio(['mcp', '--project', p.root, '--as', 'scout']);
}

async function approved(): Promise<string> {
  const p = await gated();
  const { token } = await withToken(p, 'bot');
  const { address } = await serving(p, { most: 4 });
  approving(p);
  return overHttp(address, token);
}

/** A human who turns the key of whatever is proposed, as soon as it is. */
function approving({ keyturn, ada: signer }: Project): void {
  const stopped = new AbortController();
  const turning = async () => {
    for await (const { kind, subject: intent_id, body } of keyturn.ledger.follow({
      from: 0,
      signal: stopped.signal,
    }))
      if (kind === 'intent.proposed')
        await keyturn.intents.turn({ intent_id, hash: (body as { hash: string }).hash, signer });
  };
  const done = turning().catch((error: unknown) => {
    if (!stopped.signal.aborted) throw error;
  });
  onTestFinished(() => {
    stopped.abort();
    return done;
  });
}

const ROUTES: Readonly<Record<Route, () => Promise<string>>> = { granted, approved };

describe.each(REVISIONS)('the revision %s', (revision) => {
  it.each(['granted', 'approved'] as const)('passes all that applies, %s', LONG, async (route) => {
    const found = await conformance(await ROUTES[route](), [
      '--requirements',
      revision,
      '--timeout',
      '20000',
    ]);
    expect(found.size).toBeGreaterThan(30);
    expect(surprises(found, route)).toEqual([]);
    const passed = [...found].filter(([, wrong]) => wrong.length === 0).map(([name]) => name);
    for (const name of TOOLS) expect(passed, name).toContain(name);
  });
});

/** What failed without a reason that is written down. */
function surprises(found: Found, route: Route): string[] {
  return [...found].flatMap(([scenario, wrong]) => {
    const because = NOT_PASSED[scenario];
    if (wrong.length === 0 || because?.routes.includes(route)) return [];
    return [`${scenario}: ${wrong.join('; ')}`];
  });
}

/** In both revisions, on both routes. */
const TOOLS = [
  'tools-list',
  'tools-call-simple-text',
  'tools-call-image',
  'tools-call-audio',
  'tools-call-embedded-resource',
  'tools-call-mixed-content',
  'tools-call-error',
  'server-sse-multiple-streams',
  'json-schema-2020-12',
  'resources-list',
  'prompts-list',
];
