import { useApp, useTold } from '../app.ts';
import { PageFrame } from '../part/page.tsx';
import { dayOf, plural, span } from '../words.ts';

const DAYS = 14;
const DAY_MS = 86_400_000;

/** Small plots, drawn by hand, from the newest thousand intents and runs. */
function Figures(_: { readonly id: string }) {
  const { api } = useApp();
  const told = useTold(
    () =>
      Promise.all([
        api.intents.list({ limit: 1000 }),
        api.runs.list({ limit: 1000 }),
        api.ledger.entries({ kind: 'intent.refused', limit: 500 }),
        api.runs.inDoubt(),
      ]),
    [],
    ({ kind }) => /^(intent|execution)\./.test(kind),
  );
  return (
    <PageFrame title="Figures" told={told} lead={<span>From the newest 1,000 intents and runs.</span>}>
      {([{ intents }, { runs }, { entries }, { runs: begun }]) => {
        const now = Date.now();
        const days = Array.from({ length: DAYS }, (_, i) => now - (DAYS - 1 - i) * DAY_MS);
        const per = (times: readonly string[]) =>
          days.map((day) => times.filter((at) => dayOf(at) === dayOf(day)).length);
        const decided = intents
          .flatMap(({ proposed_at, approvals }) =>
            approvals[0] ? [Date.parse(approvals[0].signed_at) - Date.parse(proposed_at)] : [],
          )
          .sort((a, b) => a - b);
        const waiting = intents
          .filter(({ status_word }) => status_word === 'waiting')
          .map(({ proposed_at }) => now - Date.parse(proposed_at));
        const doubt = begun.filter(({ status_word }) => status_word === 'IN DOUBT');
        const names = days.map((day, i) => (i === DAYS - 1 ? 'today' : dayOf(day)));
        return (
          <div class="halves">
            <Bars
              title="Time to decision"
              note={
                decided.length > 0
                  ? `median ${span(decided[Math.floor(decided.length / 2)]!)} of ${plural(decided.length, 'decision')}`
                  : 'no decisions yet'
              }
              counts={perSpan(decided)}
              labels={SPAN_LABELS}
            />
            <Bars
              title="Waiting, by age"
              note={
                waiting.length > 0
                  ? `${waiting.length} wait, the oldest for ${span(Math.max(...waiting))}`
                  : 'nothing waits'
              }
              counts={perSpan(waiting)}
              labels={SPAN_LABELS}
            />
            <Bars
              title="In doubt, by the day they began"
              note={
                doubt.length === 0
                  ? 'none: every run goes on or has ended'
                  : `${doubt.length}: a human has to settle them`
              }
              counts={per(doubt.map(({ since }) => since))}
              labels={names}
              tone="danger"
            />
            <Bars title="Runs by day" counts={per(runs.map(({ claimed_at }) => claimed_at))} labels={names} />
            <Bars
              title="Proposals by day"
              counts={per(intents.map(({ proposed_at }) => proposed_at))}
              labels={names}
            />
            <Bars
              title="Refusals by day"
              counts={per(entries.map(({ at }) => at))}
              labels={names}
              tone="danger"
            />
            <Ranked
              title="Refusals by reason"
              counts={counted(entries.map(({ body }) => String(body.reason_code ?? 'unknown')))}
            />
            <Ranked title="Busiest tools" counts={counted(runs.map(({ tool }) => tool))} />
            <Ranked title="Busiest proposers" counts={counted(intents.map(({ proposer }) => proposer))} />
          </div>
        );
      }}
    </PageFrame>
  );
}

const MINUTE_MS = 60_000;
/** Each to its end; the last has none. */
const SPANS_MS = [1, 5, 15, 60, 240, 1440].map((minutes) => minutes * MINUTE_MS);
const SPAN_LABELS = ['within 1 min', '5 min', '15 min', '1 h', '4 h', '1 day', 'longer than 1 day'];

function perSpan(times: readonly number[]): readonly number[] {
  const counts = SPAN_LABELS.map(() => 0);
  for (const ms of times) {
    const at = SPANS_MS.findIndex((end) => ms <= end);
    counts[at === -1 ? SPANS_MS.length : at]! += 1;
  }
  return counts;
}

const counted = (names: readonly string[]) => {
  const found = new Map<string, number>();
  for (const name of names) found.set(name, (found.get(name) ?? 0) + 1);
  return [...found].sort((a, b) => b[1] - a[1]).slice(0, 6);
};

const [W, H] = [420, 96];

function Bars({
  title,
  counts,
  labels,
  note,
  tone = 'accent',
}: {
  readonly title: string;
  readonly counts: readonly number[];
  /** One for each. The first and the last are written under the plot. */
  readonly labels: readonly string[];
  readonly note?: string;
  readonly tone?: 'accent' | 'danger';
}) {
  const most = Math.max(1, ...counts);
  const step = W / counts.length;
  const total = counts.reduce((sum, one) => sum + one, 0);
  return (
    <figure class="plot">
      <figcaption>
        <b>{title}</b>
        <span>
          {note ??
            (total === 0
              ? `none in ${counts.length} days`
              : `${total} in ${counts.length} days, at most ${Math.max(...counts)} a day`)}
        </span>
      </figcaption>
      <svg
        viewBox={`0 0 ${W} ${H + 1}`}
        role="img"
        aria-label={`${title}: ${counts.map((count, i) => `${labels[i]} ${count}`).join(', ')}`}
        class={`bars t-${tone}`}
      >
        <path class="axis" d={`M0 ${H}.5H${W}`} />
        {counts.map(
          (count, i) =>
            count > 0 && (
              <rect
                key={i}
                x={i * step + 3}
                width={step - 6}
                y={H - (count / most) * (H - 8)}
                height={(count / most) * (H - 8)}
                rx="2"
              />
            ),
        )}
      </svg>
      <p class="days" aria-hidden="true">
        <span>{labels[0]}</span>
        <span>{labels.at(-1)}</span>
      </p>
    </figure>
  );
}

function Ranked({
  title,
  counts,
}: {
  readonly title: string;
  readonly counts: readonly (readonly [string, number])[];
}) {
  const most = Math.max(1, ...counts.map(([, count]) => count));
  return (
    <figure class="plot">
      <figcaption>
        <b>{title}</b>
      </figcaption>
      {counts.length === 0 && <p class="dim">None.</p>}
      <dl class="ranked">
        {counts.map(([name, count]) => (
          <div>
            <dt>
              <bdi>{name}</bdi>
            </dt>
            <dd>
              <svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
                <rect width={(count / most) * 100} height="8" rx="2" />
              </svg>
              <span>{count}</span>
            </dd>
          </div>
        ))}
      </dl>
    </figure>
  );
}

export const screens = { figures: Figures };
