import { useApp, useMe } from '../app.ts';
import { useCell } from '../cell.ts';
import { reasoned } from '../gesture.ts';
import { useKeys } from '../keys.ts';
import { type DockProps, ReasonDock, SigningDock } from '../part/dock.tsx';
import { useSigning } from '../signing.ts';

/** Always one key away. It stops what runs, and lets nothing begin. */
export function FreezeDialog({ onClose }: { readonly onClose: () => void }) {
  const app = useApp();
  const { me } = useMe();
  const live = useCell(app.live);
  const signing = useSigning('freeze');
  useKeys({
    Escape: () => {
      signing.cancel();
      onClose();
    },
  });
  const begin = (reason: string) =>
    signing.begin([
      reasoned(
        'system.freeze',
        'system.frozen',
        'system',
        { scope: 'system', reason },
        { fixed: { name: '' } },
      ),
    ]);
  const done = (): DockProps => ({
    state: 'done',
    mark: ['pause', 'danger'],
    says: (
      <>
        <b>Everything is frozen.</b> What ran is being stopped. Nothing begins until a human unfreezes.
      </>
    ),
    buttons: [{ text: 'Close', onPress: onClose }],
  });
  return (
    <div class="veil">
      <div class="sheet-box" role="dialog" aria-modal="true" aria-label="Freeze everything">
        <h2>Freeze everything</h2>
        <p class="dim">
          Nothing begins, and what runs is stopped, on every executor. Proposals can still be read, approved
          and rejected.
        </p>
        {me === null || live.state !== 'live' ? (
          <>
            <p>
              {me === null ? 'You have no passkey at this address.' : 'There is no connection.'} At the
              terminal: <code>keyturn freeze --reason "…"</code>
            </p>
            <div class="acts">
              <button type="button" class="act" onClick={onClose}>
                Close
              </button>
            </div>
          </>
        ) : signing.phase.is === 'idle' ? (
          <ReasonDock label="Why?" act="Freeze everything" look="stop" onCancel={onClose} onGive={begin} />
        ) : (
          <SigningDock signing={signing} doing="freeze everything" done={done} />
        )}
      </div>
    </div>
  );
}
