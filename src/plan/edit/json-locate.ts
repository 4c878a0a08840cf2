import type { Step } from './document-path.ts';
import { type JsonVisitor, scanJson } from './json-scan.ts';

export interface Member {
  readonly name: string;
  readonly key_start: number;
  readonly key_end: number;
  value_start: number;
  value_end: number;
  /** The comma after it, or -1. */
  comma: number;
}

/** An object or array on the way: where it opens, and where its first key or element starts, or -1. */
export interface Container {
  readonly start: number;
  first: number;
}

export interface JsonPlace {
  readonly start: number;
  readonly end: number;
  /** The containers around it, outermost first. */
  readonly around: readonly Container[];
  /** The value itself, when it is a container. */
  readonly own: Container | null;
  /** The members, when it is an object. */
  readonly members: readonly Member[] | null;
}

/** Reads the whole document, refuses what is wrong with it, and finds where the value at this location stands. */
export function locate(text: string, comments: boolean, location: readonly Step[]): JsonPlace | null {
  const locator = new Locator(location);
  scanJson(text, comments, locator);
  return locator.place();
}

class Locator implements JsonVisitor {
  private readonly location: readonly Step[];
  /** How many containers are open, and how many of them, from the outside, lead to the place. */
  private depth = 0;
  private on = 0;
  private readonly around: (Container & { index: number })[] = [];
  private name: string | null = null;
  private start = -1;
  private end = -1;
  private own: Container | null = null;
  private members: Member[] | null = null;

  constructor(location: readonly Step[]) {
    this.location = location;
  }

  place(): JsonPlace | null {
    const { start, end, own, members } = this;
    return start < 0
      ? null
      : { start, end, own, members, around: this.around.slice(0, this.location.length) };
  }

  open(start: number, is_object: boolean): void {
    this.beginValue(start);
    if (start === this.start) {
      this.own = { start, first: -1 };
      if (is_object) this.members = [];
    } else if (this.leadsOn()) {
      this.around.push({ start, first: -1, index: 0 });
      this.on += 1;
      this.name = null;
    }
    this.depth += 1;
  }

  key(name: string, start: number, end: number): void {
    if (this.isInside()) {
      this.members?.push({ name, key_start: start, key_end: end, value_start: -1, value_end: -1, comma: -1 });
      this.sawChild(this.own, start);
    } else if (this.isWatched()) {
      this.name = name;
      this.sawChild(this.around[this.on - 1] ?? null, start);
    }
  }

  comma(at: number): void {
    if (this.isInside()) {
      const member = this.members?.at(-1);
      if (member !== undefined) member.comma = at;
    } else if (this.isWatched()) this.around[this.on - 1]!.index += 1;
  }

  scalar(start: number, end: number): void {
    this.beginValue(start);
    this.endValue(end);
  }

  close(end: number): void {
    this.depth -= 1;
    if (this.on > this.depth) this.on = this.depth;
    this.endValue(end);
  }

  comment(): void {}

  private beginValue(start: number): void {
    if (this.isInside()) {
      const member = this.members?.at(-1);
      if (member !== undefined) member.value_start = start;
      this.sawChild(this.own, start);
      return;
    }
    if (this.start >= 0) return;
    if (this.isWatched()) this.sawChild(this.around[this.on - 1] ?? null, start);
    if (this.depth === this.location.length && this.leadsOn()) this.start = start;
  }

  private endValue(end: number): void {
    if (this.start < 0 || this.end >= 0) return;
    if (this.depth === this.location.length) this.end = end;
    else if (this.isInside()) {
      const member = this.members?.at(-1);
      if (member !== undefined) member.value_end = end;
    }
  }

  /** The next value is a step on the way, or the place itself. */
  private leadsOn(): boolean {
    if (this.start >= 0 || this.on !== this.depth || this.depth > this.location.length) return false;
    if (this.depth === 0) return true;
    const step = this.location[this.depth - 1];
    return this.name !== null ? this.name === step : this.around[this.on - 1]!.index === step;
  }

  /** The innermost open container is one on the way, and the place is not yet found. */
  private isWatched(): boolean {
    return this.start < 0 && this.on === this.depth && this.on > 0;
  }

  /** Directly inside the container that was looked for. */
  private isInside(): boolean {
    return this.start >= 0 && this.end < 0 && this.depth === this.location.length + 1;
  }

  private sawChild(container: Container | null, start: number): void {
    if (container !== null && container.first < 0) container.first = start;
  }
}
