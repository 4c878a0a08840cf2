import * as z from 'zod';
import { once } from '../canonical/once.ts';
import { comparePolicyFiles } from '../journey/policy-files.ts';
import { limits } from '../limits.ts';
import { digest, name, time } from './parts.ts';
import { shown } from './shown.ts';
import { act, nothing, read } from './verb.ts';

const scope = z.string();
const decision = once(() =>
  z
    .strictObject({
      allowed: z.boolean(),
      code: z.enum(['POLICY_DENIED', 'POLICY_NO_PERMIT', 'POLICY_ERROR']).nullable(),
      /** Which policies decided. */
      policies: z
        .array(
          z.strictObject({ id: z.string(), version: z.string(), scope, rationale: z.string() }).readonly(),
        )
        .readonly(),
      words: z.string(),
    })
    .readonly()
    .meta({ id: 'decision' }),
);
const policySource = once(() =>
  z
    .strictObject({
      files: z.array(z.strictObject({ name: z.string(), text: z.string() }).readonly()).readonly(),
      quorums: z.string().nullable(),
      tests: z.string().nullable(),
    })
    .readonly(),
);

// Cedar is large, so it is loaded where it is needed.
const load = () => import('../journey/policy.ts');

/** The rules. Decisions are made by the ones that a human activated, not by the files. */
export const policies = {
  check: read({
    open_to: 'people',
    refuses: ['FILE_IS_SYMLINK'],
    about: 'What is wrong with the files in policies/, and what is odd about them.',
    input: nothing,
    output: () =>
      z.strictObject({
        problems: z.array(
          z
            .strictObject({
              file: z.string(),
              line: z.int(),
              policy: z.string().nullable(),
              message: z.string(),
              severity: z.enum(['error', 'warning']),
            })
            .readonly(),
        ),
      }),
    run: async ({ context }) => ({ problems: await (await load()).checkPolicies(context) }),
  }),

  test: read({
    open_to: 'people',
    refuses: ['FILE_IS_SYMLINK'],
    about: 'Ask the files in policies/ every question of policies/tests.yaml.',
    input: nothing,
    output: () =>
      z.strictObject({
        tests: z.array(
          z
            .strictObject({
              name: z.string(),
              expected: z.strictObject({ allowed: z.boolean(), by: z.string().nullable() }).readonly(),
              got: decision(),
              passed: z.boolean(),
            })
            .readonly(),
        ),
      }),
    run: async ({ context }) => ({ tests: await (await load()).testPolicies(context) }),
  }),

  files: read({
    open_to: 'people',
    about: 'Whether the files in policies/ are the ones that decide.',
    input: nothing,
    output: () =>
      z.strictObject({
        active: digest.nullable(),
        /** The snapshot that the files would be; null when they cannot be read. */
        files: digest.nullable(),
        same: z.boolean(),
        /** What a person should know; null while they are the same. */
        words: z.string().nullable(),
      }),
    run: ({ context }) => comparePolicyFiles(context),
  }),

  diff: read({
    open_to: 'people',
    refuses: ['FILE_IS_SYMLINK'],
    about: 'What would change if the files in policies/ were activated: texts, and recent decisions.',
    input: () =>
      z.strictObject({ /** So many entries back. */ recent: z.int().min(0).default(limits.asked_again) }),
    output: () =>
      z.strictObject({
        active: digest.nullable(),
        files: digest,
        /** The texts that `files` is the digest of: a screen that draws the difference compares it with them. */
        source: policySource(),
        /** Those of `active`. */
        active_source: policySource().nullable(),
        added: z.array(z.string()).readonly(),
        removed: z.array(z.string()).readonly(),
        changed: z.array(z.string()).readonly(),
        /** Every text that differs: policies, quorums and tests. */
        shown,
        asked: z.int(),
        decisions: z.array(
          z.strictObject({
            subject: z.string(),
            at: time,
            action: z.string(),
            principal: z.string(),
            /** What the active policies say to the same question now. */
            before: decision(),
            after: decision(),
          }),
        ),
      }),
    run: async ({ context }, { recent }) => {
      const { decisions, ...found } = await (await load()).diffPolicies(context, recent);
      return {
        ...found,
        decisions: decisions.map(({ record, before, after, subject, at }) => ({
          subject,
          at,
          action: record.request.action,
          principal: record.request.principal.name,
          before,
          after,
        })),
      };
    },
  }),

  activate: act({
    open_to: 'people',
    about: 'Make the files in policies/ the rules from now on. Their table of tests must hold.',
    input: () =>
      z.strictObject({
        reason: z.string(),
        /** What the human was shown: other files than these are not activated. */
        snapshot: z.string().optional(),
        /** What was active when the human was shown the difference: if it no longer is, nothing is activated. */
        replaces: z.string().nullable().optional(),
      }),
    output: () =>
      z.strictObject({
        snapshot: digest,
        /** How many there are. */
        policies: z.int(),
        by: name,
        reason: z.string(),
      }),
    run: async ({ context }, request) => {
      const { body } = await (await load()).activatePolicies(context, request);
      const { snapshot, policies, by, reason } = body;
      return { snapshot, policies, by, reason };
    },
  }),
};
