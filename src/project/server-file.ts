import { readFileSync, statSync } from 'node:fs';
import { parseDocument } from 'yaml';
import { replaceDurably } from '../durable/file.ts';
import { describeIssue } from '../event/event.ts';
import { type ServerEntry, serverEntrySchema } from '../mcp-call/entry.ts';
import { refuse } from '../refusal.ts';
import { readConfig } from './config.ts';
import type { Layout } from './layout.ts';

/** Writes the entry of a server into keyturn.yaml. Comments and everything else stay. It starts nothing. */
export function configureServer(layout: Layout, server: string, entry: object): ServerEntry {
  const parsed = serverEntrySchema.safeParse(entry);
  if (!parsed.success) refuse('SHAPE_INVALID', `The server "${server}": ${describeIssue(parsed.error)}`);
  const before = readFileSync(layout.config);
  const document = parseDocument(before.toString('utf8'));
  document.setIn(['mcp', server], document.createNode(entry));
  const { mode } = statSync(layout.config);
  replaceDurably(layout.config, Buffer.from(document.toString()), mode & 0o777);
  try {
    readConfig(layout);
  } catch (error) {
    replaceDurably(layout.config, before, mode & 0o777);
    throw error;
  }
  return parsed.data;
}
