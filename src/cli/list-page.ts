import { cliLimits, limits } from '../limits.ts';

/** What a page of every list says beside its rows. */
interface PageEnd {
  readonly next: string | null;
  readonly looked: number;
}

interface Asked {
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

/** The verb looks at so many rows for one page. Where few fit, this goes on until the page is full, or it took long. */
export async function filledPage<
  K extends string,
  P extends PageEnd & Readonly<Record<K, readonly unknown[]>>,
  R extends Asked,
>(of: K, request: R, ask: (request: R) => Promise<P>, patience_ms: number = cliLimits.page_ms): Promise<P> {
  const until_ms = performance.now() + patience_ms;
  const { limit = limits.page_rows_default } = request;
  let page = await ask(request);
  while (page.next !== null && page[of].length < limit && performance.now() < until_ms) {
    const left = limit - page[of].length;
    const older = await ask({ ...request, limit: left, cursor: page.next });
    page = { ...older, [of]: [...page[of], ...older[of]], looked: page.looked + older.looked };
  }
  return page;
}

/** No line says that there is none while there may be more. */
export function pageLines(
  { next, looked }: PageEnd,
  rows: readonly string[],
  { what, cursor }: { readonly what: string; readonly cursor?: string | undefined },
): string[] {
  if (next === null) return rows.length === 0 ? [`No ${what}.`] : [...rows];
  if (rows.length > 0) return [...rows, `There may be more: add --cursor ${next}`];
  const which = cursor === undefined ? 'newest' : 'next';
  return [`None among the ${which} ${looked} that were looked at; go on with --cursor ${next}`];
}
