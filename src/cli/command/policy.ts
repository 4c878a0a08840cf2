import { counted } from '../../canonical/counted.ts';
import { visible } from '../../canonical/visible.ts';
import type { PolicyProblem, Result as Verb } from '../../keyturn.ts';
import { limits } from '../../limits.ts';
import { Refusal, refuse } from '../../refusal.ts';
import type { Answer, Call } from '../answer.ts';
import { drawShown } from '../draw.ts';
import { type Drawing, folded } from '../fold.ts';
import { actAs, whoActs } from '../human.ts';
import { type Paint, painter, stdoutPainter } from '../paint.ts';
import { type Opened, reading, writing } from '../project.ts';
import { stdoutLook } from '../screen.ts';
import { countOf } from './list.ts';

type Tested = Verb<'policies.test'>['tests'][number];

/** Everything that is wrong with the files in policies/, and everything that is odd about them. */
export function check(call: Call): Promise<Answer> {
  return reading(call, async (keyturn) => {
    const result = await keyturn.policies.check();
    const { problems } = result;
    const lines = problems.map((problem) => problemLine(problem, stdoutPainter()));
    const errors = problems.filter(({ severity }) => severity === 'error');
    if (errors.length > 0) return { result, lines, refusal: unusable(errors) };
    const warned = problems.length === 0 ? '' : `, with ${counted(problems.length, 'warning')}`;
    return { result, lines: [...lines, `[OK] The policies can be used${warned}`] };
  });
}

function problemLine({ file, line, policy, message, severity }: PolicyProblem, paint: Paint): string {
  const place = file === 'policies' ? 'policies' : `policies/${file}:${line}`;
  const about = policy === null ? '' : `the policy "${policy}" `;
  const word = severity === 'error' ? paint('red', 'error') : paint('yellow', 'warning');
  return `${visible(place)}: ${word}: ${visible(`${about}${message}`)}`;
}

function unusable([first, ...others]: readonly PolicyProblem[]): Refusal {
  const { file, line, message } = first!;
  const more = others.length > 0 ? ` And ${others.length} more.` : '';
  return new Refusal('POLICY_INVALID', `policies/${file}, line ${line}: ${message}.${more}`);
}

/** Asks every question of policies/tests.yaml. */
export function test(call: Call): Promise<Answer> {
  return reading(call, async (keyturn) => {
    const result = await keyturn.policies.test();
    const found = result.tests;
    const lines = found.map((one) => testLine(one, stdoutPainter()));
    const failed = found.filter(({ passed }) => !passed);
    if (failed.length > 0) return { result, lines, refusal: failure(failed) };
    const line =
      found.length === 0 ? 'There are no tests in policies/tests.yaml' : `All ${found.length} tests pass`;
    return { result, lines: [...lines, `[OK] ${line}`] };
  });
}

function testLine({ name, expected, got, passed }: Tested, paint: Paint): string {
  if (passed) return `${paint('green', 'ok  ')} ${visible(name)}`;
  const { allowed, by } = expected;
  const wanted = `${allowed ? 'allow' : 'deny'}${by === null ? '' : ` by "${by}"`}`;
  return `${paint('alarm', 'BAD ')} ${visible(`${name}: expected ${wanted}, got: ${got.words}`)}`;
}

function failure(failed: readonly Tested[]): Refusal {
  const { name, expected, got } = failed[0]!;
  const more = failed.length > 1 ? ` And ${failed.length - 1} more.` : '';
  return new Refusal(
    'POLICY_TEST_FAILED',
    `"${name}" expects ${expected.allowed ? 'allow' : 'deny'}. ${got.words}${more}`,
  );
}

/** What would change: every text, and which recent decisions. */
export function diff(call: Call): Promise<Answer> {
  const recent = countOf(call.options.recent, limits.asked_again, '--recent');
  return reading(call, async (keyturn) => {
    const result = await keyturn.policies.diff({ recent });
    return { result, lines: diffLines(result, stdoutLook(new Date())) };
  });
}

function diffLines(found: Verb<'policies.diff'>, drawing: Drawing): string[] {
  const { active, files, shown, asked, decisions } = found;
  if (active === files) return ['[OK] The files in policies/ are the active policies'];
  return [
    ...drawShown(shown, drawing),
    ...decisions.flatMap(({ subject, at, action, principal, before, after }) =>
      [
        `${at}  ${visible(subject)}: ${action} by ${visible(principal)}`,
        `  active policies: ${visible(before.words)}`,
        `  policies/:       ${visible(after.words)}`,
      ].flatMap((line) => folded(line, drawing.columns)),
    ),
    decisionsLine(decisions.length, asked),
  ];
}

function decisionsLine(changed: number, asked: number): string {
  if (asked === 0) return '[OK] No recent decision can be compared';
  if (changed === 0) return `[OK] None of the last ${asked} decisions would change`;
  return `[OK] ${changed} of the last ${asked} decisions would change`;
}

/** Makes the files the rules. What would change is on the screen, and the table must hold, before the human signs. */
export function activate(call: Call): Promise<Answer> {
  const reason = call.options.reason!;
  return writing(call, async (keyturn) => {
    const errors = (await keyturn.policies.check()).problems.filter(({ severity }) => severity === 'error');
    if (errors.length > 0) throw unusable(errors);
    const found = await keyturn.policies.diff();
    if (found.active === found.files) return { result: found, lines: [ACTIVE_ALREADY] };
    await requireTable(keyturn);
    const name = await whoActs(keyturn, call.options.as);
    const result = await actAs(
      keyturn,
      name,
      // A process that edits the files while the passphrase is typed would have others activated than were shown.
      (signer) =>
        keyturn.policies.activate({ reason, signer, snapshot: found.files, replaces: found.active }),
      (columns) => diffLines(found, { paint: painter(true), columns }),
    );
    const { by, policies, snapshot } = result;
    return { result, lines: [`[OK] ${by} activated ${policies} policies`, `Snapshot: ${snapshot}`] };
  });
}

const ACTIVE_ALREADY = '[OK] The files in policies/ are the active policies. Nothing was done';

async function requireTable(keyturn: Opened): Promise<void> {
  const failed = (await keyturn.policies.test()).tests.filter(({ passed }) => !passed);
  if (failed.length > 0) {
    const { code, message } = failure(failed);
    refuse(code, message);
  }
}
