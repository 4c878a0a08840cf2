import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { generateKeyPair } from '../../src/canonical/ed25519.ts';
import { VERBS } from '../../src/face/verbs.ts';
import type { Finished } from '../support/pty.ts';
import {
  answerOf,
  expectError,
  fileFolder,
  makeProject,
  type Project,
  thrice,
  typedCode,
  UNKNOWN_ID,
} from './project.ts';
import { ended, type Laptop, laptop, SECRET, type Served, served } from './remote-scene.ts';

/** What a moment changes between two commands. */
const AGE = /\b\d+s {1,3}|\(in \d+ (min|h)\)/g;

/** The command line on a machine without a project, against a real service in a process of its own. */

vi.setConfig({ testTimeout: 240_000, hookTimeout: 120_000 });

const folder = fileFolder();
let project: Project;
let service: Served;
let far: Laptop;

beforeAll(async () => {
  mkdirSync(join(folder, 'host'));
  mkdirSync(join(folder, 'laptop'));
  project = await makeProject(join(folder, 'host'));
  service = await served(project);
  far = laptop(project, join(folder, 'laptop'), () => service.address);
});
afterAll(() => ended(service));

describe('a login', () => {
  it('compares the key of the ledger once, and keeps a session that only its account can read', async () => {
    expectError('LOGIN_MISSING', await far.run('status'));
    const wrong = await far.talk(
      ['login', '--as', 'alice', '--key', 'alice.json'],
      SECRET,
      ...thrice('told you: ', '0123456789abcdef'),
    );
    expect(wrong.stderr).toContain('CONFIRMATION_WRONG');
    expectError('LOGIN_MISSING', await far.run('status'));
    const { code, stdout } = await far.login();
    expect([code, stdout]).toEqual([
      0,
      expect.stringContaining(`[OK] alice is logged in at ${service.address}`),
    ]);
    const kept = join(far.folder, '.config', 'keyturn');
    const [file, ...others] = readdirSync(kept);
    expect(others).toEqual([]);
    expect(statSync(join(kept, file!)).mode & 0o777).toBe(0o600);
    expect(statSync(kept).mode & 0o777).toBe(0o700);
    const again = await far.talk(['login', '--as', 'alice', '--key', 'alice.json'], SECRET);
    expect(again.code).toBe(0);
  });

  it('says whose login it replaces', async () => {
    await far.talk(['identity', 'add', 'courier', '--agent', '--key-out', 'courier.key'], SECRET);
    const agent = await far.run('login', '--as', 'courier', '--agent-key', 'courier.key');
    expect([agent.code, agent.stderr]).toEqual([0, 'This replaces the login of alice.\n']);
    const back = await far.login();
    expect([back.code, back.stderr]).toEqual([
      0,
      expect.stringContaining('This replaces the login of courier.'),
    ]);
  });

  it('looks at the key file before it asks for a passphrase, and names it', async () => {
    writeFileSync(join(far.folder, 'broken.json'), 'not JSON');
    for (const file of ['nowhere.json', 'broken.json']) {
      const refused = await far.run('login', '--as', 'alice', '--key', file);
      expectError('KEY_FILE_INVALID', refused);
      expect(refused.stderr).toContain(join(far.folder, file));
    }
  });

  it('shows what the terminal of the host shows', async () => {
    const { id } = await project.propose('greet', { name: 'Ada' }, 'Greet Ada.');
    for (const words of [
      ['list'],
      ['show', id],
      ['status'],
      ['runs'],
      ['credential', 'list'],
      ['policy', 'diff'],
    ]) {
      const [here, there] = [await project.run(...words), await far.run(...words)];
      // The commands that it advises go to the service, too.
      const there_too = ` --service ${service.address}`;
      if (words[0] === 'status') expect(there.stdout).toContain(`\`keyturn turn${there_too}\``);
      const aged = ({ stdout, ...rest }: Finished) => ({
        ...rest,
        stdout: stdout.replace(AGE, 'AGE').replaceAll(there_too, ''),
      });
      expect(aged(there), words.join(' ')).toEqual(aged(here));
    }
    const json = answerOf(await far.run('show', id, '--json'));
    expect(json).toEqual(answerOf(await project.run('show', id, '--json')));
    expect((await far.run('ledger', 'verify')).stdout).toContain('[OK] The ledger of');
    expect((await far.run('check', id, 'a'.repeat(64))).stdout).toMatch(/^\[ERROR\]/);
  });
});

