import { useState } from 'preact/hooks';
import { visible } from '../../canonical/visible.ts';
import { useApp, useTold } from '../app.ts';
import { PageFrame } from '../part/page.tsx';
import { Dig, Fold, PrintedText } from '../part/text.tsx';
import { headIn } from '../proof.ts';
import { type Trouble, troubleOf } from '../trouble.ts';
import { clockOf, dayOf, grouped } from '../words.ts';

/** What happened, newest first, and the head that covers all of it. */
function Ledger(_: { readonly id: string }) {
  const { api, kept, world } = useApp();
  const [kind, setKind] = useState('');
  const [checked, setChecked] = useState<string | Trouble | null>(null);
  const told = useTold(
    () => Promise.all([api.ledger.head(), api.ledger.entries({ limit: 100, ...(kind !== '' && { kind }) })]),
    [kind],
    () => true,
  );
  const before = headIn(kept.get(`head.${world.get().origin}`));
  const verify = () => {
    setChecked('Verifying …');
    api.ledger.verify({ deep: true, ...(before && { kept: [before.text] }) }).then(
      ({ size }) =>
        setChecked(
          `The service hashed all ${grouped(size)} entries again and checked every signature.${before ? ' The head that this browser kept is a part of it.' : ''}`,
        ),
      (error: unknown) => setChecked(troubleOf(error)),
    );
  };
  return (
    <PageFrame title="Ledger" told={told}>
      {([head, { entries }]) => (
        <>
          <dl class="rows boxed">
            <div>
              <dt>Entries</dt>
              <dd>{grouped(head.size)}</dd>
            </div>
            <div>
              <dt>Root</dt>
              <dd>
                <Dig digest={head.root} />
              </dd>
            </div>
            <div>
              <dt>Key</dt>
              <dd>
                <code>{head.key}</code>
              </dd>
            </div>
            <div>
              <dt>Kept here</dt>
              <dd>
                {before
                  ? `${grouped(before.size)} entries, on ${dayOf(before.at)}. A story that is verified here must continue it.`
                  : 'No head yet. The first story that you verify keeps one.'}
              </dd>
            </div>
          </dl>
          <p>
            <button type="button" class="act" onClick={verify}>
              Verify the whole ledger
            </button>
          </p>
          {checked !== null && (
            <p role="status" class={typeof checked === 'string' ? '' : 't-danger'}>
              {typeof checked === 'string' ? (
                checked
              ) : (
                <>
                  {checked.words} <code>{checked.code}</code>
                </>
              )}
            </p>
          )}
          <Fold title="The head, to keep elsewhere" note="signed">
            <PrintedText title="Keep a copy outside this machine" text={head.text} note="verbatim" />
          </Fold>
          <div class="field filters">
            <label for="kind">Kind of entry</label>
            <input
              id="kind"
              type="search"
              autocomplete="off"
              placeholder="approval.granted"
              value={kind}
              onChange={({ currentTarget }) => setKind(currentTarget.value.trim())}
            />
          </div>
          <ol class="plain entries">
            {entries.map(({ seq, at, kind, subject, words }) => (
              <li key={seq}>
                <span class="seq">{grouped(seq)}</span>
                <time dateTime={at}>
                  {dayOf(at)}, {clockOf(at)}
                </time>
                <span class="grow">
                  {/^[0-9a-f]{8}-/.test(subject) ? (
                    <a href={`#/story/${subject}`}>{visible(words)}</a>
                  ) : (
                    visible(words)
                  )}
                </span>
                <code class="dim">{kind}</code>
              </li>
            ))}
          </ol>
        </>
      )}
    </PageFrame>
  );
}

export const screens = { ledger: Ledger };
