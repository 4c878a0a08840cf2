import * as z from 'zod';

/**
 * zod compiles each schema at its first use. For the dozen documents that a command reads this takes four times as long as to check
 * them, and a hundred thousand are not checked sooner. Said before the first schema is made, so before a command is loaded.
 */
export function interpretSchemas(): void {
  z.config({ jitless: true });
}
