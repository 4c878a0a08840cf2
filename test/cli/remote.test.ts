import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { openService } from '../../src/cli/remote.ts';
import { Keyturn } from '../../src/keyturn.ts';
import { keepLogin } from '../../src/project/login-file.ts';
import { planOf, planProjects, ran, replace } from '../journey/plan-story.ts';
import { accepted, mcpProject, SERVERS } from '../mcp-call/servers.ts';
import { type Service, service, serving, session } from '../serve/service.ts';
import { type Project, steady } from '../support/project.ts';
import { expectRefusal } from '../support/refusal.ts';
import { scratch } from '../support/scratch.ts';

/** The verbs of a service elsewhere, as a command has them, with the session of a login. The exhaustive files have whole machines. */

beforeEach(() => {
  vi.stubEnv('XDG_CONFIG_HOME', scratch());
  return () => vi.unstubAllEnvs();
});

async function opened(p: Project, s: Pick<Service, 'address' | 'link'>) {
  const { cookie, page } = await session(s);
  const { origin: ledger, key: ledger_key } = await p.keyturn.ledger.head();
  keepLogin({
    ...{ service: s.address, ledger, ledger_key, name: 'ada', key_file: '' },
    session: { cookie, page, expires_at: new Date(Date.now() + 60_000).toISOString() },
  });
  return openService(s.address);
}

const planProject = planProjects();
const reason = 'a test';

describe('from another machine', () => {
  it('a ledger is exported, and verified as it comes', async () => {
    const s = await service();
    const { ledger } = await opened(s, s);
    const pieces: Uint8Array[] = [];
    const to = async (chunks: AsyncIterable<Uint8Array>) => {
      for await (const chunk of chunks) pieces.push(chunk);
    };
    const { size, root, key } = await s.keyturn.ledger.head();
    expect(await ledger.export({ to, with_objects: true })).toEqual({ size, root, key });
    expect(Buffer.concat(pieces).toString().trimEnd().split('\n').at(-1)).toContain('"head":');
    // What takes the bytes fails: that is told, and nothing hangs.
    const full = async () => {
      throw new Error('the disk is full');
    };
    await expect(ledger.export({ to: full })).rejects.toThrow('the disk is full');
  });

  it('what is stored is verified, the registry checked, and a gc looked at, with the answers of the host', async () => {
    const s = await service();
    const far = await opened(s, s);
    const { keyturn } = s;
    expect(await far.ledger.verifyStore()).toEqual(await keyturn.ledger.verifyStore());
    expect(await far.tools.lint()).toEqual(await keyturn.tools.lint());
    const asked = { keep_bytes: 0 };
    expect(await far.system.previewGc(asked)).toEqual(await keyturn.system.previewGc(asked));
    const since = await far.ledger.since({ from: 0 });
    expect(since.entries).toEqual((await keyturn.ledger.since({ from: 0 })).entries);
  });

  it('a clock is accepted for the time at which it is signed', async () => {
    const s = await service();
    const ahead = await Keyturn.open({ at: s.root, ...steady(() => new Date(Date.now() + 86_400_000)) });
    await ahead.system.freeze({ scope: 'tool', name: 'say', reason, signer: s.ada });
    await ahead.close();
    const { system } = await opened(s, s);
    expect((await system.status()).clock).toMatchObject({ code: 'CLOCK_BEHIND' });
    const { now } = await system.acceptClock({ reason, signer: s.ada });
    expect(Math.abs(Date.parse(now) - Date.now())).toBeLessThan(10_000);
    expect((await system.status()).clock).toBeNull();
  });

  it('what was accepted of an MCP server is taken back', async () => {
    const p = await mcpProject({ odd: { script: SERVERS.odd } });
    await accepted(p.keyturn, 'odd', p.ada);
    const { mcp } = await opened(p, await serving(p));
    expect(await mcp.remove({ server: 'odd', reason, signer: p.ada })).toMatchObject({ by: 'ada' });
    expect((await mcp.servers()).servers).toMatchObject([{ server: 'odd', status: 'unaccepted' }]);
  });

  it('reports that are gone are made again, in a request that a key signed', async () => {
    const p = await planProject({ a: 'x\n' });
    const { report } = await ran(p, planOf([replace('1', 'a', 'x', 'y')]));
    rmSync(join(p.root, report.folder!, 'change_log.json'));
    const far = await opened(p, await serving(p));
    const { execution_id } = report;
    await expectRefusal('SESSION_READS', () => far.plans.report({ execution_id }));
    const signed = far.proven(p.ada);
    expect(await signed.plans.report({ execution_id })).toMatchObject({ written: ['change_log.json'] });
  });
});
