import { readFileSync } from 'node:fs';
import * as z from 'zod';
import { parseJson } from '../canonical/json.ts';
import { replaceDurably } from '../durable/file.ts';
import { Refusal } from '../refusal.ts';
import type { Layout } from './layout.ts';

const schema = z.record(z.string(), z.iso.datetime({ precision: 3 }));

/** When each token was used last, by its id. A file that cannot be read tells of none: it decides nothing. */
export function readTokenUses({ token_uses }: Pick<Layout, 'token_uses'>): Map<string, string> {
  try {
    const parsed = schema.safeParse(parseJson(readFileSync(token_uses)));
    return new Map(Object.entries(parsed.data ?? {}));
  } catch (error) {
    if (error instanceof Refusal || (error as NodeJS.ErrnoException).code !== undefined) return new Map();
    throw error;
  }
}

/** Uses within a minute of the last one that was kept are not kept. */
const KEEP_MS = 60_000;

export interface TokenUses {
  used(token_id: string, at: Date): void;
}

/** For the one service that keeps them. */
export function keepTokenUses(layout: Pick<Layout, 'token_uses'>): TokenUses {
  const uses = readTokenUses(layout);
  return {
    used: (token_id, at) => {
      const last = uses.get(token_id);
      if (last !== undefined && at.getTime() - Date.parse(last) < KEEP_MS) return;
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
