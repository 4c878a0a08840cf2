import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { counted } from '../../canonical/counted.ts';
import { sha256 } from '../../canonical/digest.ts';
import { visible } from '../../canonical/visible.ts';
import {
  freezeWords,
  inspectMachine,
  isUnserved,
  type Result as Keyed,
  Keyturn,
  loneCredentialWords,
  requireSandbox,
  userFor,
} from '../../keyturn.ts';
import { type ReasonCode, Refusal, refuse } from '../../refusal.ts';
import { consoleAssets } from '../../serve/assets.ts';
import type { Answer, Call } from '../answer.ts';
import { type Paint, stdoutPainter } from '../paint.ts';
import { folderOf } from '../project.ts';
import type { Result } from '../schema.ts';
import { refusalFrom } from '../tell.ts';
import { hasTerminal } from '../terminal.ts';

type Check = Result<'doctor'>['checks'][number];

/** Looks at everything that a run will need, and changes nothing. */
export async function doctor(call: Call): Promise<Answer> {
  const checks = [...machineChecks(), ...consoleChecks(), ...(await projectChecks(folderOf(call)))];
  const result: Result<'doctor'> = { checks };
  const told = checks.filter(({ name }) => !name.startsWith(CONSOLE_FILE));
  const lines = told.map((check) => checkLine(check, stdoutPainter()));
  const bad = checks.find(({ ok }) => !ok);
  if (!bad) return { result, lines };
  return { result, lines, refusal: new Refusal(bad.code as ReasonCode, `${bad.name}: ${bad.found}`) };
}

function checkLine({ name, ok, warns, found }: Check, paint: Paint): string {
  const fine = warns ? paint('yellow', 'warn') : paint('green', 'ok  ');
  return `${ok ? fine : paint('alarm', 'BAD ')} ${name}: ${visible(found)}`;
}

function good(name: string, found: string): Check {
  return { name, ok: true, warns: false, found, code: null };
}

/** Nothing is wrong yet, and a human should do something about it. */
function warning(name: string, found: string): Check {
  return { name, ok: true, warns: true, found, code: null };
}

function bad(name: string, found: string, code: ReasonCode): Check {
  return { name, ok: false, warns: false, found, code };
}

function machineChecks(): Check[] {
  const { bwrap, prlimit, flock } = inspectMachine();
  const linux = process.platform === 'linux';
  return [
    good('node', process.version),
    linux
      ? good('system', 'Linux')
      : bad('system', `${process.platform}: the promises about files are weaker here`, 'SANDBOX_UNAVAILABLE'),
    bwrap ? good('bubblewrap', bwrap) : bad('bubblewrap', 'bwrap is not installed', 'SANDBOX_UNAVAILABLE'),
    ...(bwrap && prlimit ? [sandboxCheck()] : []),
    prlimit ? good('prlimit', prlimit) : bad('prlimit', 'prlimit is not installed', 'SANDBOX_UNAVAILABLE'),
    flock
      ? good('flock', flock)
      : bad('flock', 'flock is not installed; the lane needs it', 'LOCK_UNAVAILABLE'),
    // A machine without a terminal can still check, list and prove.
    good(
      'terminal',
      hasTerminal() ? 'there is one' : 'none, so this process cannot ask for an approval or a run',
    ),
  ];
}

/** These are only in --json: so many would bury the other lines. */
const CONSOLE_FILE = 'console /';

/** Digests to be compared with those of the release, over all files and of each: a changed console can show one thing and have another signed. */
function consoleChecks(): Check[] {
  try {
    const assets = consoleAssets();
    if (assets.length === 0) return [good('console', 'none in this installation')];
    const all = sha256(assets.map((one) => `${one.sha256}  ${one.path}\n`).join(''));
    return [
      good('console', `${assets.length} files, sha256 over all ${all}`),
      ...assets.map((one) => good(`console ${one.path}`, one.sha256)),
    ];
  } catch (error) {
    const { code, message } = refusalFrom(error);
    return [bad('console', message, code)];
  }
}

/** As a tool that names no user would get it. The programs may be there and the kernel still refuse: then the message names the setting. */
export function requireAnySandbox(): void {
  requireSandbox({ network: false, read: [], write: [] }, null, inspectMachine(), userFor(null));
}

function sandboxCheck(): Check {
  try {
    requireAnySandbox();
    return good('sandbox', 'one can be made');
  } catch (error) {
    const { code, message } = refusalFrom(error);
    return bad('sandbox', message, code);
  }
}

async function projectChecks(at: string): Promise<Check[]> {
  let keyturn: Keyturn;
  try {
    keyturn = await Keyturn.open({ at, mode: 'read' });
  } catch (error) {
    const { code, message } = refusalFrom(error);
    return [bad('project', message, code)];
  }
  try {
    return [good('project', keyturn.layout.root), ...(await openProjectChecks(keyturn))];
  } finally {
    await keyturn.close();
  }
}

