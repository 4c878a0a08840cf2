import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { COMMANDS } from '../../src/cli/commands.ts';
import { as } from '../../src/cli/spec.ts';
import {
  answerOf,
  fileFolder,
  type Intent,
  makeProject,
  type Project,
  SOME_HASH,
  UNKNOWN_ID,
} from './project.ts';

/**
 * What can be known is refused before a human is asked for anything. There is no terminal here, so a command that would have asked
 * refuses with NO_TERMINAL: any other code was given before the question.
 */

const folder = fileFolder();
let project: Project;
/** One that waits, and one that a human rejected. */
let waits: Intent;
let over: Intent;

beforeAll(async () => {
  project = await makeProject(folder);
  waits = await project.propose('greet', { name: 'Ada' });
  over = await project.propose('greet', { name: 'Bob' });
  await project.inside(async (keyturn) => {
    const { alice: signer } = project;
    await keyturn.intents.reject({ intent_id: over.id, hash: over.hash, reason: 'No.', signer });
    await keyturn.agents.addToken({ name: 'bot', digest: 'a'.repeat(64), reason: 'test', signer });
    await keyturn.people.enrol({ name: 'gone', principal: 'agent', public_key: null, signer });
    await keyturn.people.revoke({ name: 'gone', reason: 'test', signer });
    await keyturn.system.freeze({ scope: 'tool', name: 'fail', reason: 'test', signer });
  });
});

/** For each command that a human signs at a terminal: what cannot be done, and the code that says why. `LONG` is longer than a reason may be. */
const REFUSED: Readonly<Record<string, readonly (readonly [code: string, words: string])[]>> = {
  'identity add': [
    ['PRINCIPAL_EXISTS', 'bot --agent'],
    ['NAME_MALFORMED', 'No/Name --agent'],
  ],
  'identity assign': [
    ['PRINCIPAL_UNKNOWN', 'missing --role owner --reason test'],
    ['KEY_REVOKED', 'gone --role owner --reason test'],
    ['SHAPE_INVALID', 'bot --role owner --reason LONG'],
  ],
  'identity revoke': [
    ['PRINCIPAL_UNKNOWN', 'missing --reason test'],
    ['KEY_REVOKED', 'gone --reason test'],
    ['LAST_HUMAN', 'alice --reason test'],
  ],
  'credential add': [
    ['PRINCIPAL_UNKNOWN', 'missing --label spare --reason test'],
    ['NOT_HUMAN', 'bot --label spare --reason test'],
    ['SHAPE_INVALID', '--label spare --reason LONG'],
  ],
  'credential revoke': [['CREDENTIAL_UNKNOWN', 'alice spare --reason test']],
  'delegation add': [
    ['PRINCIPAL_UNKNOWN', 'missing --action tool:greet --ttl 1h --reason test'],
    ['CREDENTIAL_UNKNOWN', 'bot --action tool:greet --ttl 1h --reason test'],
  ],
  'delegation revoke': [['DELEGATION_UNKNOWN', 'NONE --reason test']],
  'clock accept': [['CLOCK_FITS', '--reason test']],
  propose: [
    ['TOOL_UNKNOWN', '--tool missing --by alice --sign'],
    ['ARGUMENT_INVALID', '--tool wait --arg seconds=99 --by alice --sign'],
  ],
  undo: [['UNDO_NOT_DUE', 'WAITS --by alice --sign']],
  approve: [['INTENT_REJECTED', 'OVER']],
  reject: [
    ['INTENT_NOT_FOUND', 'NONE --reason test'],
    ['INTENT_REJECTED', 'OVER --reason test'],
    ['SHAPE_INVALID', 'WAITS --reason LONG'],
  ],
  withdraw: [['RECEIPT_INVALID', 'WAITS --reason test']],
  grant: [['APPROVAL_MISSING', 'WAITS']],
  revoke: [['CAPABILITY_UNKNOWN', 'NONE --reason test']],
  freeze: [
    ['FROZEN_ALREADY', '--tool fail --reason test'],
    ['PRINCIPAL_UNKNOWN', '--agent missing --reason test'],
    ['SHAPE_INVALID', '--reason LONG'],
  ],
  unfreeze: [['NOT_FROZEN', '--reason test']],
  'break-glass': [['INTENT_NOT_FOUND', 'NONE --reason test']],
  'policy activate': [['OK', '--reason test']],
  'control rotate': [['SHAPE_INVALID', '--reason LONG']],
  'control revoke': [['CONTROL_KEY_UNKNOWN', 'missing --reason test']],
  'executor add': [
    ['USAGE', 'short --reason test'],
    ['SHAPE_INVALID', '--reason LONG'],
  ],
  'executor revoke': [['EXECUTOR_UNKNOWN', 'missing --reason test']],
  edit: [['ARGUMENT_UNKNOWN', 'WAITS --arg wrong=1']],
  stop: [['STOP_NOT_DUE', '--reason test']],
  'token add': [
    ['PRINCIPAL_UNKNOWN', 'missing --reason test'],
    ['TOKEN_INVALID', 'alice --reason test'],
    ['KEY_REVOKED', 'gone --reason test'],
  ],
  'token revoke': [
    ['PRINCIPAL_UNKNOWN', 'missing NONE --reason test'],
    ['CREDENTIAL_UNKNOWN', 'bot NONE --reason test'],
  ],
  turn: [['INTENT_REJECTED', 'OVER']],
  retry: [
    ['INTENT_NOT_FOUND', 'NONE --reason test'],
    ['RETRY_NOT_DUE', 'WAITS --reason test'],
  ],
  resolve: [['EXECUTION_NOT_FOUND', 'NONE --outcome happened --reason test']],
  rollback: [['EXECUTION_NOT_FOUND', '--last --reason test']],
  gc: [['USAGE', '--keep-mb 0']],
  'object erase': [['OBJECT_MISSING', 'DIGEST --reason test']],
  'agent waive': [['USAGE', '--figure none --ttl 1d --reason test']],
  'simulation register': [['SIMULATION_NOT_REGISTERED', 'missing --reason test']],
  'simulation activate': [['SIMULATION_NOT_REGISTERED', 'missing --reason test']],
  'simulation deprecate': [['SIMULATION_NOT_REGISTERED', 'missing --reason test']],
  'simulation disable': [['SIMULATION_NOT_REGISTERED', 'missing --reason test']],
  'ledger accept-head': [['USAGE', '--reason test']],
  'ledger archive': [
    ['SEGMENT_EMPTY', '--older-than 1d --out old.jsonl --reason test'],
    ['TIME_MALFORMED', '--older-than 0s --out old.jsonl --reason test'],
  ],
  'mcp accept': [['MCP_SERVER_UNKNOWN', 'missing --reason test']],
  'mcp add': [['USAGE', 'files']],
  'mcp remove': [['MCP_SERVER_UNKNOWN', 'missing --reason test']],
  'mcp config': [['PRINCIPAL_EXISTS', 'alice']],
};

