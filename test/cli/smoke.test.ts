import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { COMMANDS } from '../../src/cli/commands.ts';
import { answerOf, fileFolder, type Intent, makeProject, type Project, UNKNOWN_ID } from './project.ts';

/**
 * Every command once, as its own process, in the quick run. One that reads answers; one that needs a human's key says that it needs a
 * terminal, after it has read its words and the project; one about something that does not exist says so. The other files of this
 * folder show what each command does.
 */

const folder = fileFolder();
let project: Project;
let intent: Intent;

beforeAll(async () => {
  project = await makeProject(folder);
  intent = await project.propose('greet', { name: 'Ada' });
  writeFileSync(join(folder, 'plan.json'), '{}');
});

/** What each command is asked, and the code of its answer. `ID` and `HASH` are those of an intent that waits, `NONE` is no id. */
const ASKED: Readonly<Record<string, readonly [code: string, words: string]>> = {
  init: ['PROJECT_EXISTS', '--name ada'],
  'identity add': ['NO_TERMINAL', 'scout --agent'],
  'identity list': ['OK', ''],
  'identity assign': ['NO_TERMINAL', 'alice --role owner --reason test'],
  'identity revoke': ['NO_TERMINAL', 'bot --reason test'],
  'credential add': ['NO_TERMINAL', '--label spare --reason test'],
  'credential list': ['OK', ''],
  'credential revoke': ['CREDENTIAL_UNKNOWN', 'alice spare --reason test'],
  'delegation add': ['KEY_FILE_INVALID', 'bot --action tool:greet --ttl 1h --reason test'],
  'delegation list': ['OK', ''],
  'delegation revoke': ['DELEGATION_UNKNOWN', 'NONE --reason test'],
  doctor: ['OK', ''],
  'clock accept': ['USAGE', '--reason test'],
  explain: ['OK', 'USAGE'],
  propose: ['OK', '--tool fail --by bot'],
  list: ['OK', ''],
  show: ['OK', 'ID'],
  wait: ['INTENT_NOT_FOUND', 'NONE'],
  hook: ['JSON_MALFORMED', '--client codex --as bot'],
  'hook install': ['PRINCIPAL_UNKNOWN', 'codex --as nobody'],
  'hook status': ['OK', ''],
  'hook remove': ['OK', 'codex'],
  review: ['NO_TERMINAL', ''],
  approve: ['NO_TERMINAL', 'ID'],
  reject: ['NO_TERMINAL', 'ID --reason test'],
  undo: ['UNDO_NOT_DUE', 'ID --by bot'],
  withdraw: ['RECEIPT_INVALID', 'ID --reason test'],
  submit: ['KEY_FILE_INVALID', 'ID --delegation NONE --agent-key missing'],
  status: ['OK', ''],
  grant: ['APPROVAL_MISSING', 'ID'],
  attenuate: ['USAGE', '--capability missing --holder-key missing --out narrow.json'],
  revoke: ['CAPABILITY_UNKNOWN', 'NONE --reason test'],
  freeze: ['NO_TERMINAL', '--reason test'],
  unfreeze: ['NOT_FROZEN', '--reason test'],
  'break-glass': ['NO_TERMINAL', 'ID --reason test'],
  'policy check': ['OK', ''],
  'policy test': ['OK', ''],
  'policy diff': ['OK', ''],
  'policy activate': ['OK', '--reason test'],
  'control rotate': ['NO_TERMINAL', '--reason test'],
  'control list': ['OK', ''],
  'control revoke': ['CONTROL_KEY_UNKNOWN', 'missing --reason test'],
  'executor add': ['KEY_ENROLLED_TWICE', '--reason test'],
  'executor list': ['OK', ''],
  'executor revoke': ['EXECUTOR_UNKNOWN', 'missing --reason test'],
  edit: ['NO_TERMINAL', 'ID --goal other'],
  runs: ['OK', ''],
  capabilities: ['OK', ''],
  stop: ['STOP_NOT_DUE', '--reason test'],
  serve: ['USAGE', '--port never'],
  execute: ['USAGE', '--parallel never'],
  login: [
    'SERVICE_UNREACHABLE',
    '--as alice --key .keyturn/keys/alice.json --service http://localhost:59999',
  ],
  logout: ['LOGIN_MISSING', '--service http://localhost:59999'],
  'token add': ['PRINCIPAL_UNKNOWN', 'missing --reason test'],
  'token list': ['OK', ''],
  'token revoke': ['ID_MALFORMED', 'missing none --reason test'],
  check: ['APPROVAL_MISSING', 'ID HASH'],
  run: ['APPROVAL_MISSING', 'ID HASH'],
  turn: ['NO_TERMINAL', 'ID'],
  retry: ['RETRY_NOT_DUE', 'ID --reason test'],
  resolve: ['EXECUTION_NOT_FOUND', 'NONE --outcome happened --reason test'],
  'plan validate': ['SHAPE_INVALID', 'plan.json'],
  'plan preview': ['SHAPE_INVALID', 'plan.json'],
  'plan report': ['EXECUTION_NOT_FOUND', 'NONE'],
  rollback: ['EXECUTION_NOT_FOUND', '--last --reason test'],
  gc: ['OK', '--keep-mb 0 --preview'],
  'object erase': ['OK', 'HASH --preview'],
  'tool list': ['OK', ''],
  'tool lint': ['OK', ''],
  'tool lock': ['OK', ''],
  'agent ask': ['CLARIFICATION_NEEDED', 'hello'],
  'agent answer': ['AGENT_TRANSITION_ILLEGAL', 'missing hello'],
  'agent confirm': ['AGENT_TRANSITION_ILLEGAL', 'missing yes --plan NONE'],
  'agent resume': ['AGENT_TRANSITION_ILLEGAL', 'missing'],
  'agent undo': ['AGENT_TRANSITION_ILLEGAL', 'missing'],
  'agent status': ['AGENT_TRANSITION_ILLEGAL', 'missing'],
  'agent list': ['OK', ''],
  'agent slo': ['SLO_NOT_MEASURED', ''],
  'agent waive': ['USAGE', '--figure none --ttl 1d --reason test'],
  'agent replay': ['AGENT_TRANSITION_ILLEGAL', 'missing'],
  'simulation new': ['TOOL_UNKNOWN', 'missing'],
  'simulation try': ['OK', 'words'],
  'simulation check': ['SIMULATION_NOT_REGISTERED', 'missing'],
  'simulation register': ['SIMULATION_NOT_REGISTERED', 'missing --reason test'],
  'simulation activate': ['SIMULATION_NOT_REGISTERED', 'missing --reason test'],
  'simulation deprecate': ['SIMULATION_NOT_REGISTERED', 'missing --reason test'],
  'simulation disable': ['SIMULATION_NOT_REGISTERED', 'missing --reason test'],
  'simulation show': ['SIMULATION_NOT_REGISTERED', 'missing'],
  'simulation list': ['OK', ''],
  'intake list': ['OK', ''],
  'ledger show': ['OK', ''],
  'ledger verify': ['OK', ''],
  'ledger head': ['OK', ''],
  'ledger accept-head': ['USAGE', '--reason test'],
  'ledger archive': ['SEGMENT_EMPTY', '--older-than 1d --out old.jsonl --reason test'],
  'ledger prove': ['OK', 'ID'],
  'ledger export': ['OK', '--out ledger.jsonl'],
  'ledger rebuild': ['OK', ''],
  replay: ['EXECUTION_NOT_FOUND', 'NONE'],
  completion: ['OK', 'bash'],
  'store join': ['NO_TERMINAL', ''],
  'store copy': ['OK', '.keyturn/store.db copy.db'],
  'store migrate': ['SHAPE_INVALID', 'nowhere'],
  'store repair': ['SHAPE_INVALID', 'nowhere'],
  'store verify': ['OK', ''],
  watch: ['USAGE', '--since never'],
  'notify test': ['NOTIFY_TARGET_UNKNOWN', ''],
  mcp: ['USAGE', '--never'],
  'mcp add': ['USAGE', 'files'],
  'mcp accept': ['MCP_SERVER_UNKNOWN', 'missing --reason test'],
  'mcp diff': ['MCP_SERVER_UNKNOWN', 'missing'],
  'mcp list': ['OK', ''],
  'mcp remove': ['MCP_SERVER_UNKNOWN', 'missing --reason test'],
  'mcp import': ['MCP_CONFIG_MALFORMED', 'missing.json'],
  'mcp config': ['USAGE', ''],
  backup: ['OK', 'backup.tar'],
  restore: ['BACKUP_DAMAGED', 'missing'],
};

