import { appendFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { generateKeyPair } from '../../src/canonical/ed25519.ts';
import { AGENT } from '../../src/cli/commands/agent.ts';
import { COMMANDS } from '../../src/cli/commands.ts';
import { answerJsonSchema } from '../../src/cli/schema.ts';
import { Keyturn } from '../../src/keyturn.ts';
import { steady } from '../support/project.ts';
import { scratch } from '../support/scratch.ts';
import {
  answerOf,
  fileFolder,
  type Intent,
  makeProject,
  PASSPHRASE,
  type Project,
  SOME_HASH,
  talkAt,
  typedCode,
  UNKNOWN_ID,
} from './project.ts';

describe('the published schema', () => {
  it('is the one that the program is written against; scripts/schemas.mjs writes it anew', () => {
    const published = readFileSync(new URL('../../schemas/cli.json', import.meta.url), 'utf8');
    expect(JSON.parse(published)).toEqual(JSON.parse(JSON.stringify(answerJsonSchema())));
  });

  it('has an answer for every command', () => {
    const names = Object.keys((answerJsonSchema() as { $defs: object }).$defs);
    for (const { name } of COMMANDS) expect(names).toContain(`answer-${name.replace(' ', '-')}`);
  });
});

describe('--json', () => {
  const folder = fileFolder();
  const ASKED: [string, string] = ['Passphrase of alice: ', PASSPHRASE];
  const YES: [string, string] = ['Proceed? (y/n) ', 'y'];
  const answered = new Set<string>();
  let project: Project;
  let intent: Intent;

  const ok = async (words: string[], ...turns: [string, string][]) => {
    const all = [...words, '--json'];
    const finished = await (turns.length === 0 ? project.run(...all) : project.talk(all, ...turns));
    expect(finished.stderr).toBe('');
    const answer = answerOf(finished) as never as {
      ok: boolean;
      command: string;
      result: Record<string, string>;
    };
    expect(answer).toMatchObject({
      ok: true,
      command: words.slice(0, answer.command.split(' ').length).join(' '),
    });
    answered.add(answer.command);
    return answer.result;
  };

  beforeAll(async () => {
    project = await makeProject(folder);
  });

  it('init, identity, tool, explain and completion answer in JSON', async () => {
    const made = await talkAt(
      { cwd: scratch() },
      ['init', '--name', 'ada', '--json'],
      ['New passphrase for ada: ', PASSPHRASE],
      ['The same again: ', PASSPHRASE],
    );
    expect(answerOf(made)).toMatchObject({ ok: true, command: 'init', result: { name: 'ada' } });
    answered.add('init');

    await ok(['identity', 'add', 'scout', '--agent'], ASKED);
    await ok(['identity', 'list']);
    await ok(['identity', 'revoke', 'scout', '--reason', 'not used'], ASKED);
    await ok(
      ['credential', 'add', '--label', 'spare', '--reason', 'a spare one'],
      ASKED,
      ['New passphrase for alice: ', 'staple violet harbour nine'],
      ['The same again: ', 'staple violet harbour nine'],
    );
    await ok(['credential', 'list']);
    const { token_id } = await ok(['token', 'add', 'bot', '--reason', 'a service'], ASKED);
    await ok(['token', 'list']);
    await ok(['token', 'revoke', 'bot', token_id!, '--reason', 'not used'], ASKED);
    await ok(['credential', 'revoke', 'alice', 'spare', '--reason', 'not used'], ASKED);
    await ok(['explain', 'USAGE']);
    await ok(['tool', 'list']);
    await ok(['tool', 'lint']);
    await ok(['tool', 'lock']);
    await ok(['completion', 'bash']);
    const doctor = answerOf(await project.run('doctor', '--json'));
    expect(doctor.command).toBe('doctor');
    answered.add('doctor');
  });

  it('the journey of an intent answers in JSON', async () => {
    const propose = ['propose', '--tool', 'greet', '--arg', 'name=Ada', '--by', 'bot'];
    const { intent_id: id, hash } = (await ok(propose)) as { intent_id: string; hash: string };
    intent = { id, hash };
    await ok(['list']);
    expect(answerOf(await project.run('--json', 'list'))).toMatchObject({ ok: true, command: 'list' });
    await ok(['show', id]);
    await ok(['approve', id], ['approve it: ', typedCode(hash)], ASKED);
    expect(await ok(['grant', id], ASKED)).toMatchObject({
      intent_id: id,
      action: 'tool:greet',
      by: 'alice',
    });
    await ok(['check', id, hash]);
    await ok(['run', id, hash, '--dry-run']);
    expect(await ok(['run', id, hash], YES)).toMatchObject({ result: 'success', stdout: 'Hello, Ada!\n' });
    const opened = await project.propose('open');
    await project.ready(opened);
    await ok(['run', opened.id, opened.hash], YES);
    const undo = (await ok(['undo', opened.id, '--by', 'bot'])) as { intent_id: string; receipt: string };
    expect(undo).toMatchObject({ undoes: opened.id, tool: 'greet' });
    await ok(['withdraw', undo.intent_id, '--receipt', undo.receipt, '--reason', 'no']);
    await ok(['status']);
    expect(await ok(['runs', '--intent', id])).toMatchObject({ runs: [{ intent_id: id }], next: null });
    expect(await ok(['capabilities', '--intent', id])).toMatchObject({ capabilities: [{ by: 'alice' }] });
  });

  it('what a human says after the first yes answers in JSON', async () => {
    const other = await project.propose('fail');
    await ok(['reject', other.id, '--reason', 'no'], ASKED);
    const mine = await project.inside((keyturn) =>
      keyturn.intents.propose({
        issuer: 'alice',
        declared_goal: 'For a test.',
        effect: { kind: 'tool', tool: 'fail', arguments: {} },
      }),
    );
    await ok(['withdraw', mine.intent_id, '--reason', 'no'], ASKED);
    const third = await project.propose('fail');
    expect(await ok(['review'], ['q to stop: ', typedCode(third.hash)], ASKED)).toMatchObject({
      approved: [{ by: 'alice' }],
    });
    await project.grant(third);
    const failed = answerOf(await project.talk(['run', third.id, third.hash, '--json'], YES));
    expect(failed).toMatchObject({
      ok: false,
      command: 'run',
      code: 'TOOL_EXIT_NONZERO',
      result: { result: 'failure', exit_code: 1, tool: 'fail' },
    });
    await ok(['retry', third.id, '--reason', 'again'], ASKED);

    const hurry = await project.propose('hurry');
    await project.ready(hurry);
    const killed = answerOf(
      await project.talk(['run', hurry.id, hurry.hash, '--json'], YES),
    ) as never as Killed;
    expect(killed).toMatchObject({ ok: false, code: 'TOOL_TIMED_OUT', result: { result: 'partial' } });
    const { execution_id } = killed.result;
    await ok(['resolve', execution_id, '--outcome', 'happened', '--reason', 'it did'], ASKED);

    const erase = ['object', 'erase', intent.hash];
    expect(await ok([...erase, '--preview'])).toMatchObject({ holders: 1, kept: null });
    const typed: [string, string] = [' to erase it: ', intent.hash.slice(-8)];
    expect(await ok([...erase, '--reason', 'a secret'], typed, ASKED)).toMatchObject({ by: 'alice' });
    await ok(['show', intent.id]);
  });

  it('plans answer in JSON', async () => {
    const path = join(project.folder, 'plan.json');
    const create = {
      action_id: 'a1',
      action_type: 'FILE_CREATE',
      target: 'notes.txt',
      operation: { type: 'create', content: 'x' },
    };
    writeFileSync(path, JSON.stringify({ plan_id: 'p1', action_plan: [create] }));
    await ok(['plan', 'validate', path]);
    await ok(['plan', 'preview', path]);
    const { intent_id = '', hash = '' } = await ok(['propose', '--plan', path, '--by', 'bot']);
    await ok(['approve', intent_id], ['code to approve it: ', typedCode(hash)], ASKED);
    await ok(['grant', intent_id], ASKED);
    const { execution_id = '' } = await ok(['run', intent_id, hash], YES);
    await ok(['plan', 'report', execution_id]);
    await ok(['rollback', execution_id, '--preview']);
    await ok(['rollback', execution_id, '--reason', 'not wanted'], ASKED);
    await ok(['gc', '--older-than', '30d', '--preview']);
    await ok(['gc', '--keep-mb', '500', '--reason', 'the disk is full']);
  });

  it('what an agent may do with its key answers in JSON', async () => {
    const [key, wide, narrow] = ['helper.key', 'wide.jws', 'narrow.jws'].map((name) => join(folder, name));
    await ok(['identity', 'add', 'helper', '--agent', '--key-out', key!], ASKED);
    await ok(['identity', 'assign', 'helper', '--role', 'ops', '--reason', 'joined'], ASKED);
    const add = ['delegation', 'add', 'helper', '--action', 'tool:greet', '--ttl', '1h', '--approves'];
    const { delegation_id = '' } = await ok([...add, '--reason', 'harmless'], ASKED);
    await ok(['delegation', 'list']);
    const propose = ['propose', '--tool', 'greet', '--arg', 'name=Bo', '--by', 'helper', '--agent-key', key!];
    const { intent_id = '' } = await ok(propose);
    const delegate = ['--delegation', delegation_id, '--agent-key', key!];
    await ok(['submit', intent_id, ...delegate]);
    const bound = ['--holder', 'helper', '--out', wide!];
    const { capability_id = '' } = await ok(['grant', intent_id, ...delegate, ...bound]);
    const held = ['--capability', wide!, '--holder-key', key!];
    expect(await ok(['attenuate', ...held, '--ttl', '30s', '--out', narrow!])).toMatchObject({
      capability_id,
    });
    await ok(['revoke', capability_id, '--reason', 'granted by mistake'], ASKED);
    await ok(['delegation', 'revoke', delegation_id, '--reason', 'over'], ASKED);
  });

  it('freezes, policies and control keys answer in JSON', async () => {
    await ok(['freeze', '--reason', 'incident 12'], ASKED);
    await ok(['unfreeze', '--reason', 'it is over'], ASKED);
    const first = await ok(['control', 'rotate', '--reason', 'every quarter'], ASKED);
    await ok(['control', 'rotate', '--reason', 'every quarter'], ASKED);
    expect(await ok(['control', 'list'])).toMatchObject({ control_keys: [{}, {}, { replaced_at: null }] });
    expect(
      await ok(['control', 'revoke', first.public_key as never, '--reason', 'every quarter'], ASKED),
    ).toMatchObject({ keys: 1 });
    const { public_key } = generateKeyPair();
    await ok(['executor', 'add', public_key, '--name', 'second', '--reason', 'a machine'], ASKED);
    await ok(['executor', 'list']);
    await ok(['executor', 'revoke', public_key, '--reason', 'sold'], ASKED);
    await ok(['policy', 'check']);
    await ok(['policy', 'test']);
    const policies = (name: string) => join(folder, 'policies', name);
    rmSync(policies('tests.yaml'));
    appendFileSync(policies('keyturn.cedar'), GLASS);
    expect(await ok(['policy', 'diff'])).toMatchObject({ added: ['break-the-glass'] });
    const activate = ['policy', 'activate', '--reason', 'for emergencies'];
    expect(await ok(activate, ['Enter: next page', 'a'], ASKED)).toMatchObject({ by: 'alice' });
    const { id } = await project.propose('greet', { name: 'Eve' });
    await ok(['break-glass', id, '--reason', 'the site is down'], ASKED);
  });

  it('the short way, and the replay of what it decided, answer in JSON', async () => {
    const { id } = await project.propose('greet', { name: 'Cy' });
    const turned = await ok(['turn', id], ['Turn the key? (y/n) ', 'y'], ASKED);
    const { execution_id } = turned.run as never as { execution_id: string };
    await ok(['replay', execution_id]);
    const other = await project.propose('greet', { name: 'Dee' });
    await ok(['edit', other.id, '--goal', 'Say hello to Dee, once'], ASKED);
  });

  it('a further host, a head and a clock that a human accepts answer in JSON', async () => {
    const own = (name: string) => join(folder, '.keyturn', name);
    const { ledger_key } = JSON.parse(readFileSync(own('ledger.json'), 'utf8'));
    rmSync(own('ledger.json'));
    await ok(['store', 'join'], ['told you: ', ledger_key.slice('sha256:'.length).slice(0, 16)]);
    rmSync(own('head'));
    await ok(['ledger', 'accept-head', '--reason', 'the file was lost'], ASKED);
    const tomorrow = () => new Date(Date.now() + 86_400_000);
    const ahead = await Keyturn.open({ at: folder, ...steady(tomorrow) });
    await ahead.system.freeze({
      scope: 'tool',
      name: 'none',
      reason: 'a test',
      signer: await ahead.unlock('alice', PASSPHRASE),
    });
    await ahead.close();
    await ok(['clock', 'accept', '--reason', 'the clock was a day ahead'], ASKED);
  });

  it('the ledger answers in JSON, and now every command has answered', async () => {
    await ok(['ledger', 'show']);
    await ok(['ledger', 'head']);
    await ok(['ledger', 'prove', intent.id]);
    await ok(['ledger', 'export', '--out', join(folder, 'ledger.jsonl')]);
    await ok(['ledger', 'verify', '--deep']);
    await ok(['ledger', 'verify', '--file', join(folder, 'ledger.jsonl')]);
    const archive = join(folder, 'old.jsonl');
    await ok(['ledger', 'archive', '--older-than', '1s', '--out', archive, '--reason', 'old'], ASKED);
    expect(await ok(['ledger', 'verify', '--deep', '--file', archive])).toMatchObject({ from: 0 });
    await ok(['ledger', 'rebuild']);
    await ok(['store', 'verify']);
    await ok(['store', 'copy', '.keyturn/store.db', 'copy.db']);
    await ok(['backup', join(folder, 'backup.tar')]);
    await ok(['mcp', 'list']);
    // With a backup, a target or a server: test/project/backup.exhaustive.test.ts, test/serve/notify.exhaustive.test.ts, test/mcp and test/cli/mcp-import.
    for (const name of ['restore', 'notify test', 'mcp']) answered.add(name);
    for (const name of ['add', 'accept', 'diff', 'remove', 'import', 'config']) answered.add(`mcp ${name}`);
    answered.add('stop'); // while something runs: stop.test.ts
    await ok(['hook', 'status']);
    // Of a client, until an intent is over, and at a service elsewhere: test/hook and test/cli/remote.exhaustive.test.ts.
    for (const name of ['hook', 'hook install', 'hook remove', 'wait', 'login', 'logout']) answered.add(name);
    for (const name of ['serve', 'execute', 'link']) answered.add(name); // until they are stopped: serve.test.ts
    answered.add('watch'); // line by line, which watch.exhaustive.test.ts shows
    for (const name of ['store migrate', 'store repair']) answered.add(name); // on a server, in test/findings/s13-*
    // The commands of the agent core answer in agent-json.exhaustive.test.ts.
    const others = COMMANDS.filter((spec) => !AGENT.includes(spec)).map(({ name }) => name);
    expect(others.filter((name) => !answered.has(name))).toEqual([]);
  });

  it('a refusal has a code, a number, a message, an advice and facts, and exits 1', async () => {
    const refusals: [string, string[]][] = [
      ['USAGE', ['list', '--nonsense']],
      ['USAGE', ['nonsense']],
      ['ID_MALFORMED', ['show', 'x']],
      ['INTENT_NOT_FOUND', ['show', UNKNOWN_ID]],
      ['NO_TERMINAL', ['unfreeze', '--reason', 'over']],
      ['PROJECT_MISSING', ['list', '--project', '/']],
      ['USAGE', ['check', intent.id]],
    ];
    for (const [code, words] of refusals) {
      const finished = await project.run(...words, '--json');
      const answer = answerOf(finished) as never as { advice: string };
      expect(answer).toMatchObject({ ok: false, code });
      expect(answer.advice).not.toBe('');
      expect(finished.stderr).toBe('');
    }
  });

  it('a decision that is no carries its lines', async () => {
    const checked = answerOf(await project.run('check', UNKNOWN_ID, SOME_HASH, '--json'));
    expect(checked).toMatchObject({
      code: 'INTENT_NOT_FOUND',
      facts: { lines: ['[ERROR] Approval verification failed'] },
    });
    const asked = { intent_id: intent.id, hash: intent.hash };
    const spent = answerOf(await project.run('check', intent.id, intent.hash, '--json'));
    const output = await project.inside((keyturn) => keyturn.intents.check(asked));
    expect(output).toMatchObject({ eligible: false, code: 'ALREADY_EXECUTED' });
    expect(spent).toMatchObject({ ok: false, code: 'ALREADY_EXECUTED', result: output });
    expect(spent.result).toEqual(output);
    const again = answerOf(await project.run('run', intent.id, intent.hash, '--json'));
    expect(again).toMatchObject({ code: 'ALREADY_EXECUTED', facts: { executed_at: expect.any(String) } });
  });
});

const GLASS = `
@id("break-the-glass")
@version("1")
@scope("emergency")
@rationale("In an emergency.")
permit (principal is Keyturn::Human, action == Keyturn::Action::"break_glass", resource);
`;

interface Killed {
  readonly result: { readonly execution_id: string };
}
