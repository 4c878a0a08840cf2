import type { Walked } from './contract.ts';
import type { Told } from './service.ts';

export const nameOf = ({ method, path }: Pick<Walked, 'method' | 'path'>) => `${method} ${path}`;

/** Which status of which operation was answered, and what was wrong with an answer. */
export class Reached {
  readonly wrong: string[] = [];
  readonly #operations: ReadonlyMap<string, Walked>;
  readonly #statuses = new Map<string, Map<number, number>>();
  #requests = 0;

  constructor(operations: readonly Walked[]) {
    this.#operations = new Map(operations.map((one) => [nameOf(one), one]));
  }

  /** `may_fail` where the service was made to fail. */
  note(method: string, path: string, { status, headers, body, text }: Told, may_fail = false): void {
    const ref = nameOf({ method, path });
    const operation = this.#operations.get(ref);
    if (operation === undefined) throw new Error(`${ref} is not in the document`);
    this.#requests += 1;
    const known = this.#statuses.get(ref) ?? new Map<number, number>();
    this.#statuses.set(ref, known.set(status, (known.get(status) ?? 0) + 1));
    const problem = operation.wrong(status, headers, body);
    if (problem !== null) this.wrong.push(`${ref} ${problem}: ${text.slice(0, 300)}`);
    if (status >= 500 && !may_fail) this.wrong.push(`${ref} answers ${status}: ${text.slice(0, 300)}`);
  }

  /** Each status of an operation that is declared, and that nothing has reached. */
  get unreached(): string[] {
    return [...this.#operations.values()].flatMap((one) =>
      one.statuses
        .filter((status) => !this.#statuses.get(nameOf(one))?.has(Number(status)))
        .map((status) => `${nameOf(one)} ${status}`),
    );
  }

  /** How often each declared status of each operation was answered; a dash where none is declared. */
  get table(): string {
    const all = [...this.#operations.values()];
    const columns = [...new Set(all.flatMap(({ statuses }) => statuses))].sort();
    const width = Math.max(...all.map((one) => nameOf(one).length));
    const line = (first: string, cells: readonly string[]) =>
      [first.padEnd(width), ...cells.map((cell) => cell.padStart(5))].join(' ');
    const rows = all.map((one) =>
      line(
        nameOf(one),
        columns.map((status) =>
          one.statuses.includes(status)
            ? String(this.#statuses.get(nameOf(one))?.get(Number(status)) ?? 0)
            : '-',
        ),
      ),
    );
    const cells = all.reduce((sum, { statuses }) => sum + statuses.length, 0);
    const found = `${cells - this.unreached.length} of ${cells} declared statuses of ${all.length} operations were reached by ${this.#requests} requests.`;
    return [line('operation', columns), ...rows, '', found].join('\n');
  }
}
