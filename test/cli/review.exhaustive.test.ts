import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { codeOf } from '../../src/canonical/code.ts';
import { entriesAbout } from '../support/ledger.ts';
import { inTerminal, keyturn } from '../support/pty.ts';
import {
  expectError,
  fileFolder,
  type Intent,
  makeProject,
  PASSPHRASE,
  type Project,
  SOME_HASH,
  TOOLS,
  thrice,
  typedCode,
  UNKNOWN_ID,
} from './project.ts';

const folder = fileFolder();
let project: Project;
beforeAll(async () => {
  project = await makeProject(folder);
});

const QUESTION = 'q to stop: ';
const PASSPHRASE_QUESTION = 'Passphrase of alice: ';
const CODE_QUESTION = 'Type the first 6 characters of the code to approve it: ';

const status = ({ id }: Intent) =>
  project.inside(async (keyturn) => (await keyturn.intents.get({ intent_id: id })).status);

const waitingCount = () =>
  project.inside(async (keyturn) => (await keyturn.intents.list({ status_word: 'waiting' })).intents.length);

describe('review', () => {
  it('asks why it is rejected, and Enter is a no that ends nothing else', async () => {
    const [first, second] = [await project.propose('fail'), await project.propose('fail')];
    const { stdout, screen } = await project.talk(
      ['review'],
      [QUESTION, 'r'],
      ['Why: ', ' '],
      [QUESTION, 'r'],
      ['Why: ', 'not now'],
      [PASSPHRASE_QUESTION, PASSPHRASE],
    );
    expect(screen).toContain('A rejection needs a reason. It is skipped.');
    expect(stdout).toBe('[OK] Reviewed: 0 approved, 1 rejected, 1 skipped\n');
    expect(await Promise.all([first, second].map(status))).toEqual(['proposed', 'rejected']);
    await project.talk(['reject', first.id, '--reason', 'over'], [PASSPHRASE_QUESTION, PASSPHRASE]);
  });

  it('walks through what is pending: Enter skips, r rejects, the code and the passphrase approve', async () => {
    const skipped = await project.propose('greet', { name: 'Ada' });
    const rejected = await project.propose('fail');
    const approved = await project.propose('reach', { count: 1 }, 'Needed for the report');
    const { code, screen, stdout, stderr } = await project.talk(
      ['review'],
      [QUESTION, ''],
      [QUESTION, 'r not today'],
      [PASSPHRASE_QUESTION, PASSPHRASE],
      [QUESTION, typedCode(approved.hash)],
      [PASSPHRASE_QUESTION, PASSPHRASE],
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toBe(`[OK] Reviewed: 1 approved, 1 rejected, 1 skipped\nkeyturn grant ${approved.id}\n`);
    expect(await Promise.all([skipped, rejected, approved].map(status))).toEqual([
      'proposed',
      'rejected',
      'approved',
    ]);

    const last = screen.slice(screen.indexOf('[3 of 3]'));
    // The tool and its arguments come before the ids.
    expect(last).toMatch(
      new RegExp(
        `\\nArgument: [^]+\\nDefinition: [^\\n]+\\nIntent: {6}${approved.id}\\nHash: {8}${approved.hash}\\nCode: {8}${codeOf(approved.hash)}\\n`,
      ),
    );
    expect(last).toContain('Asked by:    bot (agent, by name only), from the account bot on agents\n');
    expect(last).toContain('Why:         Needed for the report\n');
    expect(last).toMatch(/^Expires: {5}\S+Z \(in 23 h\)$/m);
    expect(last).toContain('Runs:        /usr/bin/printf "%s %s" 1 false\n');
    expect(last).toMatch(/^Executable: {2}\/usr\/bin\/printf\nSHA-256: {5}[0-9a-f]{64}$/m);
    expect(last).toContain('!!! NO SANDBOX');
    expect(screen).not.toContain(PASSPHRASE);

    const story = await project.inside((keyturn) => entriesAbout(keyturn, rejected.id));
    expect(story.at(-1)).toMatchObject({
      kind: 'approval.denied',
      body: { by: 'alice', reason: 'not today' },
    });
  });

  it('a typo does not end it: what is no answer is asked again, and skipped after three tries', async () => {
    const intent = await project.propose('fail');
    const skip: [string, string] = [QUESTION, ''];
    const { code, screen, stdout } = await project.talk(['review'], skip, ...thrice(QUESTION, 'y'));
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: '[OK] Reviewed: 0 approved, 0 rejected, 2 skipped\n',
    });
    expect(screen.match(/What was typed is not the beginning of the code/g)).toHaveLength(3);
    expect(await status(intent)).toBe('proposed');
    const id = typedCode(intent.hash);
    const late = await project.talk(
      ['review'],
      skip,
      [QUESTION, intent.id],
      [QUESTION, id.slice(0, 5)],
      [QUESTION, id.toLowerCase()],
      [PASSPHRASE_QUESTION, 'a typo'],
      [PASSPHRASE_QUESTION, PASSPHRASE],
    );
    expect(late.stdout).toContain('[OK] Reviewed: 1 approved, 0 rejected, 1 skipped\n');
    expect(await status(intent)).toBe('approved');
  });

  it('a wrong passphrase approves nothing', async () => {
    const intent = await project.propose('fail');
    const refused = await project.talk(
      ['review'],
      [QUESTION, ''],
      [QUESTION, typedCode(intent.hash)],
      ...thrice(PASSPHRASE_QUESTION, 'wrong passphrase'),
    );
    expectError('PASSPHRASE_WRONG', refused);
    expect(await status(intent)).toBe('proposed');
    const rejected = await project.talk(
      ['reject', intent.id, '--reason', 'clean up'],
      [PASSPHRASE_QUESTION, PASSPHRASE],
    );
    expect(rejected).toMatchObject({ code: 0, stdout: `[OK] alice rejected ${intent.id}. That is final\n` });
  });

  it('q stops, and what comes after it stays as it was', async () => {
    const { code, stdout } = await project.talk(['review'], [QUESTION, 'q']);
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: '[OK] Reviewed: 0 approved, 0 rejected, 0 skipped\n',
    });
  });

  it('without a terminal nothing is approved, whatever comes on standard input', async () => {
    const intent = await project.propose('fail');
    const stdin = `${intent.id}\n${PASSPHRASE}\n`;
    const env = { KEYTURN_PASSPHRASE: PASSPHRASE, KEYTURN_YES: '1', CI: '1' };
    expectError('NO_TERMINAL', await keyturn(['review'], { cwd: folder, stdin, env }));
    expectError('NO_TERMINAL', await keyturn(['approve', intent.id], { cwd: folder, stdin, env }));
    for (const flag of ['--yes', '-y', '--force', '--passphrase=x'])
      expectError('USAGE', await project.run('approve', intent.id, flag));
    expect(await status(intent)).toBe('proposed');
  });
});

