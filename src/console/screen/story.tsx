import { useState } from 'preact/hooks';
import { codeOf } from '../../canonical/code.ts';
import { visible } from '../../canonical/visible.ts';
import type { Intent, Shown } from '../app.ts';
import { useApp, useTold } from '../app.ts';
import { reasoned } from '../gesture.ts';
import { useKeys } from '../keys.ts';
import { DeedOf } from '../part/deed.tsx';
import { Dock } from '../part/dock.tsx';
import { Icon, type IconName, Tag } from '../part/icon.tsx';
import { Page } from '../part/page.tsx';
import { SignedAct } from '../part/signed-act.tsx';
import { Dig, Fold, Printed, Target, Words } from '../part/text.tsx';
import { type Proven, proveHere } from '../proof.ts';
import { type Trouble, troubleOf } from '../trouble.ts';
import { capital, clockOf, dayOf, deedOf, type Effect, plural } from '../words.ts';

const ICONS: Readonly<Record<string, readonly [IconName, string]>> = {
  'approval.granted': ['key', 't-accent'],
  'order.given': ['key', 't-accent'],
  'approval.denied': ['no', 't-danger'],
  'intent.withdrawn': ['no', ''],
  'execution.finished': ['ok', 't-ok'],
  'execution.stopped': ['stop', 't-danger'],
  'rollback.finished': ['undo', 't-ok'],
};

function Story({ id }: { readonly id: string }) {
  const app = useApp();
  const told = useTold(
    () => app.api.intents.story({ intent_id: id, with_output: true }),
    [id],
    ({ subject }) => subject === id,
  );
  return (
    <Page title="Story" told={told} quiet>
      {({ intent, envelope, effect, shown, story, output, absent }) => {
        const deed = effect ? deedOf(effect as unknown as Effect) : null;
        const run = intent.runs.at(-1);
        const good = ['succeeded', 'undone', 'happened'].includes(intent.standing);
        return (
          <>
            <header class="ask">
              <h2 class="title big">
                <bdi>{intent.proposer}</bdi>:{' '}
                {deed ? (
                  <>
                    {deed.verb} {deed.target !== null && <Target text={deed.target} />}
                  </>
                ) : (
                  intent.tool
                )}
              </h2>
              <div class="who">
                <Tag tone={good ? 'ok' : intent.standing === 'waiting' ? 'plain' : 'warn'}>
                  {capital(intent.standing)}
                </Tag>
                <span>
                  {dayOf(intent.proposed_at)}, {clockOf(intent.proposed_at)}
                </span>
                {intent.standing === 'waiting' && <a href={`#/decide/${id}`}>Decide on it</a>}
              </div>
            </header>
            <div class="cols">
              <div>
                <Proof id={id} />
                <ol class="story">
                  {story.map(({ seq, at, kind, words, decision }) => {
                    const [icon, tone] = ICONS[kind] ?? ['dot', ''];
                    return (
                      <li>
                        <time dateTime={at} title={dayOf(at)}>
                          {clockOf(at)}
                        </time>
                        <span class={`i ${tone}`}>
                          <Icon name={icon} />
                        </span>
                        <div class="body">
                          <span class="seq">{seq.toLocaleString('en')}</span>
                          <b>{brief(words)}</b>
                          {decision && (
                            <p>
                              {decision.allowed ? 'Allowed' : 'Denied'} by{' '}
                              {decision.policies
                                .map(({ id, version }) => `${id}, version ${version}`)
                                .join('; ') || 'no policy'}
                              .
                            </p>
                          )}
                          {kind === 'intent.proposed' && envelope && (
                            <Words who={intent.proposer} text={envelope.declared_goal} />
                          )}
                        </div>
                      </li>
                    );
                  })}
                </ol>
                {output && 'stdout' in output && (output.stdout !== '' || output.stderr !== '') && (
                  <>
                    <Printed title="What it printed" text={output.stdout} note="verbatim" />
                    {output.stderr !== '' && (
                      <Printed title="Errors that it printed" text={output.stderr} note="verbatim" />
                    )}
                  </>
                )}
                {effect && shown && (
                  <Fold title="Exactly what was decided on" note={`code ${codeOf(intent.hash)}`}>
                    <DeedOf effect={effect as unknown as Effect} shown={shown as Shown} />
                  </Fold>
                )}
                {absent && <p class="dim">What it asked for is not stored any more.</p>}
              </div>
              <aside class="props" aria-label="Facts">
                <dl>
                  <div>
                    <dt>Asked by</dt>
                    <dd>
                      <bdi>{intent.proposer}</bdi>, {intent.proposer_verified ? 'proven' : 'by name only'}
                    </dd>
                  </div>
                  {intent.approvals.length > 0 && (
                    <div>
                      <dt>Approved</dt>
                      <dd>
                        {intent.approvals.map(({ by, assurance }) => (
                          <span>
                            <bdi>{by}</bdi>, {assurance.replaceAll('_', ' ')}{' '}
                          </span>
                        ))}
                      </dd>
                    </div>
                  )}
                  {run && (
                    <div>
                      <dt>Ran</dt>
                      <dd>
                        {plural(intent.runs.length, 'time')}, on <bdi>{run.executor.host}</bdi>
                        {run.finished_at &&
                          `, ${((Date.parse(run.finished_at) - Date.parse(run.claimed_at)) / 1000).toFixed(1)} s`}
                      </dd>
                    </div>
                  )}
                  {run?.exit_code !== null && run && (
                    <div>
                      <dt>Exit code</dt>
                      <dd>{run.exit_code}</dd>
                    </div>
                  )}
                  <div>
                    <dt>Code</dt>
                    <dd class="short">{codeOf(intent.hash)}</dd>
                  </div>
                  <div>
                    <dt>Intent</dt>
                    <dd>
                      <code>{id}</code>
                    </dd>
                  </div>
                  <div>
                    <dt>Hash</dt>
                    <dd>
                      <Dig digest={intent.hash} />
                    </dd>
                  </div>
                  <div>
                    <dt>Effect</dt>
                    <dd>
                      <Dig digest={intent.effect_digest} />
                    </dd>
                  </div>
                </dl>
              </aside>
            </div>
            <StoryDock intent={intent} />
          </>
        );
      }}
    </Page>
  );
}

