import { visible } from '../../canonical/visible.ts';
import { useApp, useTold } from '../app.ts';
import { useNow } from '../clock.ts';
import { reasoned } from '../gesture.ts';
import { Icon } from '../part/icon.tsx';
import { PageFrame } from '../part/page.tsx';
import { SignedAct } from '../part/signed-act.tsx';
import { Fold } from '../part/text.tsx';
import { clockOf, span } from '../words.ts';
import { LiveRun } from './live-run.tsx';

/** What runs now, what is in doubt, and what ended last. */
function Running(_: { readonly id: string }) {
  const { api } = useApp();
  const now = useNow(1_000);
  const told = useTold(
    () => Promise.all([api.runs.inDoubt(), api.runs.list({ limit: 10 })]),
    [],
    () => true,
  );
  return (
    <PageFrame title="Running" told={told}>
      {([{ runs }, { runs: last }]) => (
        <>
          {runs.length === 0 && <p class="dim">Nothing runs now.</p>}
          {runs.map((run) => (
            <section class="run" key={run.execution_id}>
              <div class="run-top">
                <p class="clock">
                  {run.status_word === 'running' ? span(now - Date.parse(run.since)) : 'In doubt'}
                </p>
                <p>
                  <b>
                    <bdi>{visible(run.tool)}</bdi>
                  </b>{' '}
                  <span class="dim">
                    since {clockOf(run.since)}, on <bdi>{run.host}</bdi>, process {run.pid}
                  </span>
                </p>
              </div>
              <LiveRun execution_id={run.execution_id} />
              <Fold title="What the ledger tells" note="recorded">
                <Steps intent_id={run.intent_id} />
              </Fold>
              <div class="acts">
                <a class="act" href={`#/story/${run.intent_id}`}>
                  Open story
                </a>
                {run.status_word === 'running' && (
                  <SignedAct
                    text="Stop this run…"
                    icon="stop"
                    look="stop"
                    hotkey="s"
                    subject={run.execution_id}
                    command={`keyturn stop ${run.execution_id.slice(0, 8)}`}
                    doing="stop this run"
                    done="It is being stopped."
                    ask={(reason) =>
                      reasoned('runs.stop', 'execution.stopped', run.intent_id, {
                        execution_id: run.execution_id,
                        reason,
                      })
                    }
                  />
                )}
              </div>
            </section>
          ))}
          <h2 class="head">Ended last</h2>
          <ul class="list">
            {last
              .filter(({ finished_at }) => finished_at !== null)
              .map((run) => (
                <li>
                  <div>
                    <a href={`#/story/${run.intent_id}`}>
                      <bdi>{visible(run.tool)}</bdi>
                    </a>
                    <p>
                      <bdi>{run.proposer}</bdi>: “
                      <bdi dir="auto">{visible(run.goal ?? '').slice(0, 120)}</bdi>”
                    </p>
                  </div>
                  <span class="end">
                    {run.status_word.toLowerCase()}, {span(now - Date.parse(run.finished_at!))} ago
                  </span>
                </li>
              ))}
          </ul>
        </>
      )}
    </PageFrame>
  );
}

/** What the ledger tells of a run as it comes. */
function Steps({ intent_id }: { readonly intent_id: string }) {
  const { api } = useApp();
  const { value } = useTold(
    () => api.intents.story({ intent_id }),
    [intent_id],
    ({ subject }) => subject === intent_id,
  );
  const steps = (value?.story ?? []).filter(({ kind }) =>
    /^(execution|capability|order|violation)\./.test(kind),
  );
  return (
    <ul class="steps" aria-live="polite">
      {steps.map(({ seq, at, words }, i) => (
        <li key={seq}>
          <span class="i">{i === steps.length - 1 ? <span class="ring" /> : <Icon name="ok" />}</span>
          <b>{visible(words)}</b>
          <span class="took">{clockOf(at)}</span>
        </li>
      ))}
    </ul>
  );
}

export const screens = { running: Running };
