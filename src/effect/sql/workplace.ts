import { closeSync } from 'node:fs';
import { closePlace, openPlace, type Place } from '../../durable/beneath-write.ts';
import { type OpenFile, openFile } from './database.ts';
import type { Hold } from './hold.ts';
import type { SqlRequest } from './request.ts';
import { makeStage, type Stage } from './stage.ts';

/** What is open during one run, closed in reverse. */
export class Workplace {
  readonly #closers: (() => Promise<void> | void)[] = [];

  place(root: string, relative: string): Place {
    const place = openPlace(root, relative);
    this.#closers.push(() => closePlace(place));
    return place;
  }

  file(place: Place): OpenFile | null {
    const file = openFile(place);
    if (file !== null) this.#closers.push(() => closeSync(file.fd));
    return file;
  }

  stage({ root, stageName }: SqlRequest, path: string): Stage {
    const stage = makeStage(root, path, stageName?.(path));
    this.#closers.push(() => stage.remove());
    return stage;
  }

  hold(hold: Hold): Hold {
    this.#closers.push(() => hold.release());
    return hold;
  }

  async close(): Promise<void> {
    for (const close of this.#closers.reverse()) await close();
  }
}