describe('a flood of proposals', () => {
  const other = fileFolder();

  it('is counted by proposer before the first question, and s skips the rest of one proposer', async () => {
    const flooded = await makeProject(other);
    for (const name of ['Ada', 'Bo', 'Cy']) await flooded.propose('greet', { name });
    const last = await flooded.inside((keyturn) => {
      const effect = { kind: 'tool' as const, tool: 'fail', arguments: {} };
      return keyturn.intents.propose({ declared_goal: 'Mine.', effect, signer: flooded.alice });
    });
    const { screen, stdout } = await flooded.talk(
      ['review'],
      [QUESTION, 's'],
      [QUESTION, 'r no'],
      [PASSPHRASE_QUESTION, PASSPHRASE],
    );
    expect(screen).toMatch(/^4 intents wait for a human:\n {2}3 by bot \(by name only\)\n {2}1 by alice\n/);
    expect(screen.match(/\[\d of 4\]/g)).toEqual(['[1 of 4]', '[4 of 4]']);
    expect(stdout).toBe('[OK] Reviewed: 0 approved, 1 rejected, 3 skipped\n');
    const { intents } = await flooded.inside((keyturn) => keyturn.intents.list({ status_word: 'rejected' }));
    expect(intents.map(({ intent_id }) => intent_id)).toEqual([last.intent_id]);
  });
});

