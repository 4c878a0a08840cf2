import { lstatSync, mkdirSync, readdirSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { sha256 } from '../canonical/digest.ts';
import { type JsonObject, parseJson } from '../canonical/json.ts';
import { readRegularFile } from '../durable/beneath.ts';
import { replaceDurably } from '../durable/file.ts';
import type { PartialAnswers } from '../journey/partial-answers.ts';
import { limits, mcpLimits } from '../limits.ts';
import { Refusal } from '../refusal.ts';
import type { ServiceState } from '../store/store.ts';

const keptSchema = z.strictObject({ question: z.string(), answer: z.looseObject({}) });

/** Where all gates of a ledger read them; in files for a store that only this host has. */
export function partialAnswers(folder: string, shared: ServiceState | null): PartialAnswers {
  return shared ? sharedAnswers(shared) : answersInFiles(folder);
}

const KIND = 'mcp-answer';

function sharedAnswers(state: ServiceState): PartialAnswers {
  const { answers_kept: most, answer_kept_ms: ttl_ms } = mcpLimits;
  const rows = (intent_id: string) => state.list(KIND, intent_id);
  return {
    of: async (intent_id) => answersIn((await rows(intent_id)).map(({ value }) => value)),
    add: async (intent_id, answers) => {
      for (const { key, value } of keptOf(intent_id, answers))
        await state.put(KIND, { key, value, ttl_ms }, most);
    },
    drop: async (intent_id) => {
      for (const { key } of await rows(intent_id)) await state.take(KIND, key);
    },
  };
}

/** One file for each answer: several gates of a host write at once. */
function answersInFiles(folder: string): PartialAnswers {
  const named = (beginning: string) => kept(folder).filter(({ name }) => name.startsWith(beginning));
  return {
    of: async (intent_id) =>
      answersIn(named(intent_id).flatMap(({ name, is_over }) => (is_over ? [] : textOf(join(folder, name))))),
    add: async (intent_id, answers) => {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      for (const { key, value } of keptOf(intent_id, answers))
        replaceDurably(join(folder, key), Buffer.from(value));
      const all = kept(folder);
      const live = all.filter(({ is_over }) => !is_over).slice(-mcpLimits.answers_kept);
      for (const one of all) if (!live.includes(one)) remove(join(folder, one.name));
    },
    drop: async (intent_id) => {
      for (const { name } of named(intent_id)) remove(join(folder, name));
    },
  };
}

function keptOf(intent_id: string, answers: JsonObject) {
  return Object.entries(answers).map(([question, answer]) => ({
    key: `${intent_id}.${sha256(question)}`,
    value: JSON.stringify({ question, answer }),
  }));
}

/** What cannot be read is no answer: the client is asked again. */
function answersIn(texts: readonly string[]): JsonObject {
  const found = texts.flatMap((text) => keptSchema.safeParse(jsonIn(text)).data ?? []);
  return Object.fromEntries(found.map(({ question, answer }) => [question, answer as JsonObject]));
}

function jsonIn(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    if (error instanceof Refusal) return null;
    throw error;
  }
}

const NAME = /^[0-9a-f-]{36}\.[0-9a-f]{64}$/;

/** The oldest first. A file that another process has just removed is not there. */
function kept(folder: string) {
  const now = Date.now();
  return namesIn(folder)
    .flatMap((name) => {
      const found = lstatSync(join(folder, name), { throwIfNoEntry: false });
      return found
        ? [{ name, at: found.mtimeMs, is_over: now - found.mtimeMs > mcpLimits.answer_kept_ms }]
        : [];
    })
    .sort((a, b) => a.at - b.at);
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => NAME.test(name));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

function textOf(path: string): string[] {
  try {
    return [Buffer.from(readRegularFile(path, limits.json_bytes).bytes).toString('utf8')];
  } catch (error) {
    if (error instanceof Refusal) return [];
    throw error;
  }
}

function remove(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}
