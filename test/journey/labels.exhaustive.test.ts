import { cpSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { isSaidToGoOn } from '../../src/journey/run-words.ts';
import { Keyturn } from '../../src/keyturn.ts';
import { limits } from '../../src/limits.ts';
import { postgres } from '../store/postgres-place.ts';
import { until } from '../support/processes.ts';
import { type Project, steady, writeSecrets } from '../support/project.ts';
import { expectRefusal } from '../support/refusal.ts';
import { scratch } from '../support/scratch.ts';
import { can_name, executing } from './executing-process.ts';
import { anotherHost, type Shared, shared } from './postgres-host.ts';

const server = postgres();

const tool = (name: string, executor: string, script: string) => `  - name: ${name}
    summary: Uses a secret.
    executable: ${script}
    args: ["{gate}"]
    parameters: { gate: { type: string, max_length: 300 } }
    cwd: /
    secrets: { TOKEN: ${executor}.token }
    executor: ${executor}
    sandbox: none
    undo: none
`;

/** Says which secret it has, and waits for a file where one is named. */
const SCRIPT = `#!/bin/sh
echo "length \${#TOKEN}"
if [ -n "$1" ]; then : > "$1.begun"; while [ ! -e "$1" ]; do sleep 0.05; done; fi
`;

interface Hosts {
  readonly p: Shared;
  readonly hosts: Readonly<Record<'database' | 'releases', Project>>;
}

/** Two hosts over one ledger, each with the label and the secret of one tool. */
async function twoHosts(tenant: string): Promise<Hosts> {
  const script = join(scratch(), 'use.sh');
  writeFileSync(script, SCRIPT, { mode: 0o755 });
  const tools = `version: 1\ntools:\n${tool('query', 'database', script)}${tool('ship', 'releases', script)}`;
  const p = await shared(server(), tenant, tools);
  const host = async (label: string, value: string) => {
    const made = await anotherHost(p);
    const keys = join(p.root, '.keyturn', 'keys');
    const control = readdirSync(keys).find((name) => name.startsWith('control-'))!;
    mkdirSync(join(made.root, '.keyturn', 'keys'), { recursive: true });
    cpSync(join(keys, control), join(made.root, '.keyturn', 'keys', control));
    await made.keyturn.system.addExecutor({ name: label, labels: [label], reason: 'a test', signer: p.ada });
    const file = join(scratch(), 'secret');
    writeFileSync(file, value, { mode: 0o600 });
    writeSecrets(made.root, { [`${label}.token`]: { file } });
    return made;
  };
  return {
    p,
    hosts: {
      database: await host('database', 'd'.repeat(11)),
      releases: await host('releases', 'r'.repeat(22)),
    },
  };
}

async function turned({ keyturn, ada }: Shared, name: string, gate = ''): Promise<string> {
  const { intent_id, hash } = await keyturn.intents.propose({
    declared_goal: 'Use it.',
    effect: { kind: 'tool', tool: name, arguments: { gate } },
    signer: ada,
  });
  await keyturn.intents.turn({ intent_id, hash, signer: ada });
  return intent_id;
}

describe('two executors over one ledger, each with its own secret', () => {
  it('each runs only what needs its secret, and one that dies leaves its run in doubt while the other goes on', async () => {
    const { p, hosts } = await twoHosts('two-executors');
    const database = await executing(hosts.database.root);
    await executing(hosts.releases.root);
    const results = await Promise.all(
      ['query', 'ship', 'query', 'ship'].map(async (name) => {
        const intent_id = await turned(p, name);
        return p.keyturn.intents.waitFor({ intent_id });
      }),
    );
    expect(results.map(({ run }) => run!.output)).toEqual([
      { stdout: 'length 11\n', stderr: '' },
      { stdout: 'length 22\n', stderr: '' },
      { stdout: 'length 11\n', stderr: '' },
      { stdout: 'length 22\n', stderr: '' },
    ]);
    const names = (await p.keyturn.runs.list()).runs.map(({ tool, executor_name }) => [tool, executor_name]);
    expect(new Set(names.map(String))).toEqual(new Set(['query,database', 'ship,releases']));

    const gate = join(scratch(), 'gate');
    const lost = await turned(p, 'query', gate);
    await until(async () => (await p.keyturn.intents.get({ intent_id: lost })).status === 'claimed');
    database.kill('SIGKILL');
    const other = await turned(p, 'ship');
    expect((await p.keyturn.intents.waitFor({ intent_id: other })).status).toBe('succeeded');
    writeFileSync(gate, '');
    expect((await p.keyturn.intents.waitFor({ intent_id: lost })).status).toBe('claimed');
    expect((await p.keyturn.runs.inDoubt()).runs).toMatchObject([{ intent_id: lost }]);
    const nobody = await turned(p, 'query');
    expect((await p.keyturn.system.status()).approved).toMatchObject([
      { intent_id: nobody, waits_for: { executor: 'database', enrolled: 1 } },
    ]);
    await p.keyturn.ledger.verify({ deep: true });
  }, 240_000);
});

/** What each place that tells of a run says about it. */
async function wordsOf({ keyturn }: Pick<Project, 'keyturn'>, intent_id: string) {
  const [begun, ...others] = (await keyturn.runs.inDoubt()).runs;
  expect([begun!.intent_id, begun!.state, others]).toEqual([intent_id, 'other-host', []]);
  const story = await keyturn.intents.story({ intent_id });
  return {
    inDoubt: begun!.status_word,
    going: (await keyturn.runs.going()).status_word,
    status: (await keyturn.system.status()).in_doubt.map(({ status_word }) => status_word).join(),
    runs: (await keyturn.runs.list()).runs[0]!.status_word,
    intents: (await keyturn.intents.list()).intents[0]!.status_word,
    result: (await keyturn.intents.result({ intent_id })).status_word,
    story: story.intent.status_word,
    run: story.run_words[0]!.status_word,
  };
}

it.skipIf(!can_name)(
  'a run on a host that cannot be looked at is running while that host says so, and in doubt when it is silent',
  async () => {
    const { p, hosts } = await twoHosts('elsewhere');
    const { keyturn } = hosts.releases;
    const child = await executing(hosts.database.root, 'elsewhere');
    const gate = join(scratch(), 'gate');
    onTestFinished(() => writeFileSync(gate, ''));
    const intent_id = await turned(p, 'query', gate);
    await until(() => existsSync(`${gate}.begun`));
    const [{ execution_id } = expect.fail('no run')] = (await keyturn.runs.list()).runs;
    const shared = { service_state: keyturn.host.serviceState(), runs_folder: hosts.releases.root };
    await until(() => isSaidToGoOn(shared, execution_id));
    // At a time when a host that says nothing is taken for gone.
    const ahead = () => new Date(Date.now() + limits.beat_missed_ms + 1_000);
    const later = await Keyturn.open({ at: hosts.releases.root, mode: 'read', ...steady(ahead) });
    onTestFinished(() => later.close());
    const each = (word: string) => Object.fromEntries(TOLD.map((place) => [place, word]));
    expect(await wordsOf({ keyturn: later }, intent_id)).toEqual(each('running'));
    expect((await later.host.queue()).in_doubt).toBe(0);
    child.kill('SIGKILL');
    await until(async () => !(await isSaidToGoOn(shared, execution_id)));
    expect(await wordsOf({ keyturn: later }, intent_id)).toEqual(each('IN DOUBT'));
    expect((await later.host.queue()).in_doubt).toBe(1);
    // What is silent may still be at work: only a human says that it is not.
    const settle = { execution_id, outcome: 'happened', reason: 'I looked.', signer: p.ada } as const;
    await expectRefusal('RUN_STILL_ALIVE', () => p.keyturn.runs.resolve(settle));
  },
  120_000,
);

const TOLD = ['inDoubt', 'going', 'status', 'runs', 'intents', 'result', 'story', 'run'];