/** The lane has no project: each of its commands with an empty queue. */
const LANE: Readonly<Record<string, string>> = {
  'lane queue': '--queue lane words',
  'lane review': '--queue lane',
  'lane verify': '--queue lane NONE HASH',
  'lane check': '--queue lane NONE HASH',
  'lane run': '--queue lane --registry tools.yaml NONE HASH',
};

const named = (word: string): string =>
  word === 'ID' ? intent.id : word === 'HASH' ? intent.hash : word === 'NONE' ? UNKNOWN_ID : word;

describe.concurrent('a command', () => {
  it('is asked here once at least, each one', () => {
    expect(COMMANDS.map(({ name }) => name).filter((name) => !(name in ASKED))).toEqual([]);
  });

  it.each(Object.entries(ASKED))('%s answers', async (name, [code, text]) => {
    const finished = await project.run(...`${name} ${text}`.trim().split(' ').map(named), '--json');
    const answer = answerOf(finished) as never as { ok: boolean; code?: string; command: string };
    expect({ code: answer.ok ? 'OK' : answer.code, command: answer.command }).toEqual({
      code,
      command: name,
    });
  });

  it.each(Object.entries(LANE))('%s answers without a project', async (name, text) => {
    mkdirSync(join(folder, 'lane'), { recursive: true });
    const finished = await project.run(...`${name} ${text}`.split(' ').map(named));
    expect([name, finished.code, finished.stdout + finished.stderr]).toEqual([
      name,
      name === 'lane queue' ? 0 : 1,
      expect.stringMatching(/\[(OK|ERROR)\]/),
    ]);
  });
});
