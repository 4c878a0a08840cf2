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
          .filter(({ standing }) => standing === 'waiting')
          .map(({ proposed_at }) => now - Date.parse(proposed_at));
        const doubt = begun.filter(({ state }) => state !== 'alive').length;
        return (
          <>
            <dl class="facts">
              <Figure
                label="Time to decision"
                value={decided.length > 0 ? span(decided[Math.floor(decided.length / 2)]!) : 'None yet'}
                why={
                  decided.length > 0
                    ? `The median of ${plural(decided.length, 'decision')}.`
                    : 'Nobody has decided.'
                }
              />
              <Figure
                label="Oldest waiting"
                value={waiting.length > 0 ? span(Math.max(...waiting)) : 'Nothing waits'}
                why={waiting.length > 0 ? `${waiting.length} wait.` : ''}
              />
              <Figure
                label="In doubt"
                value={String(doubt)}
                why={doubt === 0 ? 'Every run goes on or has ended.' : 'A human has to settle them.'}
              />
              <Figure
                label="Runs"
                value={String(runs.length)}
                why={`${runs.filter(({ standing }) => standing === 'succeeded').length} succeeded.`}
              />
            </dl>
            <div class="halves">
              <Bars title="Runs by day" counts={per(runs.map(({ claimed_at }) => claimed_at))} days={days} />
              <Bars
                title="Proposals by day"
                counts={per(intents.map(({ proposed_at }) => proposed_at))}
                days={days}
              />
              <Bars
                title="Refusals by day"
                counts={per(entries.map(({ at }) => at))}
                days={days}
                tone="danger"
              />
              <Ranked
                title="Refusals by reason"
                counts={counted(entries.map(({ body }) => String(body.reason_code ?? 'unknown')))}
              />
              <Ranked title="Busiest tools" counts={counted(runs.map(({ tool }) => tool))} />
              <Ranked title="Busiest proposers" counts={counted(intents.map(({ proposer }) => proposer))} />
            </div>
          </>
        );
      }}
    </PageFrame>
  );
}

function Figure({
  label,
  value,
  why,
}: {
  readonly label: string;
  readonly value: string;
  readonly why: string;
}) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>
        <span class="v">{value}</span>
        <p class="r">{why}</p>
      </dd>
    </div>
  );
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
  days,
  tone = 'accent',
}: {
  readonly title: string;
  readonly counts: readonly number[];
  readonly days: readonly number[];
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
          {total === 0
            ? `none in ${counts.length} days`
            : `${total} in ${counts.length} days, at most ${Math.max(...counts)} a day`}
        </span>
      </figcaption>
      <svg
        viewBox={`0 0 ${W} ${H + 1}`}
        role="img"
        aria-label={`${title}: ${counts.map((count, i) => `${dayOf(days[i]!)} ${count}`).join(', ')}`}
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
        <span>{dayOf(days[0]!)}</span>
        <span>today</span>
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
