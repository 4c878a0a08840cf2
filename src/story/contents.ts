import type { Digest } from '../canonical/digest.ts';
import { parseEvent } from '../event/event.ts';
import { disclosedBy, ObjectRecord } from '../gate/objects.ts';
import type { Entry } from '../ledger/entry.ts';
import type { Contents } from '../ledger/export.ts';
import type { ExportedObject } from '../ledger/object.ts';
import { refuse } from '../refusal.ts';

/**
 * Whether a file holds the objects that its entries name, and no others. All entries come first. `subject` narrows it to
 * what the entries about one subject name. Memory grows with the number of objects, not with their bytes, and not at all where
 * the file has none.
 */
export function requireContents(subject: string | null = null): Contents {
  const record = new ObjectRecord();
  let expected: Set<Digest> | null = null;
  let has_objects = true;
  let may_lack = false;
  const left = () => {
    expected ??= new Set(record.named());
    return expected;
  };
  return {
    begin: (objects, is_part) => {
      has_objects = objects;
      // The entry that removed it may stand in a later segment.
      may_lack = is_part;
    },
    entry: (entry: Entry) => {
      if (!has_objects) return;
      const event = parseEvent(entry);
      record.removes(event, entry.seq);
      if (subject !== null && entry.subject !== subject) return;
      for (const digest of disclosedBy(event)) record.names(digest, entry.seq);
    },
    object: ({ digest, bytes }: ExportedObject) => {
      if (!left().delete(digest))
        refuse('OBJECT_UNEXPECTED', `No entry names the object ${digest}.`, { digest });
      const must = record.mustBeStored(digest);
      if (bytes === null && must && !may_lack)
        refuse('OBJECT_MISSING', `No entry says that the object ${digest} was removed.`, { digest });
      if (bytes !== null && !must)
        refuse('OBJECT_UNEXPECTED', `An entry says that the object ${digest} was removed.`, { digest });
    },
    finish: () => {
      const [digest] = left();
      if (digest !== undefined)
        refuse('OBJECT_MISSING', `The file lacks ${left().size} objects that entries name.`, {
          missing: left().size,
          first: digest,
        });
    },
  };
}
