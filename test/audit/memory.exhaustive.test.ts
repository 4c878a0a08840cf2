import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { auditEntries } from '../../src/audit/ledger.ts';
import type { SealedEntry } from '../../src/ledger/entry.ts';
import { longLedger, SHAPE_NAMES, type Shape } from './long-ledger.ts';

/** `npm run soak -- audit` verifies a million. */
const ENTRIES = Number(process.env.KEYTURN_SOAK_ENTRIES ?? 50_000);
const A_TWENTIETH = 50_000;
const A_FIFTIETH = 20_000;
const SAMPLES = 10;
const MB = 1024 * 1024;

setFlagsFromString('--expose-gc');
const gc = runInNewContext('gc') as () => void;

/** Bytes that are still held: objects, and the memory of typed arrays. Buffers are given back a moment after a collection. */
async function held(): Promise<number> {
  for (let i = 0; i < 3; i++) {
    gc();
    await new Promise((done) => setImmediate(done));
  }
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

class Watch {
  readonly samples: { readonly entries: number; readonly bytes: number }[] = [];

  async *over(size: number, shape?: Shape): AsyncGenerator<SealedEntry[]> {
    let [entries, next] = [0, size / SAMPLES];
    for await (const batch of longLedger(size, [], shape)) {
      yield batch;
      entries += batch.length;
      if (entries < next) continue;
      this.samples.push({ entries, bytes: await held() });
      next += size / SAMPLES;
    }
  }

  /** From the first sample to the last, for each entry between them. */
  get bytes_per_entry(): number {
    const [first, last] = [this.samples[0]!, this.samples.at(-1)!];
    return (last.bytes - first.bytes) / (last.entries - first.entries);
  }

  print(name: string): void {
    for (const { entries, bytes } of this.samples)
      console.info(`${name}: ${entries} entries, ${(bytes / MB).toFixed(1)} MB held`);
    console.info(`${name}: ${this.bytes_per_entry.toFixed(1)} bytes more for each entry`);
  }
}

describe('a deep verification', () => {
  it.each(SHAPE_NAMES.filter((shape) => shape !== 'mixed'))(
    'of intents or conversations that are all %s holds only ids of them',
    async (shape) => {
      const watch = new Watch();
      await auditEntries(() => watch.over(A_FIFTIETH, shape));
      watch.print(shape);
      // What it holds of them otherwise is 800 bytes and more; of so few entries, a megabyte that is not collected yet is 50.
      expect(watch.bytes_per_entry).toBeLessThan(200);
    },
    240_000,
  );

  it(`of ${ENTRIES} entries holds only ids of what is over`, async () => {
    const watch = new Watch();
    const began = performance.now();
    const { size } = await auditEntries(() => watch.over(ENTRIES));
    watch.print('forgetting');
    const seconds = (performance.now() - began) / 1000;
    const peak = process.resourceUsage().maxRSS / 1024;
    console.info(
      `${size} entries in ${seconds.toFixed(0)} s with their making, ${peak.toFixed(0)} MB at most`,
    );
    expect(size).toBe(ENTRIES);
    // Six ids for each intent of five entries, 11 to 21 bytes for each of them, in tables that double: at this size a step more or less.
    expect(watch.bytes_per_entry).toBeLessThan(64);
  });

  it('that cannot read again holds all that the ledger says', async () => {
    const watch = new Watch();
    await auditEntries(watch.over(A_TWENTIETH));
    watch.print('keeping all');
    expect(watch.bytes_per_entry).toBeGreaterThan(400);
  });
});