/** Proven in this browser, or why not. */
function Proof({ id }: { readonly id: string }) {
  const app = useApp();
  const [proven, setProven] = useState<Proven | null>(null);
  const [trouble, setTrouble] = useState<Trouble | null>(null);
  const [busy, setBusy] = useState(false);
  const prove = () => {
    setBusy(true);
    proveHere(app, id).then(
      (found) => {
        setProven(found);
        setTrouble(null);
        setBusy(false);
      },
      (error: unknown) => {
        setTrouble(troubleOf(error));
        setBusy(false);
      },
    );
  };
  const save = () => {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([proven!.bundle], { type: 'application/json' }));
    link.download = `${id}.proof.json`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  };
  if (trouble)
    return (
      <div class="banner danger" role="status">
        <Icon name="tri" />
        <p>
          <b>This story is not proven.</b> {trouble.words} <code>{trouble.code}</code>
        </p>
      </div>
    );
  if (!proven)
    return (
      <div class="proof quiet">
        <span class="seal">
          <Icon name="seal" />
        </span>
        <div>
          <b>Not verified yet</b>
          <p>This browser can follow every entry to the signed head, and check every signature.</p>
        </div>
        <button type="button" class="act" disabled={busy} onClick={prove}>
          {busy ? 'Verifying …' : 'Verify here'}
        </button>
      </div>
    );
  return (
    <div class="proof" role="status">
      <span class="seal">
        <Icon name="seal" />
      </span>
      <div>
        <b>Proven in this browser, just now</b>
        <p>
          All {plural(proven.entries, 'entry', 'entries')} are in the ledger of{' '}
          {proven.size.toLocaleString('en')}, every signature checked
          {proven.took_ms >= 1 ? ` in ${Math.round(proven.took_ms)} ms` : ''}.{' '}
          {proven.kept
            ? `It continues the head that this browser kept on ${proven.kept.at} (${proven.kept.size.toLocaleString('en')} entries).`
            : 'This browser keeps its head from now on, to notice if history is ever cut or rewritten.'}
        </p>
      </div>
      <button type="button" class="act" onClick={save}>
        Export proof
      </button>
    </div>
  );
}

/** A line of the ledger for a person: ids by their beginning, times as a clock shows them. The ledger has them whole. */
function brief(words: string): string {
  const text = visible(words)
    .replace(/([0-9a-f]{8})-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '$1')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, (at) => clockOf(at));
  return `${text[0]?.toUpperCase() ?? ''}${text.slice(1)}`;
}

const UNDOABLE: ReadonlySet<string> = new Set(['succeeded', 'failed', 'STUCK', 'happened']);

function StoryDock({ intent }: { readonly intent: Intent }) {
  const run = intent.runs.at(-1);
  const can_undo =
    intent.effect === 'plan' && run !== undefined && UNDOABLE.has(intent.standing) && run.expired_at === null;
  useKeys({
    u:
      can_undo &&
      (() => {
        location.hash = `/undo/${run.execution_id}`;
      }),
  });
  if (intent.standing === 'IN DOUBT' && run && intent.status !== 'claimed')
    return <Settle intent={intent} execution_id={run.execution_id} />;
  if (intent.effect !== 'plan' || !run || !UNDOABLE.has(intent.standing) || run.expired_at !== null)
    return null;
  return (
    <Dock
      state="undo"
      says={<b>This run can be undone.</b>}
      may={<span>Shows the change first. Signing comes after.</span>}
      buttons={[{ text: 'Preview undo', key: 'u', icon: 'undo', href: `#/undo/${run.execution_id}` }]}
    />
  );
}

