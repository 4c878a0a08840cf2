/** A few names are compared one by one; more are looked up. Most objects are small, and a set for each is slow. */
const FEW = 12;

/** The names seen so far in each object that is still open. */
export class OpenObjectKeys {
  private readonly names: string[] = [];
  private readonly starts: number[] = [];
  private readonly large: (Set<string> | null)[] = [];

  openObject(): void {
    this.starts.push(this.names.length);
    this.large.push(null);
  }

  closeObject(): void {
    this.names.length = this.starts.pop() ?? 0;
    this.large.pop();
  }

  /** False when the innermost object has this name already. */
  add(name: string): boolean {
    const depth = this.starts.length - 1;
    const set = this.large[depth] ?? null;
    if (set !== null) return set.size !== set.add(name).size;
    const { names } = this;
    for (let i = this.starts[depth]!; i < names.length; i++) if (names[i] === name) return false;
    names.push(name);
    if (names.length - this.starts[depth]! > FEW)
      this.large[depth] = new Set(names.slice(this.starts[depth]!));
    return true;
  }
}
