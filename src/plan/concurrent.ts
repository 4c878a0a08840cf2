/** Works through a list, so many at a time. After the first failure nothing new begins, and it is thrown at the end. */
export async function eachAtMost<T>(
  most: number,
  items: readonly T[],
  act: (item: T, index: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  const failures: unknown[] = [];
  const worker = async () => {
    while (next < items.length && failures.length === 0) {
      const index = next++;
      await act(items[index]!, index).catch((error: unknown) => failures.push(error));
    }
  };
  await Promise.all(Array.from({ length: Math.min(most, items.length) }, worker));
  if (failures.length > 0) throw failures[0];
}
