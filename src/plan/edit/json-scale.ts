import type { JsonVisitor } from './json-scan.ts';

/** Weighs a document for a search: every value counts as often as it is deep. */
export class Scale implements JsonVisitor {
  steps = 0;
  private depth = 1;

  open(): void {
    this.steps += this.depth;
    this.depth += 1;
  }

  scalar(): void {
    this.steps += this.depth;
  }

  close(): void {
    this.depth -= 1;
  }

  key(): void {}
  comma(): void {}
  comment(): void {}
}
