import {
  ELIGIBLE_LINE,
  freezeWords,
  frozenFor,
  type IntentState,
  type Keyturn,
  type Preview,
  type Review,
  type Signer,
} from '../../keyturn.ts';
import { type ReasonCode, type Refusal, refuse } from '../../refusal.ts';
import { refusedLines } from '../adapter.ts';
import type { Answer, Call } from '../answer.ts';
import { GLASS_LINE } from '../capability-lines.ts';
import { type Field, fieldLines } from '../fold.ts';
import { unlock, whoActs } from '../human.ts';
import { requireId } from '../operand.ts';
import { painter } from '../paint.ts';
import { writing } from '../project.ts';
import type { Result } from '../schema.ts';
import { atTerminal, type Terminal } from '../terminal.ts';
import { approvedLines, approveWith, missingOf, showReview } from './approve.ts';
import { grantedLines, grantTo } from './grant.ts';
import { interruptible, type Progress, progressOf, reported, reportOf, whatIsKnown } from './run.ts';

/**
 * The short way for a person whom the policies allow all of it: one look, one y, one passphrase. What follows are the same
 * steps that the long way has, each recorded by itself. Until the y nothing is recorded: it was only a look.
 */
export function turn(call: Call): Promise<Answer> {
  const intent_id = requireId(call);
  return writing(call, async (keyturn) => {
    const name = await whoActs(keyturn, call.options.as);
    const seen = await keyturn.review(intent_id);
    await requireTurnable(keyturn, seen.state);
    const signer = await atTerminal(async (terminal) => {
      await showTurn(keyturn, terminal, seen, name);
      if ((await terminal.ask('Turn the key? (y/n) ')) !== 'y') refuse('CONFIRMATION_DECLINED');
      return unlock(keyturn, terminal, name);
    });
    return walk({ keyturn, seen, signer, call, ...START });
  });
}

/** What only has to be approved or granted can be turned. Anything else is said before anybody types. */
async function requireTurnable(keyturn: Keyturn, state: IntentState): Promise<void> {
  const verdict = await keyturn.check(state.intent_id, state.hash);
  if (!verdict.eligible && !TURNABLE.has(verdict.code)) {
    const { code, words, executed_at } = verdict;
    refuse(code, words, executed_at === null ? {} : { executed_at });
  }
  if (Date.parse(state.expires_at) <= Date.now()) refuse('INTENT_EXPIRED');
  const { freezes } = await keyturn.system();
  const at = new Date().toISOString();
  // The run itself looks at whose keys still hold; here only what certainly stops it is said early.
  const freeze = frozenFor(state, { freezes, tenant: keyturn.config.tenant, at, isLiveKey: () => true });
  if (freeze) refuse('FROZEN', freezeWords(freeze));
}

const TURNABLE: ReadonlySet<ReasonCode> = new Set<ReasonCode>([
  'APPROVAL_MISSING',
  'APPROVAL_EXPIRED',
  'APPROVER_REVOKED',
  'CAPABILITY_MISSING',
  'CAPABILITY_EXPIRED',
  'CAPABILITY_REVOKED',
]);

async function showTurn(keyturn: Keyturn, terminal: Terminal, seen: Review, name: string): Promise<void> {
  const { state } = seen;
  const { policy } = await keyturn.system();
  const approved = state.approvals.map(({ by }) => by);
  const found: Field[] = [
    [
      'Approved',
      `${approved.length === 0 ? 'by nobody yet' : `by ${approved.join(', ')}`}, of ${state.approvals_needed} needed`,
    ],
    ['Policies', `${policy?.slice(0, 12) ?? 'none'}: asked again at each step, and each can say no`],
    ['Turn', [['bold', `${hasApproved(state, name) ? '' : 'approve, '}grant for one run, check, run`]]],
  ];
  const paint = painter(true);
  const loud = new Set(state.glass.map(({ by }) => by)).size > 1 ? [paint('alarm', GLASS_LINE)] : [];
  const lines = fieldLines(found, { paint, columns: terminal.columns });
  await showReview(terminal, seen, ['', ...loud, ...lines]);
}

function hasApproved({ approvals }: IntentState, name: string): boolean {
  return approvals.some(({ by, expires_at }) => by === name && Date.parse(expires_at) > Date.now());
}

type Turned = Result<'turn'>;
type StepName = Turned['steps'][number]['step'];

/** How far the key was turned. */
interface Road {
  readonly keyturn: Keyturn;
  readonly seen: Review;
  readonly signer: Signer;
  readonly call: Call;
  readonly steps: Turned['steps'];
  readonly lines: readonly string[];
  readonly approval: Turned['approval'];
  readonly capability: Turned['capability'];
  readonly token: string | null;
}

