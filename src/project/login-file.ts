import { existsSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod';
import { sha256 } from '../canonical/digest.ts';
import { FINGERPRINT_FORM } from '../canonical/form.ts';
import { canonicalText, parseJson } from '../canonical/json.ts';
import { readRegularFile } from '../durable/beneath.ts';
import { removeDurably, replaceDurably } from '../durable/file.ts';
import { fieldLimits, limits } from '../limits.ts';
import { refuse } from '../refusal.ts';

/**
 * `~/.config/keyturn/SERVICE.json`: who this account is at one service, and which ledger that service has. No file holds a passphrase or
 * an open key of a human. The secrets of a session only read.
 */
const login = z.strictObject({
  format: z.literal('keyturn-login/1'),
  service: z.string().max(fieldLimits.address_chars),
  /** The name of the ledger: no signature is given for another one. */
  ledger: z.string().min(1).max(fieldLimits.host_chars),
  /** The fingerprint of the key that signs its heads; null for an agent, who reads no head. */
  ledger_key: z.string().regex(FINGERPRINT_FORM).nullable(),
  name: z.string().min(1).max(limits.name_chars),
  key_file: z.string().max(fieldLimits.path_chars),
  /** Null for an agent: its key signs each request. */
  session: z
    .strictObject({
      cookie: z.string().max(fieldLimits.address_chars),
      page: z.string().max(fieldLimits.address_chars),
      expires_at: z.string().max(fieldLimits.version_chars),
    })
    .nullable(),
});

export type RemoteLogin = Omit<z.infer<typeof login>, 'format'>;

/** Null where this account has none at this service. */
export function readLogin(service: string): RemoteLogin | null {
  const path = pathOf(service);
  if (!existsSync(path)) return null;
  const { bytes, mode } = readRegularFile(path, limits.entry_bytes);
  if ((mode & 0o077) !== 0) refuse('LOGIN_MISSING', `${path} can be read by others. Remove it.`);
  const parsed = login.safeParse(parseJson(bytes, limits.entry_bytes));
  if (!parsed.success || parsed.data.service !== service)
    return refuse('LOGIN_MISSING', `${path} is damaged. Remove it.`);
  const { format: _, ...found } = parsed.data;
  return found;
}

export function keepLogin(kept: RemoteLogin): void {
  mkdirSync(folder(), { recursive: true, mode: 0o700 });
  const text = `${canonicalText({ format: 'keyturn-login/1', ...kept })}\n`;
  replaceDurably(pathOf(kept.service), Buffer.from(text), 0o600);
}

export function removeLogin(service: string): void {
  removeDurably(pathOf(service));
}

function folder(): string {
  const { XDG_CONFIG_HOME: config } = process.env;
  return join(config?.startsWith('/') ? config : join(homedir(), '.config'), 'keyturn');
}

function pathOf(service: string): string {
  return join(folder(), `${sha256(service).slice(0, 16)}.json`);
}
