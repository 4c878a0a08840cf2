import { it } from 'vitest';
import { alone, answering, stages, ledgerOf, rowsOf, stateOf, play } from './stage.ts';
const stage = stages();
const t = async (n: string, f: () => Promise<unknown>) => { const a = performance.now(); const r = await f(); console.log(n, Math.round(performance.now() - a), r); return r as any; };
it('try', async () => {
  const set = await t('stage', () => stage());
  await t('check', () => alone(set, ['check', set.id, set.hash]));
  await t('run', () => answering(set, 'y'));
  await t('again', () => answering(set, 'y').catch((e) => e.message));
  await t('alone', () => alone(set));
  for (const body of ['rm -r "$OWN"', 'cp "$OWN/store.db" "$OWN/x"; mv "$OWN/x" "$OWN/store.db"', 'prlimit --pid $PPID --fsize=4096', 'echo garbage > "$OWN/store.db"', 'cp "$OWN/store.db" "$OWN/x"; cp $OWN/store.db-wal $OWN/x-wal; mv "$OWN/x" "$OWN/store.db"; mv $OWN/x-wal $OWN/store.db-wal', 'rm $OWN/store.db-wal', ': > $OWN/store.db-wal']) {
    const s = await stage({ body: `echo ran >> $LOG; ${body}; echo done` });
    await t(body, () => answering(s, 'y'));
    await t('after', () => alone(s, ['check', s.id, s.hash]));
    await t('after', () => alone(s, ['status']));
  }
});