async function openProjectChecks(keyturn: Keyturn): Promise<Check[]> {
  const doubts = (await keyturn.runs.inDoubt()).runs.filter(({ status_word }) => status_word === 'IN DOUBT');
  return [
    await attempt('ledger', async () => `${(await keyturn.ledger.head()).size} entries, and its key is here`),
    await attempt('state', () => state(keyturn)),
    await attempt('clock', () => clock(keyturn)),
    await registryCheck(keyturn),
    await attempt('policies', () => policies(keyturn)),
    keysCheck(keyturn),
    await attempt('credentials', () => credentials(keyturn)),
    await attempt('executors', () => executors(keyturn)),
    await attempt('freezes', () => freezes(keyturn)),
    await attempt('temporary files', () => temporaryFiles(keyturn)),
    doubts.length === 0
      ? good('runs', 'none in doubt')
      : bad('runs', `${doubts.length} in doubt: see \`keyturn status\``, 'RUN_IN_DOUBT'),
  ];
}

async function attempt(name: string, act: () => Promise<string | Check>): Promise<Check> {
  try {
    const found = await act();
    return typeof found === 'string' ? good(name, found) : found;
  } catch (error) {
    const { code, message } = refusalFrom(error);
    return bad(name, message, code);
  }
}

/** Files that are not the active policies decide nothing, and who reads them believes something else. */
async function policies(keyturn: Keyturn): Promise<string> {
  const { active, words } = await keyturn.policies.files();
  if (words !== null) refuse('POLICY_FILES_DIFFER', words);
  return `active, snapshot ${active!.slice(0, 12)}`;
}

async function state(keyturn: Keyturn): Promise<string> {
  const { rows, differences } = await keyturn.ledger.rebuild({ write: false });
  return differences.length === 0 ? `${rows} rows, as the ledger says` : refuse('PROJECTION_DRIFT');
}

async function clock(keyturn: Keyturn): Promise<string> {
  return `fits the ledger, whose newest entry is of ${(await keyturn.system.checkClock()).newest}`;
}

async function temporaryFiles(keyturn: Keyturn): Promise<string> {
  const [first, ...more] = (await keyturn.system.leftovers()).files;
  if (first === undefined) return 'no run of a plan left any behind';
  return refuse('TEMPORARY_FILES_LEFT', `${first}${more.length === 0 ? '' : ` And ${more.length} more.`}`);
}

async function freezes(keyturn: Keyturn): Promise<string> {
  const [freeze] = (await keyturn.system.get()).freezes;
  return freeze ? refuse('FROZEN', freezeWords(freeze)) : 'nothing is frozen';
}

/** That none runs is no fault by itself: what is ordered here can be run by hand. */
async function executors(keyturn: Keyturn): Promise<string> {
  const waiting = (await keyturn.system.status()).approved.find(({ waits_for }) => isUnserved(waits_for));
  if (waiting)
    refuse(
      'EXECUTOR_ABSENT',
      `No executor called "${waiting.waits_for.executor}" is running, and ${waiting.intent_id} waits for one.`,
    );
  const enrolled = (await keyturn.system.get()).executors.filter(({ revoked_at }) => revoked_at === null);
  return enrolled.map(({ name, heard }) => `${name} ${heardWords(heard)}`).join(', ') || 'none is enrolled';
}

function heardWords(heard: Keyed<'system.get'>['executors'][number]['heard']): string {
  if (heard === null) return 'has never reported';
  return heard.is_running ? `running since ${heard.since}` : `last reported at ${heard.at}`;
}

/** One that is alone is no fault, and how every project begins: what would be lost with it is said. */
async function credentials(keyturn: Keyturn): Promise<string | Check> {
  const lone = loneCredentialWords((await keyturn.people.list()).principals);
  return lone === null ? 'more than one can sign' : warning('credentials', lone);
}

async function registryCheck(keyturn: Keyturn): Promise<Check> {
  const { faults } = await keyturn.tools.lint();
  const fault = faults.find(({ code }) => code !== 'COVERS_MISSING');
  if (fault) return bad('registry', `line ${fault.line}: ${fault.message}`, fault.code);
  const uncovered = faults.length > 0 ? `, ${faults.length} interpreted and without covers` : '';
  return good(
    'registry',
    `${counted((await keyturn.tools.list()).tools.length, 'tool')}, locked${uncovered}`,
  );
}

/** A key that others may read is a key that others may try passphrases on. */
function keysCheck(keyturn: Keyturn): Check {
  const files = readdirSync(keyturn.layout.keys);
  const open = files.filter((file) => (statSync(join(keyturn.layout.keys, file)).mode & 0o077) !== 0);
  if (open.length > 0) return bad('keys', `others may read ${open.join(', ')}`, 'KEY_FILE_INVALID');
  return good('keys', `${files.filter((file) => file.endsWith('.json')).length} of humans, private`);
}