/** A human's word for a run whose end is not recorded. */
function Settle({ intent, execution_id }: { readonly intent: Intent; readonly execution_id: string }) {
  const ask = (outcome: 'happened' | 'did_not_happen') => (reason: string) =>
    reasoned(
      'runs.resolve',
      'execution.resolved',
      intent.intent_id,
      { execution_id, outcome, reason },
      { fixed: { attempt: intent.attempt } },
    );
  return (
    <section class="dock" aria-label="Decision">
      <div class="says">
        <b>Nobody knows whether this happened.</b> Look, then say what you found.
      </div>
      <div class="acts">
        <SignedAct
          text="It did not happen…"
          subject={`no${execution_id}`}
          ask={ask('did_not_happen')}
          doing="say that it did not happen"
          done="Settled: it did not happen."
        />
        <SignedAct
          text="It happened…"
          subject={`yes${execution_id}`}
          ask={ask('happened')}
          doing="say that it happened"
          done="Settled: it happened."
        />
      </div>
    </section>
  );
}

const STEPS: Readonly<Record<string, string>> = {
  nothing: 'Stays',
  restore: 'Restored',
  remove: 'Removed',
  move_back: 'Moved back',
  refuse: 'Refused',
  except: 'Left alone',
};

/** What an undo would do, before anybody signs it. */
function Undo({ id }: { readonly id: string }) {
  const { api } = useApp();
  const told = useTold(
    () => Promise.all([api.plans.previewRollback({ run: id }), api.runs.list({ limit: 200 })]),
    [id],
    () => true,
  );
  return (
    <Page title="Undo" told={told} lead={<span>This is what would change. Nothing has changed yet.</span>}>
      {([preview, { runs }]) => {
        const intent_id = runs.find(({ execution_id }) => execution_id === id)?.intent_id ?? null;
        const is_over = preview.paths.every(({ step }) => step === 'nothing');
        const refused = preview.paths.filter(({ step }) => step === 'refuse');
        return (
          <>
            {refused.length > 0 && (
              <div class="banner danger">
                <Icon name="tri" />
                <p>
                  <b>{plural(refused.length, 'path')} cannot be restored.</b> Somebody changed them since. The
                  rest would be undone, and the undo would be stuck.
                </p>
              </div>
            )}
            <ul class="steps">
              {preview.paths.map(({ path, step, message, code }) => (
                <li>
                  <span class={`i ${step === 'refuse' ? 't-danger' : ''}`}>
                    <Icon name={step === 'refuse' ? 'no' : step === 'nothing' ? 'dot' : 'undo'} />
                  </span>
                  <div>
                    <b>
                      <bdi class="mono">{visible(path)}</bdi>
                    </b>
                    {message && (
                      <p>
                        {visible(message)} <code>{code}</code>
                      </p>
                    )}
                  </div>
                  <span class="took">{STEPS[step] ?? step}</span>
                </li>
              ))}
              {preview.folders_removed.map((path) => (
                <li>
                  <span class="i">
                    <Icon name="undo" />
                  </span>
                  <b>
                    <bdi class="mono">{visible(path)}</bdi>
                  </b>
                  <span class="took">Folder removed</span>
                </li>
              ))}
            </ul>
            {preview.not_undone.length > 0 && (
              <div class="banner warn">
                <p>
                  <b>Not undone:</b> {preview.not_undone.map(visible).join('; ')}
                </p>
              </div>
            )}
            <section class="dock" aria-label="Decision">
              <div>
                <div class="says">
                  <b>{is_over ? 'Nothing is left to undo.' : 'Undo this run.'}</b>{' '}
                  {plural(
                    preview.paths.filter(({ step }) => step !== 'nothing' && step !== 'refuse').length,
                    'path',
                  )}{' '}
                  back to what they were before it.
                </div>
              </div>
              <div class="acts">
                {intent_id && !is_over && (
                  <SignedAct
                    text="Undo this run…"
                    icon="undo"
                    subject={id}
                    hotkey="a"
                    command={`keyturn rollback ${id.slice(0, 8)}`}
                    doing="undo this run"
                    done="Undone."
                    onDone={told.again}
                    ask={(reason) =>
                      reasoned(
                        'plans.rollback',
                        'rollback.claimed',
                        intent_id,
                        { execution_id: id, reason },
                        { fixed: { checkpoints: [], except: [] }, free: ['round'] },
                      )
                    }
                  />
                )}
              </div>
            </section>
          </>
        );
      }}
    </Page>
  );
}

export const screens = { story: Story, undo: Undo };
