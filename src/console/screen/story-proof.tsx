import { useState } from 'preact/hooks';
import { useApp } from '../app.ts';
import { Icon } from '../part/icon.tsx';
import { type ProvenHere, proveHere } from '../proof.ts';
import { type Trouble, troubleOf } from '../trouble.ts';
import { grouped, plural } from '../words.ts';

/** Proven in this browser, or why not. */
export function ProofPanel({ id }: { readonly id: string }) {
  const app = useApp();
  const [proven, setProven] = useState<ProvenHere | null>(null);
  const [trouble, setTrouble] = useState<Trouble | null>(null);
  const [busy, setBusy] = useState(false);
  const prove = () => {
    setBusy(true);
    proveHere(app, id).then(
      (found) => {
        setProven(found);
        setTrouble(null);
        setBusy(false);
      },
      (error: unknown) => {
        setTrouble(troubleOf(error));
        setBusy(false);
      },
    );
  };
  const save = () => {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([proven!.bundle], { type: 'application/json' }));
    link.download = `${id}.proof.json`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  };
  if (trouble)
    return (
      <div class="banner danger" role="status">
        <Icon name="tri" />
        <p>
          <b>This story is not proven.</b> {trouble.words} <code>{trouble.code}</code>
        </p>
      </div>
    );
  if (!proven)
    return (
      <div class="proof quiet">
        <span class="seal">
          <Icon name="seal" />
        </span>
        <div>
          <b>Not verified yet</b>
          <p>This browser can follow every entry to the signed head, and check every signature.</p>
        </div>
        <button type="button" class="act" disabled={busy} onClick={prove}>
          {busy ? 'Verifying …' : 'Verify here'}
        </button>
      </div>
    );
  return (
    <div class="proof" role="status">
      <span class="seal">
        <Icon name="seal" />
      </span>
      <div>
        <b>Proven in this browser, just now</b>
        <p>
          All {plural(proven.entries, 'entry', 'entries')} are in the ledger of {grouped(proven.size)}, every
          signature checked
          {proven.took_ms >= 1 ? ` in ${Math.round(proven.took_ms)} ms` : ''}.{' '}
          {proven.kept
            ? `It continues the head that this browser kept on ${proven.kept.at} (${grouped(proven.kept.size)} entries).`
            : 'This browser keeps its head from now on, to notice if history is ever cut or rewritten.'}
        </p>
      </div>
      <button type="button" class="act" onClick={save}>
        Export proof
      </button>
    </div>
  );
}
