import { visible } from '../../canonical/visible.ts';
import { useApp, useTold } from '../app.ts';
import { reasoned } from '../gesture.ts';
import { Icon } from '../part/icon.tsx';
import { PageFrame } from '../part/page.tsx';
import { SignedAct } from '../part/signed-act.tsx';
import { plural } from '../words.ts';

const STEPS: Readonly<Record<string, string>> = {
  nothing: 'Stays',
  restore: 'Restored',
  remove: 'Removed',
  move_back: 'Moved back',
  refuse: 'Refused',
  except: 'Left alone',
};

/** What an undo would do, before a human signs it. */
function Undo({ id }: { readonly id: string }) {
  const { api } = useApp();
  const told = useTold(
    () => Promise.all([api.plans.previewRollback({ run: id }), api.runs.list({ limit: 200 })]),
    [id],
    () => true,
  );
  return (
    <PageFrame
      title="Undo"
      told={told}
      lead={<span>This is what would change. Nothing has changed yet.</span>}
    >
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
                  <b>{plural(refused.length, 'path')} cannot be restored.</b> They were changed since. The
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
                  back to what was there before it.
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
                        { fixed: { checkpoints: [], except: [] }, free: ['round', 'undoes'] },
                      )
                    }
                  />
                )}
              </div>
            </section>
          </>
        );
      }}
    </PageFrame>
  );
}

export const screens = { undo: Undo };