/** Walks through what waits: each is asked about before the passphrase. */
const WALKS = ['review'];

const TAKES_HUMAN = (flags: string) => flags === as.flags || flags === '--sign';

const named = (word: string): string =>
  ({ WAITS: waits.id, OVER: over.id, DIGEST: SOME_HASH, NONE: UNKNOWN_ID, LONG: 'x'.repeat(100_000) })[
    word
  ] ?? word;

describe.concurrent('what can be known', () => {
  it('is shown here for each command that a human signs', () => {
    const signed = COMMANDS.filter(({ options = [] }) => options.some(({ flags }) => TAKES_HUMAN(flags)));
    expect(
      signed.map(({ name }) => name).filter((name) => !WALKS.includes(name) && !(name in REFUSED)),
    ).toEqual([]);
  });

  const rows = Object.entries(REFUSED).flatMap(([name, all]) =>
    all.map(([code, text]) => [`${name} ${text}`, code] as const),
  );
  it.each(rows)('%s is refused before a passphrase is asked for: %s', async (text, code) => {
    const finished = await project.run(...text.split(' ').map(named), '--json');
    const answer = answerOf(finished) as never as { ok: boolean; code?: string };
    expect(answer.ok ? 'OK' : answer.code).toBe(code);
  });
});

describe('a rehearsal', () => {
  it('writes no entry and keeps no key', async () => {
    const before = await project.size();
    const keys = readdirSync(join(folder, '.keyturn', 'keys'));
    for (const words of [
      'break-glass WAITS --reason test',
      'reject WAITS --reason test',
      'control rotate --reason test',
      'identity add carol --reason test',
      'token add bot --reason test',
    ])
      await project.run(...words.split(' ').map(named));
    expect(await project.size()).toBe(before);
    expect(readdirSync(join(folder, '.keyturn', 'keys'))).toEqual(keys);
  });
});
