import { readFileSync } from 'node:fs';
import * as z from 'zod';
import { parseJson } from '../canonical/json.ts';
import { replaceDurably } from '../durable/file.ts';
import { limits } from '../limits.ts';
import { Refusal } from '../refusal.ts';
import type { Beats } from '../store/store.ts';
import type { Layout } from './layout.ts';

const time = z.iso.datetime({ precision: 3 });
const schema = z.record(
  z.string(),
  z.strictObject({ instance: z.string(), since: time, at: time, is_running: z.boolean() }),
);

/** For a store that is a file, which only this host has: in a file beside it. A beat in the store would make every reader of it look again. */
export function beatFile({ beat_file: path }: Pick<Layout, 'beat_file'>): Beats {
  return {
    beat: async ({ executor, instance, is_running }) => {
      const known = read(path);
      const at = new Date().toISOString();
      const before = known[executor];
      const since = before?.instance === instance ? before.since : at;
      const said = { ...known, [executor]: { instance, since, at, is_running } };
      replaceDurably(path, Buffer.from(JSON.stringify(said)));
    },
    heard: async () =>
      Object.entries(read(path)).map(([executor, { since, at, is_running }]) => ({
        executor,
        since,
        at,
        is_running: is_running && Date.now() - Date.parse(at) < limits.beat_missed_ms,
      })),
  };
}

/** A file that cannot be read counts as empty: no decision rests on it. */
function read(path: string): z.infer<typeof schema> {
  try {
    return schema.safeParse(parseJson(readFileSync(path))).data ?? {};
  } catch (error) {
    if (error instanceof Refusal || (error as NodeJS.ErrnoException).code !== undefined) return {};
    throw error;
  }
}