describe('a human far from the project', () => {
  it('approves what is on the screen, with the passphrase typed here', async () => {
    const { id, hash } = await project.propose('greet', { name: 'Bo' }, 'Greet Bo.');
    const typed = typedCode(hash);
    const { code, screen, stdout } = await far.talk(['approve', id], ['to approve it: ', typed], SECRET);
    expect(screen).toContain('Greet Bo.');
    expect([code, stdout]).toEqual([0, expect.stringContaining(`[OK] alice approved ${id}`)]);
    const granted = await far.talk(['grant', id], SECRET);
    expect([granted.code, granted.stdout]).toEqual([0, expect.stringContaining('ordered one run of')]);
    const waited = await project.inside(({ intents }) => intents.waitFor({ intent_id: id }));
    expect(waited.status).toBe('succeeded');
  });

  it('turns the key, the executor of the service runs it once, and the output comes here', async () => {
    const { id } = await project.propose('greet', { name: 'Cleo' });
    const { code, stdout } = await far.talk(['turn', id], ['Turn the key? (y/n) ', 'y'], SECRET);
    expect(stdout).toContain('[OK] An executor runs greet\n[OK] Execution completed: greet\n');
    expect([code, stdout]).toEqual([0, expect.stringContaining('Hello, Cleo!')]);
    const { runs } = await project.inside(({ intents }) => intents.get({ intent_id: id }));
    expect(runs).toHaveLength(1);
    const waited = await far.run('wait', id, '--output');
    expect([waited.code, waited.stdout, waited.stderr]).toEqual([0, 'Hello, Cleo!\n', '']);
    const failing = await project.propose('fail');
    const failed = await far.talk(['turn', failing.id, '--json'], ['Turn the key? (y/n) ', 'y'], SECRET);
    expect(answerOf(failed)).toMatchObject({ ok: false, code: 'TOOL_EXIT_NONZERO' });
  });

  it('is told of the run of an executor with --json what a run here tells', async () => {
    const { id } = await project.propose('greet', { name: 'Dina' });
    const told = await far.talk(['turn', id, '--json'], ['Turn the key? (y/n) ', 'y'], SECRET);
    const { result } = answerOf(told) as never as { result: { run: unknown } };
    const { runs } = await project.inside(({ intents }) => intents.get({ intent_id: id }));
    const { execution_id, capability_id } = runs[0]!;
    const ran = VERBS.runs.run.output().parse(result.run);
    expect(ran).toMatchObject({ intent_id: id, tool: 'greet', execution_id, capability_id });
    expect(ran).toMatchObject({ result: 'success', exit_code: 0, signal: null, reason_code: null });
    expect(ran).toMatchObject({ stdout: 'Hello, Dina!\n', left_out: { stdout: 0, stderr: 0 }, folder: null });
  });

  it('rejects, freezes, unfreezes, proposes, withdraws and revokes', async () => {
    const reason = ['--reason', 'a test'];
    const no = await project.propose('greet', { name: 'Dan' });
    expect((await far.talk(['reject', no.id, ...reason], SECRET)).stdout).toContain(`rejected ${no.id}`);
    expect((await far.talk(['freeze', '--tool', 'fail', ...reason], SECRET)).stdout).toContain(
      'froze the tool',
    );
    expect((await far.run('status')).stdout).toContain('FROZEN');
    expect((await far.talk(['unfreeze', '--tool', 'fail', ...reason], SECRET)).stdout).toContain('unfroze');
    for (const scope of [[], ['--tenant']]) {
      expect((await far.talk(['freeze', ...scope, ...reason], SECRET)).code).toBe(0);
      expect((await far.talk(['unfreeze', ...scope, ...reason], SECRET)).code).toBe(0);
    }
    const own = ['propose', '--tool', 'greet', '--arg', 'name=Eve', '--by', 'alice'];
    const proposed = await far.talk(own, SECRET);
    const [, id] = /^ID: +(\S+)$/m.exec(proposed.stdout)!;
    const { proposer_verified } = await project.inside(({ intents }) => intents.get({ intent_id: id! }));
    expect(proposer_verified).toBe(true);
    expect((await far.talk(['withdraw', id!, ...reason], SECRET)).stdout).toContain('withdrew');
    const open = await project.propose('greet', { name: 'Fay' });
    await project.approve(open);
    const added = await far.talk(['token', 'add', 'bot', ...reason], SECRET);
    expect(added.stdout).toMatch(/^\[OK\] bot has a new token\nToken: +ktk1\./);
    await project.inside(({ ledger }) => ledger.verify({ deep: true }));
  });

  it('adds and revokes an executor whose key and name are given, and lists the control keys', async () => {
    const reason = ['--reason', 'a test'];
    const { public_key } = generateKeyPair();
    expectError('HOST_ONLY', await far.run('executor', 'add', public_key, ...reason));
    const words = [
      'executor',
      'add',
      public_key,
      '--name',
      'second',
      '--serves',
      'b',
      '--serves',
      'a',
      ...reason,
    ];
    expect((await far.talk(words, SECRET)).stdout).toContain('An executor "second" may run');
    expect((await far.talk(['executor', 'revoke', public_key, ...reason], SECRET)).code).toBe(0);
    expect((await far.run('control', 'list')).stdout).toMatch(/issues/);
    const made = await project.inside(({ system }) =>
      system.rotateControlKey({ reason: 'a test', signer: project.alice }),
    );
    expect((await far.talk(['control', 'revoke', made.replaces!, ...reason], SECRET)).code).toBe(0);
    await project.inside(({ ledger }) => ledger.verify({ deep: true }));
  });

  it('delegates to the key that the screen shows, and acts for no agent', async () => {
    const { public_key } = generateKeyPair();
    await project.inside(({ people }) =>
      people.enrol({ name: 'scout', principal: 'agent', public_key, signer: project.alice }),
    );
    const words = ['delegation', 'add', 'scout', '--action', 'tool:greet', '--ttl', '1h', '--approves'];
    const reason = ['--reason', 'a test'];
    const passed_on = ['--delegation', UNKNOWN_ID, '--agent-key', 'none'];
    expectError('CALLER_OTHER', await far.run(...words, ...passed_on, ...reason));
    const looked_at = ['--hash', 'a'.repeat(64)];
    expectError('CALLER_OTHER', await far.run('submit', UNKNOWN_ID, ...passed_on, ...looked_at));
    const added = await far.talk([...words, ...reason], SECRET);
    expect(added.stdout).toContain('[OK] alice delegated tool:greet to scout');
    expect(added.screen).toContain(public_key);
    const { delegations } = await project.inside(({ agents }) => agents.delegations());
    expect(delegations).toMatchObject([
      { delegate: 'scout', delegate_key: public_key, actions: ['tool:greet'], approves: true, grant: null },
    ]);
    await project.inside(({ ledger }) => ledger.verify({ deep: true }));
  });

  it('stops a run that goes on at the service', async () => {
    const { id, hash } = await project.propose('wait', { seconds: 60 });
    await project.inside((keyturn) => keyturn.intents.turn({ intent_id: id, hash, signer: project.alice }));
    const going = () => project.inside(({ runs }) => runs.going({}).catch(() => null));
    while ((await going()) === null);
    const { stdout } = await far.talk(['stop', '--reason', 'enough'], SECRET);
    expect(stdout).toContain('alice stopped');
    expect(stdout).toContain('ended half way');
  });

  it('is told at once what is only for the host', async () => {
    for (const words of [
      ['init', '--name', 'eve'],
      ['serve'],
      ['execute'],
      ['doctor'],
      ['tool', 'lock'],
      ['backup', 'x'],
      ['gc', '--keep-mb', '0', '--reason', 'a test'],
    ])
      expectError('HOST_ONLY', await far.run(...words));
    expectError('USAGE', await far.run('list', '--service', service.address, '--project', '.'));
    expectError('PROJECT_MISSING', await far.run('list', '--project', '.'));
  });
});

describe('a logout', () => {
  it('ends the session there and here', async () => {
    expect((await far.run('logout')).stdout).toBe(`[OK] alice is logged out at ${service.address}\n`);
    expectError('LOGIN_MISSING', await far.run('status'));
    expectError('LOGIN_MISSING', await far.run('logout'));
  });
});
