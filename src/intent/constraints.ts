import { z } from 'zod';
import { refuse } from '../refusal.ts';
import type { Envelope } from './envelope.ts';

/** The limits that Keyturn holds an effect to. Any other would be a promise that nobody keeps. */
const limitsSchema = z.strictObject({
  max_runtime_s: z.number().positive().optional(),
  max_files: z.int().min(0).optional(),
  network: z.boolean().optional(),
});

/** What the effect does, as far as an intent can bound it. */
export interface Extent {
  readonly action: string;
  readonly network: boolean;
  readonly runtime_s: number;
  /** How many files a plan touches; null where nobody can tell. */
  readonly files: number | null;
}

/**
 * F6: what an intent says about its own bounds must be clear. A limit that is not known or cannot be held is not passed
 * over and not guessed at: whoever wrote it meant something. Scope and prohibitions in prose are for the human and for
 * policies; a prohibition that names the action is literal.
 */
export function requireConstraints({ limits, prohibitions }: Envelope['constraints'], extent: Extent): void {
  const parsed = limitsSchema.safeParse(limits);
  if (!parsed.success) {
    const { path, message, ...issue } = parsed.error.issues[0]!;
    const named = 'keys' in issue ? (issue.keys as string[]).join(', ') : path.join('.');
    refuse('CLARIFICATION_NEEDED', `The limit "${named}" of the intent is not clear: ${message}.`);
  }
  const { max_runtime_s, max_files, network } = parsed.data;
  if (prohibitions.includes(extent.action))
    refuse('ACTION_PROHIBITED', `The intent prohibits "${extent.action}" and asks for it.`);
  if (network === false && extent.network)
    refuse('ACTION_PROHIBITED', 'The intent allows no network, and the effect has it.');
  if (max_runtime_s !== undefined && extent.runtime_s > max_runtime_s)
    refuse(
      'ACTION_PROHIBITED',
      `The effect may take ${extent.runtime_s} s; the intent allows ${max_runtime_s}.`,
    );
  if (max_files === undefined) return;
  if (extent.files === null)
    refuse('CLARIFICATION_NEEDED', 'Nobody can tell how many files a tool touches: max_files is for plans.');
  if (extent.files > max_files)
    refuse('ACTION_PROHIBITED', `The plan touches ${extent.files} files; the intent allows ${max_files}.`);
}
