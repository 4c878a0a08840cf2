import { useEffect, useRef, useState } from 'preact/hooks';
import { visible } from '../../canonical/visible.ts';
import type { Result } from '../../keyturn.ts';
import { useApp } from '../app.ts';
import { Icon } from '../part/icon.tsx';
import { PrintedText } from '../part/text.tsx';
import { clockOf, plural } from '../words.ts';

type RunLive = Result<'runs.live'>;

interface OutputHeard {
  readonly stdout: string;
  readonly stderr: string;
  readonly steps: RunLive['steps'];
  readonly dropped: number;
  readonly source: RunLive['source'];
  readonly state: RunLive['state'];
}

const NOTHING: OutputHeard = {
  stdout: '',
  stderr: '',
  steps: [],
  dropped: 0,
  source: 'live',
  state: 'going',
};
/** So long the service waits for something new before it answers with nothing. */
const WAIT_MS = 10_000;
/** What a page keeps of the end of each stream: the story has all of it. */
const KEPT_CHARS = 200_000;
const AGAIN_MS = 1_000;

/** What a run prints and does, as it comes: each question waits for what is new since the last answer. */
function useLiveRun(execution_id: string): OutputHeard {
  const { api } = useApp();
  const [heard, setHeard] = useState<OutputHeard>(NOTHING);
  useEffect(() => {
    const stop = new AbortController();
    setHeard(NOTHING);
    void (async () => {
      let asked = { execution_id, stdout_after: 0, stderr_after: 0, steps_after: 0, wait_ms: 0 };
      while (!stop.signal.aborted) {
        const came = await api.runs.live(asked, { signal: stop.signal }).catch(() => null);
        if (stop.signal.aborted) return;
        // The service is away, or asks for patience.
        if (came === null) {
          await new Promise((done) => setTimeout(done, AGAIN_MS));
          continue;
        }
        setHeard((before) => added(before, came));
        const has_more = came.stdout.has_more || came.stderr.has_more;
        if (came.state !== 'going' && !has_more) return;
        asked = {
          execution_id,
          stdout_after: came.stdout.next,
          stderr_after: came.stderr.next,
          steps_after: came.steps_next,
          wait_ms: has_more ? 0 : WAIT_MS,
        };
      }
    })();
    return () => stop.abort();
  }, [execution_id]);
  return heard;
}

function added(before: OutputHeard, { stdout, stderr, steps, source, state }: RunLive): OutputHeard {
  const ended = (text: string) => text.slice(-KEPT_CHARS);
  return {
    stdout: ended(before.stdout + stdout.text),
    stderr: ended(before.stderr + stderr.text),
    steps: [...before.steps, ...steps],
    dropped: stdout.dropped + stderr.dropped,
    source,
    state,
  };
}

/** Steps of a plan and output of a tool while they come. Nothing rests on it: the record is what counts. */
export function LiveRun({ execution_id }: { readonly execution_id: string }) {
  const { stdout, stderr, steps, dropped, source, state } = useLiveRun(execution_id);
  return (
    <div class="live-run">
      {steps.length > 0 && <LiveSteps steps={steps} />}
      <Growing title="What it prints" text={stdout} />
      <Growing title="Errors that it prints" text={stderr} />
      {dropped > 0 && <p class="dim">{plural(dropped, 'byte')} more are not kept.</p>}
      {source === 'other host' && (
        <p class="dim">It runs on another host. What it prints is seen here once it is recorded.</p>
      )}
      {source === 'live' && state === 'going' && stdout === '' && stderr === '' && steps.length === 0 && (
        <p class="dim">It has printed nothing yet.</p>
      )}
    </div>
  );
}

const PHASES: Readonly<Record<string, string>> = {
  checkpoint: 'Backups are made',
  validation: 'What it did is checked',
  rollback: 'It is rolled back',
  done: 'All is done',
};

function LiveSteps({ steps }: { readonly steps: RunLive['steps'] }) {
  const last = steps.length - 1;
  return (
    <ol class="steps" aria-label="Steps">
      {steps.map(({ phase, action_id, status, at }, i) => (
        <li key={i}>
          <span class={`i ${status !== null && status !== 'success' ? 't-warn' : ''}`}>
            {i === last && phase !== 'done' ? <span class="ring" /> : <Icon name="ok" />}
          </span>
          <b>
            {PHASES[phase] ?? (
              <>
                <bdi>{visible(action_id ?? '')}</bdi> {phase === 'action' ? 'begins' : 'ended'}
              </>
            )}
            {status !== null && <span class="dim"> {status.toLowerCase()}</span>}
          </b>
          <span class="took">{clockOf(at)}</span>
        </li>
      ))}
    </ol>
  );
}

/** Stays at its end while it grows, unless the person scrolled away from it. */
function Growing({ title, text }: { readonly title: string; readonly text: string }) {
  const box = useRef<HTMLDivElement>(null);
  const at_end = useRef(true);
  useEffect(() => {
    const pre = box.current?.querySelector('pre');
    if (!pre) return;
    if (at_end.current) pre.scrollTop = pre.scrollHeight;
    const scrolled = () => {
      at_end.current = pre.scrollHeight - pre.scrollTop - pre.clientHeight < 24;
    };
    pre.addEventListener('scroll', scrolled);
    return () => pre.removeEventListener('scroll', scrolled);
  }, [text]);
  if (text === '') return null;
  return (
    <div ref={box} class="growing">
      <PrintedText title={title} text={text} note="as it comes" />
    </div>
  );
}
