import * as z from 'zod';
import { canonicalText, parseJson } from '../canonical/json.ts';
import { readRegularFile } from '../durable/beneath.ts';
import { replaceDurably } from '../durable/file.ts';
import { limits } from '../limits.ts';
import { Refusal } from '../refusal.ts';
import type { ServiceState } from '../store/store.ts';
import type { Layout } from './layout.ts';

const position = z.strictObject({
  /** The next entry to tell of. */
  seq: z.int().min(0),
  /** What was due up to then has been told. */
  until: z.iso.datetime({ precision: 3 }),
  /** The runs in doubt that were told of, for as long as they are. */
  doubts: z.array(z.string()),
  /** The digest of a target that answered that it is gone; null while it is told. */
  gone: z.string().nullable(),
});

const fileSchema = z.strictObject({
  format: z.literal('keyturn-notify/1'),
  targets: z.record(z.string(), position),
});

/** How far one target has been told. */
export type NotifyPosition = z.infer<typeof position>;

/** No queue: the ledger is what is told, and this is how far. A file that is lost or damaged begins at the end of the ledger. */
export interface NotifyPositions {
  get(target: string): Promise<NotifyPosition | null>;
  set(target: string, position: NotifyPosition): Promise<void>;
}

/** In a file, for a store whose only service this is; otherwise where all services of the ledger read it. */
export function notifyPositions(layout: Layout, shared: ServiceState | undefined): NotifyPositions {
  return shared ? sharedPositions(shared) : positionsInFile(layout);
}

function sharedPositions(state: ServiceState): NotifyPositions {
  return {
    get: async (target) => {
      const text = await state.get('notify-position', target);
      return text === null ? null : (position.safeParse(JSON.parse(text)).data ?? null);
    },
    set: (target, one) =>
      state.put(
        'notify-position',
        { key: target, value: JSON.stringify(one), ttl_ms: limits.shared_row_ms },
        limits.shared_rows,
      ),
  };
}

function positionsInFile({ notify_file: path }: Layout): NotifyPositions {
  const known = new Map(Object.entries(read(path)));
  return {
    get: async (target) => known.get(target) ?? null,
    set: async (target, position) => {
      known.set(target, position);
      const file = { format: 'keyturn-notify/1', targets: Object.fromEntries(known) };
      replaceDurably(path, Buffer.from(`${canonicalText(file)}\n`));
    },
  };
}

function read(path: string): Record<string, NotifyPosition> {
  try {
    const parsed = fileSchema.safeParse(parseJson(readRegularFile(path, limits.json_bytes).bytes));
    return parsed.success ? parsed.data.targets : {};
  } catch (error) {
    if (error instanceof Refusal) return {};
    throw error;
  }
}
