import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { consoleLimits } from '../../limits.ts';
import type { SigningAct } from '../signing.ts';
import { Icon, type IconName } from './icon.tsx';

export interface Button {
  readonly text: string;
  readonly key?: string;
  readonly icon?: IconName;
  readonly look?: 'yes' | 'stop';
  readonly href?: string;
  readonly onPress?: () => void;
}

/** After the dock changed, a press that was meant for what stood there before is ignored for so long. */
const STEADY_MS = 500;

export interface DockProps {
  /** What it is about now: a change of this is a change of the dock. */
  readonly state: string;
  readonly tone?: 'armed' | 'no';
  readonly mark?: readonly [IconName, 'danger' | 'warn' | 'ok' | 'plain' | 'accent'];
  readonly says: ComponentChildren;
  readonly may?: ComponentChildren;
  readonly buttons: readonly Button[];
}

/** The one place that says what a signature does, whether you may give it, and what changed meanwhile. */
export function Dock({ state, tone, mark, says, may, buttons }: DockProps) {
  const first = useRef(true);
  const [steady_at, setSteady] = useState(state);
  const is_steady = steady_at === state;
  useEffect(() => {
    // What is drawn first takes no other thing's place.
    const wait_ms = first.current ? 0 : STEADY_MS;
    first.current = false;
    const timer = setTimeout(() => setSteady(state), wait_ms);
    return () => clearTimeout(timer);
  }, [state]);
  const steady = (act: () => void) => () => {
    if (is_steady) act();
  };
  return (
    <section class={`dock ${tone ?? ''}`} aria-label="Decision" data-state={state} data-steady={is_steady}>
      <div role="status">
        <div class={mark ? 'says mark' : 'says'}>
          {mark && (
            <span class={`t-${mark[1]}`}>
              <Icon name={mark[0]} />
            </span>
          )}
          <span>{says}</span>
        </div>
        {may && <div class="may">{may}</div>}
      </div>
      <div class="acts">
        {buttons.map(({ text, key, icon, look, href, onPress }) => {
          const inside = (
            <>
              {icon && <Icon name={icon} />}
              {text}
              {key && <kbd>{key}</kbd>}
            </>
          );
          return href ? (
            <a key={text} class="act" href={href}>
              {inside}
            </a>
          ) : (
            <button
              key={text}
              type="button"
              class={`act ${look ?? ''}`}
              onClick={steady(onPress ?? (() => {}))}
            >
              {inside}
            </button>
          );
        })}
      </div>
    </section>
  );
}

/** Asks for the reason that an act carries. Empty is not possible. */
export function ReasonDock({
  label,
  act,
  look,
  onCancel,
  onGive,
  children,
}: {
  label: ComponentChildren;
  act: string;
  look?: 'stop';
  onCancel: () => void;
  onGive: (reason: string) => void;
  children?: ComponentChildren;
}) {
  const [reason, setReason] = useState('');
  const field = useRef<HTMLInputElement>(null);
  // Before the paint: what is typed right after the key that asks for a reason is part of the reason.
  // What is read stays where it is: the dock is on the screen.
  useLayoutEffect(() => field.current?.focus({ preventScroll: true }), []);
  const give = (event: Event) => {
    event.preventDefault();
    if (reason.trim() !== '') onGive(reason.trim());
    else field.current?.focus();
  };
  return (
    <section class="dock" aria-label="Decision" data-state="reason">
      <form class="reasoned" onSubmit={give}>
        <div class="field">
          {children}
          <label for="reason">{label}</label>
          <input
            id="reason"
            ref={field}
            type="text"
            maxLength={consoleLimits.reason_chars}
            autocomplete="off"
            required
            value={reason}
            onInput={({ currentTarget }) => setReason(currentTarget.value)}
            onKeyDown={(event) => event.key === 'Escape' && onCancel()}
          />
        </div>
        <div class="acts">
          <button type="button" class="act" onClick={onCancel}>
            Cancel
          </button>
          <button type="submit" class={`act ${look ?? ''}`}>
            {act}
          </button>
        </div>
      </form>
    </section>
  );
}

/** The dock while something is signed, in words of its own; null where nothing is. */
export function SigningDock({
  signing,
  doing,
  done,
  code,
}: {
  signing: SigningAct;
  doing: string;
  done: (result: unknown) => DockProps;
  code?: string;
}) {
  const { phase, cancel, reset } = signing;
  if (phase.is === 'idle') return null;
  if (phase.is === 'done') return <Dock {...done(phase.finished)} />;
  if (phase.is === 'failed') {
    const { words, advice, code: reason } = phase.trouble;
    return (
      <Dock
        state="failed"
        tone="no"
        mark={['tri', 'warn']}
        says={
          <>
            <b>{words}</b> {advice}
          </>
        }
        may={reason && <code>{reason}</code>}
        buttons={[{ text: 'Back', key: 'esc', onPress: reset }]}
      />
    );
  }
  if (phase.is === 'drawing')
    return (
      <Dock
        state="drawing"
        says={<b>Drawing it up …</b>}
        buttons={[{ text: 'Cancel', key: 'esc', onPress: cancel }]}
      />
    );
  if (phase.is === 'sending')
    return <Dock state="sending" tone="armed" says={<b>Signed. Waiting for the service …</b>} buttons={[]} />;
  return (
    <Dock
      state="armed"
      tone="armed"
      mark={['key', 'accent']}
      says={<b>Touch your passkey to {doing}.</b>}
      may={
        <span>
          {code && (
            <>
              Signs code <span class="short">{code}</span>, computed{' '}
            </>
          )}
          {!code && 'Signs a statement, made '}from what this page shows.
        </span>
      }
      buttons={[{ text: 'Cancel', key: 'esc', onPress: cancel }]}
    />
  );
}