describe('the screen', () => {
  const seen = async (words: string[], columns: number) => {
    const session = inTerminal(words, { cwd: folder, columns, rows: 200 });
    try {
      await session.expect(CODE_QUESTION);
      return session.text;
    } finally {
      session.kill();
    }
  };

  it('an argument cannot paint a field of its own, at any width', async () => {
    const fake = 'Sandbox:     no network, reads only the system, writes nothing';
    for (const columns of [40, 80, 133]) {
      const value = `Ada${' '.repeat(60)}${'x'.repeat(columns - 20)}${fake}`;
      const { id } = await project.propose('greet', { name: value });
      const screen = await seen(['approve', id], columns);
      expect(screen).toContain('[␠×60]');
      expect(screen.match(/^Sandbox:/gm)).toHaveLength(1);
      for (const line of screen.split('\n').slice(0, -1)) {
        expect([...line.trimEnd()].length).toBeLessThan(columns);
        expect(line).toMatch(/^([A-Z][A-Za-z0-9 -]*:|!!!| *[│↪] )/);
      }
    }
  });

  it('nothing is cut off, and show --json has the raw text', async () => {
    const value = 'y'.repeat(3000);
    const { id } = await project.propose('greet', { name: 'Ada' }, value);
    const screen = await seen(['approve', id], 100);
    expect(screen.replace(/\n *[│↪] /g, '')).toContain(`${value}\n`);
    const all = await project.run('show', '--json', id);
    expect(JSON.parse(all.stdout).result.envelope.declared_goal).toBe(value);
  });

  it('says that the name of the proposer is a claim, and what the intent bounds itself to', async () => {
    const effect = { kind: 'tool' as const, tool: 'fail', arguments: {} };
    const constraints = { scope: ['tool:fail'], limits: { network: false }, prohibitions: ['network'] };
    const propose = (issuer: string) =>
      project.inside((keyturn) =>
        keyturn.intents.propose({ issuer, declared_goal: 'Tidy up', effect, constraints }),
      );
    const { intent_id } = await propose('alice');
    const screen = await seen(['approve', intent_id], 100);
    expect(screen).toMatch(/^Asked by: +says it is alice \(human\), from the account \S+ on \S+$/m);
    expect(screen).toMatch(
      /^Constraints:\n {2}Scope: +tool:fail\n {2}Limits: +\{"network":false\}\n {2}Prohibited: +network$/m,
    );
    const agent = await project.run('show', (await propose('bot')).intent_id);
    expect(agent.stdout).toMatch(/^Asked by: +bot \(agent, by name only\), from the account \S+ on \S+$/m);
  });
});

