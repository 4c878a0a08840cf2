import { codeOf } from '../../canonical/code.ts';
import { visible } from '../../canonical/visible.ts';
import type { ShownEffect } from '../app.ts';
import { useApp, useTold } from '../app.ts';
import { DeedOf } from '../part/deed.tsx';
import { Icon, type IconName, Tag } from '../part/icon.tsx';
import { PageFrame } from '../part/page.tsx';
import { Dig, Fold, PrintedText, Target, Words } from '../part/text.tsx';
import { capital, clockOf, dayOf, deedOf, type EffectToDraw, grouped, plural } from '../words.ts';
import { StoryDock } from './story-dock.tsx';
import { ProofPanel } from './story-proof.tsx';

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
    <PageFrame title="Story" told={told} quiet>
      {({ intent, envelope, effect, shown, story, output, absent }) => {
        const deed = effect ? deedOf(effect as unknown as EffectToDraw) : null;
        const run = intent.runs.at(-1);
        const good = ['succeeded', 'undone', 'happened'].includes(intent.status_word);
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
                <Tag tone={good ? 'ok' : intent.status_word === 'waiting' ? 'plain' : 'warn'}>
                  {capital(intent.status_word.toLowerCase())}
                </Tag>
                <span>
                  {dayOf(intent.proposed_at)}, {clockOf(intent.proposed_at)}
                </span>
                {intent.missing > 0 && <a href={`#/decide/${id}`}>Decide on it</a>}
              </div>
            </header>
            <div class="cols">
              <div>
                <ProofPanel id={id} />
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
                          <span class="seq">{grouped(seq)}</span>
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
                    <PrintedText title="What it printed" text={output.stdout} note="verbatim" />
                    {output.stderr !== '' && (
                      <PrintedText title="Errors that it printed" text={output.stderr} note="verbatim" />
                    )}
                  </>
                )}
                {effect && shown && (
                  <Fold title="Exactly what was decided on" note={`code ${codeOf(intent.hash)}`}>
                    <DeedOf effect={effect as unknown as EffectToDraw} shown={shown as ShownEffect} />
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
                  <div>
                    <dt>Code</dt>
                    <dd class="short">{codeOf(intent.hash)}</dd>
                  </div>
                </dl>
              </aside>
            </div>
            <StoryDock intent={intent} />
          </>
        );
      }}
    </PageFrame>
  );
}

/** A line of the ledger for a person: ids by their beginning, times as a clock shows them. The ledger has them whole. */
function brief(words: string): string {
  const text = visible(words)
    .replace(/([0-9a-f]{8})-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '$1')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, (at) => clockOf(at));
  // A name stays as it is written.
  return /^(the|a|an|it|its|no)\b/.test(text) ? `${text[0]!.toUpperCase()}${text.slice(1)}` : text;
}

export const screens = { story: Story };
