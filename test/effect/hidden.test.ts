import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { hiddenFinder } from '../../src/effect/hidden.ts';
import { expectRefusal } from '../support/refusal.ts';
import { scratch } from '../support/scratch.ts';

/** Root searches everything, so as root the act is done by another user. */
function asNobody<T>(act: () => T): T {
  if (process.geteuid!() !== 0) return act();
  process.seteuid!(65534);
  try {
    return act();
  } finally {
    process.seteuid!(0);
  }
}

describe('the projects beneath a bind', () => {
  it('a folder that can be entered but not searched is refused, a closed one holds nothing', async () => {
    const folder = scratch();
    const keys = join(folder, 'team/other/.keyturn/keys');
    mkdirSync(keys, { recursive: true });
    writeFileSync(join(keys, 'ledger.seed'), 'secret');
    chmodSync(join(folder, 'team'), 0o311);
    await expectRefusal('FILE_UNREADABLE', () => asNobody(() => hiddenFinder()([folder])));
    for (const closed of [0o000, 0o444]) {
      chmodSync(join(folder, 'team'), closed);
      expect(asNobody(() => hiddenFinder()([folder]))).toEqual([]);
    }
    chmodSync(join(folder, 'team'), 0o755);
  });
});