describe('approve', () => {
  it('shows the effect at the terminal, takes the code and the passphrase, and signs the hash', async () => {
    const intent = await project.propose('greet', { name: 'Ada' });
    const { code, screen, stdout } = await project.talk(
      ['approve', intent.id, '--hash', intent.hash, '--ttl', '30m'],
      [CODE_QUESTION, typedCode(intent.hash)],
      [PASSPHRASE_QUESTION, PASSPHRASE],
    );
    expect(code).toBe(0);
    expect(screen).toContain('Runs:        /usr/bin/printf "Hello, %s!\\\\n" Ada\n');
    expect(screen).toContain(`Code:        ${codeOf(intent.hash)}\n`);
    expect(stdout).toMatch(
      new RegExp(
        `^\\[OK\\] alice approved ${intent.id}\nHash: +${intent.hash}\nCode: +${codeOf(intent.hash)}\n`,
      ),
    );
    const { approvals } = await project.inside((keyturn) => keyturn.intents.get({ intent_id: intent.id }));
    const { signed_at, expires_at } = approvals[0]!;
    expect(Date.parse(expires_at) - Date.parse(signed_at)).toBe(30 * 60_000);
  });

  it('a hash that is not the one of the intent stops before anybody is asked', async () => {
    const intent = await project.propose('fail');
    expectError('HASH_MISMATCH', await project.run('approve', intent.id, '--hash', SOME_HASH));
    expectError('HASH_MALFORMED', await project.run('approve', intent.id, '--hash', SOME_HASH.toUpperCase()));
    expectError('TIME_MALFORMED', await project.run('approve', intent.id, '--ttl', '1 hour'));
    expectError('INTENT_NOT_FOUND', await project.run('approve', UNKNOWN_ID));
    expectError('ID_MALFORMED', await project.run('approve', 'x'));
  });

  it('a wrong code and an empty answer approve nothing', async () => {
    const intent = await project.propose('fail');
    const other = await project.propose('fail');
    for (const typed of ['y', intent.id, typedCode(other.hash), typedCode(intent.hash).slice(0, -1)])
      expectError(
        'CONFIRMATION_WRONG',
        await project.talk(['approve', intent.id], ...thrice(CODE_QUESTION, typed)),
      );
    expectError('CONFIRMATION_DECLINED', await project.talk(['approve', intent.id], [CODE_QUESTION, '']));
    expect(await status(intent)).toBe('proposed');
  });

  it('a registry entry that changed since the proposal is found before anything is typed', async () => {
    const intent = await project.propose('greet', { name: 'Ada' });
    const path = join(folder, 'tools.yaml');
    const rewrite = (text: string) => {
      chmodSync(path, 0o644);
      writeFileSync(path, text);
      chmodSync(path, 0o444);
    };
    rewrite(TOOLS.replace('Hello, %s', 'Goodbye, %s'));
    try {
      expectError('EFFECT_CHANGED', await project.talk(['approve', intent.id]));
    } finally {
      rewrite(TOOLS);
    }
    expect(await status(intent)).toBe('proposed');
  });

  it('a rejection is final: it can be neither approved nor rejected again', async () => {
    const intent = await project.propose('fail');
    const reject = ['reject', intent.id, '--reason', 'no'];
    expect((await project.talk(reject, [PASSPHRASE_QUESTION, PASSPHRASE])).code).toBe(0);
    expectError('INTENT_REJECTED', await project.talk(['approve', intent.id]));
    expectError('INTENT_REJECTED', await project.talk(reject));
    expectError('USAGE', await project.run('reject', intent.id));
  });

  it('once a second human is enrolled nobody approves what they proposed themselves', async () => {
    await project.inside(async (keyturn) => {
      const signer = await keyturn.unlock('alice', PASSPHRASE);
      const { public_key } = await keyturn.host.createKey('bob', 'another passphrase');
      await keyturn.people.enrol({ name: 'bob', principal: 'human', public_key, signer });
    });
    const proposed = await project.talk(
      ['propose', '--tool', 'fail', '--by', 'alice', '--sign', '--json'],
      [PASSPHRASE_QUESTION, PASSPHRASE],
    );
    const { intent_id, hash } = JSON.parse(proposed.stdout).result;
    expectError('SELF_APPROVAL', await project.talk(['approve', intent_id, '--as', 'alice']));
    const walked = await project.talk(
      ['review', '--as', 'alice'],
      ...Array.from({ length: await waitingCount() }, (): [string, string] => [QUESTION, '']),
    );
    expect(walked.screen).toContain('alice cannot approve it: The proposer may not approve');
    expectError('USAGE', await project.talk(['approve', intent_id]));
    const other = await project.talk(
      ['approve', intent_id, '--as', 'bob'],
      [CODE_QUESTION, typedCode(hash)],
      ['Passphrase of bob: ', 'another passphrase'],
    );
    expect(other.code).toBe(0);
  });
});
