import { DIGEST_FORM, NAME_FORM, UUID_FORM } from '../canonical/form.ts';

const OF_SYSTEM = /^system$/;

/**
 * What a fact is about, by the first word of its kind. A reader finds what holds for all intents, and what is about one of them, by the
 * subject: a freeze that a human signed about something else would hold, and be in no proof.
 */
export const SUBJECT_FORMS = {
  system: OF_SYSTEM,
  control_key: OF_SYSTEM,
  executor: OF_SYSTEM,
  policy: OF_SYSTEM,
  head: OF_SYSTEM,
  clock: OF_SYSTEM,
  ledger: OF_SYSTEM,
  slo: OF_SYSTEM,
  key: NAME_FORM,
  credential: NAME_FORM,
  token: NAME_FORM,
  role: NAME_FORM,
  delegation: UUID_FORM,
  intent: UUID_FORM,
  approval: UUID_FORM,
  order: UUID_FORM,
  capability: UUID_FORM,
  break_glass: UUID_FORM,
  execution: UUID_FORM,
  violation: UUID_FORM,
  retry: UUID_FORM,
  rollback: UUID_FORM,
  backups: UUID_FORM,
  object: DIGEST_FORM,
  call: /^client:/,
  mcp: /^(mcp|shadow):/,
  agent: /^agent:/,
  simulation: /^simulation:/,
  intake: /^intake:/,
} as const;