const START: Pick<Road, 'steps' | 'lines' | 'approval' | 'capability' | 'token'> = {
  steps: [],
  lines: [],
  approval: null,
  capability: null,
  token: null,
};

const STEPS: readonly (readonly [StepName, (road: Road) => Promise<Road>])[] = [
  ['approve', approveStep],
  ['grant', grantStep],
  ['check', checkStep],
];

/** Each step is one of the long way. The first refusal ends it, and what was done before it stands. */
async function walk(start: Road): Promise<Answer> {
  let road = start;
  for (const [step, act] of STEPS) {
    try {
      road = await act(road);
    } catch (error) {
      const refusal = whatIsKnown(error, { opened: true, confirmed: false });
      return stopped(road, step, refusal, [`[ERROR] Stopped at ${step}`]);
    }
  }
  return runStep(road);
}

async function approveStep(road: Road): Promise<Road> {
  const { keyturn, seen, signer } = road;
  const { intent_id, hash } = seen.state;
  if (hasApproved(await keyturn.intent(intent_id), signer.name))
    return passed(road, 'approve', 'skipped', [`[OK] ${signer.name} has approved ${intent_id} before`]);
  const approval = await approveWith(keyturn, { intent_id, hash, signer });
  return { ...passed(road, 'approve', 'done', approvedLines(approval).slice(0, 1)), approval };
}

async function grantStep(road: Road): Promise<Road> {
  const { keyturn, seen, signer } = road;
  const { intent_id, hash } = seen.state;
  const missing = missingOf(await keyturn.intent(intent_id));
  if (missing > 0) refuse('APPROVAL_MISSING', `${missing} more human(s) must approve it.`);
  const { result: capability, token } = await grantTo(keyturn, { intent_id, hash, signer });
  const lines = grantedLines(capability).filter((line) => !line.startsWith('Next:'));
  return { ...passed(road, 'grant', 'done', lines), capability, token };
}

async function checkStep(road: Road): Promise<Road> {
  const { intent_id, hash } = road.seen.state;
  const verdict = await road.keyturn.check(intent_id, hash);
  if (!verdict.eligible) refuse(verdict.code, verdict.words);
  return passed(road, 'check', 'done', [ELIGIBLE_LINE]);
}

/** No second question: the y was to this effect, and the capability in hand is for it alone. */
async function runStep(road: Road): Promise<Answer> {
  const { keyturn, seen, call, token } = road;
  const { intent_id, hash, effect_digest } = seen.state;
  const progress: Progress = { opened: true, confirmed: false };
  const confirm = async ({ state }: Preview) => {
    if (state.effect_digest !== effect_digest) refuse('EFFECT_CHANGED');
    progress.confirmed = true;
    return true;
  };
  try {
    const report = await interruptible((abort) =>
      keyturn.run({
        intent_id,
        hash,
        capability: { text: token! },
        confirm,
        abort,
        ...progressOf(call),
      }),
    );
    const { lines, refusal } = reported(report);
    const ended = passed(road, 'run', 'done', lines);
    const result: Turned = { ...turnedOf(ended), run: reportOf(report) };
    return { result, lines: ended.lines, ...(refusal && { refusal }) };
  } catch (error) {
    const refusal = whatIsKnown(error, progress);
    return stopped(road, 'run', refusal, refusedLines(refusal, true));
  }
}

function passed(road: Road, step: StepName, outcome: 'done' | 'skipped', lines: readonly string[]): Road {
  return { ...road, steps: [...road.steps, { step, outcome }], lines: [...road.lines, ...lines] };
}

function turnedOf({ seen, signer, steps, approval, capability }: Road): Turned {
  const { intent_id, hash } = seen.state;
  return { intent_id, hash, by: signer.name, steps, approval, capability, run: null };
}

/** At which step it ended, and what is now as it was not before. */
function stopped(road: Road, step: StepName, refusal: Refusal, why: readonly string[]): Answer {
  const steps: Turned['steps'] = [...road.steps, { step, outcome: 'refused' }];
  // Where nobody knows whether it ran, nobody knows what stands.
  const stands = refusal.code === 'RECORDING_FAILED' ? [] : standingLines(road);
  const lines = [...road.lines, ...why, ...stands];
  return { result: turnedOf({ ...road, steps }), lines, refusal };
}

function standingLines({ approval, capability }: Road): string[] {
  const found = [
    ...(approval ? [`The approval of ${approval.by} stands until ${approval.expires_at}`] : []),
    ...(capability
      ? [
          `The capability ${capability.capability_id} stands until ${capability.expires_at}; keyturn revoke takes it back`,
        ]
      : []),
  ];
  return found.length === 0 ? ['Nothing was changed.'] : found;
}
