import * as z from 'zod';
import { once } from '../canonical/once.ts';
import { archive } from '../journey/archive.ts';
import * as auditing from '../journey/audit.ts';
import { entriesSince, listEntries } from '../journey/entries.ts';
import { erase } from '../journey/erase.ts';
import { explainErase } from '../journey/erasure.ts';
import { acceptHead } from '../journey/head.ts';
import { openDecision, recordSchema } from '../policy/replay.ts';
import { readLedgerKey } from '../project/keys.ts';
import { headPlaces, keptHeads } from '../project/open.ts';
import { askedHash, askedId, digest, fingerprint, id, page, pageEnd, why } from './parts.ts';
import { erasure, toldEntry } from './told.ts';
import { act, here, nothing, read, write } from './verb.ts';

const asked = once(() =>
  z.strictObject({
    /** Texts of heads that the caller kept. */
    kept: z.array(z.string()).readonly().optional(),
    /** The fingerprint of the ledger key that the owner of the ledger told. */
    key: z.string().optional(),
    /** Every signature, too. */
    deep: z.boolean().default(false),
  }),
);
const state = { size: z.int(), root: digest };
const checked = { kept_heads: z.int(), deep: z.boolean() };

/** What was verified: the ledger here, or a file. */
export const verified = once(() =>
  z
    .strictObject({
      what: z.enum(['ledger', 'export', 'archive', 'proof']),
      /** The first entry; 0 but for an archive. */
      from: z.int(),
      ...state,
      key: fingerprint,
      key_confirmed: z.boolean(),
      ...checked,
      /** `null` for the ledger itself, and when the file was written without objects. */
      objects: z.strictObject({ stored: z.int(), erased: z.int() }).readonly().nullable(),
    })
    .meta({ id: 'verified' }),
);

