import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { useApp, useMe } from '../app.ts';
import { useCell } from '../cell.ts';
import type { FinishedAct, SignatureAsked } from '../gesture.ts';
import { useKeys } from '../keys.ts';
import { useSigning } from '../signing.ts';
import { type DockProps, ReasonDock, SigningDock } from './dock.tsx';
import { Icon, type IconName } from './icon.tsx';

interface Props {
  /** What the button says: the whole act. */
  readonly text: string;
  readonly subject: string;
  readonly ask: (reason: string) => SignatureAsked;
  /** After "Touch your passkey to". */
  readonly doing: string;
  readonly done: string;
  readonly look?: 'yes' | 'stop';
  readonly icon?: IconName;
  readonly hotkey?: string;
  readonly label?: ComponentChildren;
  /** What is done at a terminal where no passkey can be used. */
  readonly command?: string;
  readonly small?: boolean;
  readonly onDone?: (finished: readonly FinishedAct[]) => void;
}

/** A button, then the reason, then the gesture: every act but the decision itself. */
export function SignedAct({
  text,
  subject,
  ask,
  doing,
  done,
  look,
  icon,
  hotkey,
  label = 'Reason. It is kept in the ledger.',
  command,
  small = false,
  onDone,
}: Props) {
  const { live } = useApp();
  const { me } = useMe();
  const is_live = useCell(live).state === 'live';
  const [open, setOpen] = useState(false);
  const signing = useSigning(subject, onDone);
  const close = () => {
    signing.cancel();
    signing.reset();
    setOpen(false);
  };
  useKeys({
    ...(hotkey && me && !open && { [hotkey]: () => setOpen(true) }),
    ...(open && { Escape: close }),
  });
  if (!open)
    return (
      <button type="button" class={`act ${look ?? ''} ${small ? 'small' : ''}`} onClick={() => setOpen(true)}>
        {icon && <Icon name={icon} />}
        {text}
        {hotkey && <kbd>{hotkey}</kbd>}
      </button>
    );
  if (me === null || !is_live)
    return (
      <div class="inline-dock">
        <p>
          {me === null ? 'You have no passkey at this address.' : 'There is no connection.'}{' '}
          {command && (
            <>
              At the terminal: <code>{command}</code>
            </>
          )}
        </p>
        <button type="button" class="act small" onClick={close}>
          Close
        </button>
      </div>
    );
  const finished = (): DockProps => ({
    state: 'done',
    mark: ['ok', 'ok'],
    says: <b>{done}</b>,
    buttons: [{ text: 'Close', onPress: close }],
  });
  return (
    <div class="inline-dock">
      {signing.phase.is === 'idle' ? (
        <ReasonDock
          label={label}
          act={text.replace(/…$/, '')}
          {...(look === 'stop' && { look })}
          onCancel={close}
          onGive={(reason) => signing.begin([ask(reason)])}
        />
      ) : (
        <SigningDock signing={signing} doing={doing} done={finished} />
      )}
    </div>
  );
}
