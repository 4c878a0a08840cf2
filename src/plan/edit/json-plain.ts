import type { Json } from '../../canonical/json.ts';
import { type JsonVisitor, scanJson } from './json-scan.ts';

/** The value of a document or a part of one that has been scanned before. */
export function parsePlain(text: string, comments: boolean): Json {
  return JSON.parse(comments ? withoutComments(text) : text) as Json;
}

function withoutComments(text: string): string {
  const sieve = new Sieve(text);
  scanJson(text, true, sieve);
  return sieve.plainText();
}

/** Collects what strict JSON does not have: comments, and commas before the end of a container. */
class Sieve implements JsonVisitor {
  private readonly text: string;
  private readonly parts: string[] = [];
  private kept = 0;
  private last_comma = -1;

  constructor(text: string) {
    this.text = text;
  }

  plainText(): string {
    return this.parts.join(' ') + this.text.slice(this.kept);
  }

  comment(start: number, end: number): void {
    // A comma before a comment may prove to be the last one, so it waits outside the kept text.
    if (this.last_comma >= this.kept) this.drop(this.last_comma, this.last_comma + 1, ',');
    this.drop(start, end, '');
  }

  comma(at: number): void {
    this.last_comma = at;
  }

  close(): void {
    if (this.last_comma < 0) return;
    if (this.last_comma >= this.kept) this.drop(this.last_comma, this.last_comma + 1, '');
    else this.parts[this.parts.lastIndexOf(',')] = '';
    this.last_comma = -1;
  }

  open(): void {
    this.last_comma = -1;
  }

  key(): void {
    this.last_comma = -1;
  }

  scalar(): void {
    this.last_comma = -1;
  }

  private drop(start: number, end: number, instead: string): void {
    this.parts.push(this.text.slice(this.kept, start), instead);
    this.kept = end;
  }
}
