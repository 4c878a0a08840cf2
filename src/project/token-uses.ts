import { readFileSync } from 'node:fs';
import * as z from 'zod';
import { parseJson } from '../canonical/json.ts';
import { replaceDurably } from '../durable/file.ts';
import { limits } from '../limits.ts';
import { Refusal } from '../refusal.ts';
import type { ServiceState } from '../store/store.ts';
import type { Layout } from './layout.ts';

const schema = z.record(z.string(), z.iso.datetime({ precision: 3 }));

/** When each token was used last, by its id. A file that cannot be read tells of none: it decides nothing. */
function readTokenUses({ token_uses }: Pick<Layout, 'token_uses'>): Map<string, string> {
  try {
    const parsed = schema.safeParse(parseJson(readFileSync(token_uses)));
    return new Map(Object.entries(parsed.data ?? {}));
  } catch (error) {
    if (error instanceof Refusal || (error as NodeJS.ErrnoException).code !== undefined) return new Map();
    throw error;
  }
}

export interface TokenUses {
  used(token_id: string, at: Date): void;
}

/** Where several services keep them, each tells the others. */
export function sharedTokenUses(state: ServiceState): TokenUses {
  const uses = new Map<string, number>();
  return {
    used: (token_id, at) => {
      if (at.getTime() - (uses.get(token_id) ?? Number.NEGATIVE_INFINITY) < limits.token_use_ms) return;
      uses.set(token_id, at.getTime());
      const row = { key: token_id, value: at.toISOString(), ttl_ms: limits.shared_row_ms };
      // A store that is out of reach refuses no caller for this.
      void state.put('token-use', row, limits.shared_rows).catch(() => uses.delete(token_id));
    },
  };
}

/** When each token was used last, at any service of the ledger. */
export async function tokenUses(
  layout: Layout,
  shared: ServiceState | undefined,
): Promise<Map<string, string>> {
  if (!shared) return readTokenUses(layout);
  return new Map((await shared.list('token-use')).map(({ key, value }) => [key, value]));
}

/** For the one service that keeps them. */
export function keepTokenUses(layout: Pick<Layout, 'token_uses'>): TokenUses {
  const uses = readTokenUses(layout);
  return {
    used: (token_id, at) => {
      const last = uses.get(token_id);
      if (last !== undefined && at.getTime() - Date.parse(last) < limits.token_use_ms) return;
      uses.set(token_id, at.toISOString());
      try {
        replaceDurably(layout.token_uses, Buffer.from(JSON.stringify(Object.fromEntries(uses))));
      } catch (error) {
        // A disk that is full refuses no caller for this.
        if (!(error instanceof Refusal)) throw error;
      }
    },
  };
}
