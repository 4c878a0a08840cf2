import type { Digest } from '../canonical/digest.ts';
import { parseEvent } from '../event/event.ts';
import { disclosedBy } from '../gate/objects.ts';
import type { Entry } from '../ledger/entry.ts';
import type { Contents } from '../ledger/export.ts';
import type { ExportedObject } from '../ledger/object.ts';
import { refuse } from '../refusal.ts';

/**
 * Whether a file holds the objects that its entries name, and no others. All entries come first. `subject` narrows it to
 * what the entries about one subject name. Memory grows with the number of objects, not with their bytes.
 */
export function requireContents(subject: string | null = null): Contents {
  const named = new Set<Digest>();
  const erased = new Set<Digest>();
  return {
    entry: (entry: Entry) => {
      if (entry.kind === 'object.erased') erased.add(entry.subject);
      if (subject !== null && entry.subject !== subject) return;
      for (const digest of disclosedBy(parseEvent(entry))) named.add(digest);
    },
    object: ({ digest, bytes }: ExportedObject) => {
      if (!named.delete(digest))
        refuse('OBJECT_UNEXPECTED', `No entry names the object ${digest}.`, { digest });
      if (bytes === null && !erased.has(digest))
        refuse('OBJECT_MISSING', `No entry says that the object ${digest} was erased.`, { digest });
      if (bytes !== null && erased.has(digest))
        refuse('OBJECT_UNEXPECTED', `An entry says that the object ${digest} was erased.`, { digest });
    },
    finish: () => {
      const [digest] = named;
      if (digest !== undefined)
        refuse('OBJECT_MISSING', `The file lacks ${named.size} objects that entries name.`, {
          missing: named.size,
          first: digest,
        });
    },
  };
}