/** What happened, provably. */
export const ledger = {
  entries: read({
    open_to: 'people',
    about:
      'List what happened, newest first, in pages. An entry holds no goal, only its digest: text is searched in the other lists.',
    input: () =>
      z.strictObject({
        /** Such as `approval.granted`. */
        kind: z.string().optional(),
        /** An intent, a name, a digest, `agent:…`, `simulation:…`, or `system`. */
        subject: z.string().optional(),
        /** The name of the human or agent whose key signed it. */
        signer: z.string().optional(),
        ...page,
        with_decisions: z.boolean().optional(),
      }),
    output: () =>
      z.strictObject({
        entries: z.array(toldEntry()).readonly(),
        ...pageEnd,
      }),
    run: ({ context }, request) => listEntries(context, request),
  }),

  since: read({
    open_to: 'people',
    refuses: ['WAIT_OVER'],
    about:
      'What happened from one entry on, oldest first. Where that entry is not there yet, it waits for it.',
    input: () => z.strictObject({ /** The number of the first entry. */ from: z.int().nonnegative() }),
    output: () =>
      z.strictObject({
        /** At least one, and not always all. */
        entries: z.array(toldEntry()).readonly(),
        /** Where to go on. */
        next: z.int(),
      }),
    here: here<{ readonly signal?: AbortSignal | undefined }>('signal'),
    run: ({ context }, { from, signal }) => entriesSince(context, from, signal),
  }),

  head: read({
    open_to: 'people',
    about:
      'The signed state of the ledger. Who keeps it can tell later whether history was cut or rewritten.',
    input: nothing,
    output: () =>
      z.strictObject({
        origin: z.string(),
        ...state,
        /** Of the key that signed it. */
        key: fingerprint,
        /** That key itself, as a verifier key of C2SP. */
        verifier: z.string(),
        text: z.string(),
      }),
    run: async ({ context, layout }) => {
      const { fingerprint: key, ...head } = await auditing.head(context, readLedgerKey(layout));
      return { ...head, key };
    },
  }),

  acceptHead: act({
    open_to: 'people',
    about: 'A human accepts the ledger as it is, although the kept head knows more entries.',
    input: () => z.strictObject({ reason: z.string() }),
    output: () =>
      z.strictObject({
        entries: z.int(),
        /** How many entries the longest kept head knew; `null` when none could be read. */
        kept_size: z.int().nullable(),
        /** Something may be forgotten: everything is frozen, and no intent that was proposed before runs. */
        forgets: z.boolean(),
        ...why,
      }),
    run: async ({ context, layout, config }, request) => {
      const kept = await keptHeads(headPlaces(layout, config), context.origin, context.store);
      const { body } = await acceptHead(context, { ...request, ...kept });
      return { entries: body.seq, ...kept, by: body.by, reason: body.reason };
    },
  }),

  archive: act({
    open_to: 'people',
    about:
      'Write the oldest entries that are not archived yet to a file of this host, with their objects, and record it.',
    input: () => z.strictObject({ older_than_s: z.number().nonnegative(), reason: z.string() }),
    output: () =>
      z.strictObject({
        file: z.string(),
        sha256: digest,
        bytes: z.int(),
        /** The entries from `from` up to `to`, without it. */
        from: z.int(),
        to: z.int(),
        key: fingerprint,
        ...why,
      }),
    // A path of this host: no caller from elsewhere may choose one.
    here: here<{ readonly out: string }>('out'),
    run: async ({ context, layout }, request) => {
      const pair = readLedgerKey(layout);
      const { body } = await archive(context, pair, request);
      const { from, to, sha256, bytes, by, reason } = body;
      const { fingerprint: key } = await auditing.head(context, pair);
      return { file: request.out, sha256, bytes, from, to, key, by, reason };
    },
  }),

  verify: read({
    open_to: 'people',
    refuses: ['HEAD_SIGNATURE_INVALID'],
    about: 'Hash every entry again, follow the chain, and compare its end with kept heads.',
    input: asked,
    output: verified,
    run: async ({ context, layout }, request) => {
      const { size, root } = await auditing.verify(context, request);
      const { fingerprint: key } = await auditing.head(context, readLedgerKey(layout));
      return {
        what: 'ledger' as const,
        ...{ from: 0, size, root, key },
        key_confirmed: request.key !== undefined,
        kept_heads: request.kept?.length ?? 0,
        deep: request.deep,
        objects: null,
      };
    },
  }),

  verifyStore: read({
    open_to: 'people',
    refuses: ['HEAD_SIGNATURE_INVALID'],
    about: 'The same, and that all that is stored beside the ledger follows from it.',
    input: asked,
    output: () =>
      z.strictObject({ store: z.string(), ...state, rows: z.int(), objects: z.int(), ...checked }),
    run: async ({ context, config }, request) => {
      const { verifyStore } = await import('../journey/store.ts');
      const { ledger, rows, objects } = await verifyStore(context, request);
      const { size, root } = ledger;
      const kept_heads = request.kept?.length ?? 0;
      return { store: config.store.name, size, root, rows, objects, kept_heads, deep: request.deep };
    },
  }),

  export: read({
    open_to: 'people',
    about: 'Write the whole ledger as JSON Lines.',
    input: () =>
      z.strictObject({
        /** Also the objects that the entries name, in the clear: goals, arguments, outputs. */
        with_objects: z.boolean().optional(),
      }),
    output: () => z.strictObject({ ...state, key: fingerprint }),
    // As long as the ledger: it flows through, and no answer holds it.
    here: here<{ readonly to: (chunks: AsyncIterable<Uint8Array>) => Promise<void> }>('to'),
    run: async ({ context, layout }, { to, ...options }) => {
      const { head, chunks } = await auditing.exportLedger(context, readLedgerKey(layout), options);
      await to(chunks);
      return { size: head.size, root: head.root, key: head.fingerprint };
    },
  }),

  prove: read({
    open_to: 'people',
    refuses: ['INTENT_NOT_FOUND', 'HEAD_SIGNATURE_INVALID'],
    about:
      'A small file that proves the story of one intent to an auditor who has only the fingerprint of the ledger key.',
    input: () =>
      z.strictObject({
        intent_id: askedId,
        /** The text of an earlier head, to show that the ledger only grew since. */
        kept: z.string().optional(),
        with_objects: z.boolean().optional(),
      }),
    output: () =>
      z.strictObject({ intent_id: id, key: fingerprint, /** The text of the file. */ bundle: z.string() }),
    run: async ({ context, layout }, { intent_id, ...options }) => {
      const pair = readLedgerKey(layout);
      const bundle = await auditing.prove(context, pair, intent_id, options);
      const { fingerprint: key } = await auditing.head(context, pair);
      return { intent_id, key, bundle: Buffer.from(bundle).toString('utf8') };
    },
  }),

  rebuild: write({
    open_to: 'people',
    about: 'Fold the ledger again and compare it with the stored state; with `write`, replace that.',
    input: () => z.strictObject({ write: z.boolean() }),
    output: () =>
      z.strictObject({
        entries: z.int(),
        rows: z.int(),
        /** The first few rows that differ. */
        differences: z.array(z.string()).readonly(),
        written: z.boolean(),
      }),
    run: async ({ context }, { write }) => ({ ...(await context.store.rebuild({ write })), written: write }),
  }),

  object: read({
    open_to: 'people',
    refuses: ['OBJECT_MISSING'],
    about: 'The bytes under a digest, checked against it.',
    input: () => z.strictObject({ digest: askedHash }),
    output: () => z.strictObject({ digest, bytes: z.int(), base64: z.base64() }),
    run: async ({ context }, { digest }) => {
      const bytes = await context.store.object(digest);
      return { digest, bytes: bytes.length, base64: Buffer.from(bytes).toString('base64') };
    },
  }),

  decision: read({
    open_to: 'people',
    refuses: ['OBJECT_MISSING'],
    about: 'A stored decision of the policies: the question, the answer, and which policies gave it.',
    input: () => z.strictObject({ digest: askedHash }),
    output: () => recordSchema,
    run: async ({ context }, { digest }) => openDecision(await context.store.object(digest)),
  }),

  explainErase: read({
    open_to: 'people',
    refuses: ['OBJECT_MISSING'],
    about: 'What erasing an object would take away.',
    input: () => z.strictObject({ digest: askedHash }),
    output: erasure,
    run: ({ context }, { digest }) => explainErase(context, digest),
  }),

  erase: act({
    open_to: 'people',
    about:
      'Remove the bytes of an object, and of those that hold the same words, for good. The ledger keeps their digests.',
    input: () =>
      z.strictObject({
        digest: askedHash,
        reason: z.string(),
        /** How many rest on it, as the explanation said. Needed where it is more than one. */
        holders: z.int().optional(),
        /** The executions and conversations whose undo is given up, as the explanation said. */
        undo: z.array(z.string()).readonly().optional(),
      }),
    output: () => z.strictObject({ digest, ...why }),
    run: async ({ context }, request) => {
      const { subject, body } = await erase(context, request);
      return { digest: subject, by: body.by, reason: body.reason };
    },
  }),
};
