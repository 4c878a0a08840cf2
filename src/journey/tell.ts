import { type Output, type Printed, readOutput } from '../story/tell.ts';
import { readerOf } from './contents.ts';
import type { Context } from './context.ts';

export function printed({ store }: Context, output: Pick<Output, 'stdout' | 'stderr'>): Promise<Printed> {
  return readOutput(output, readerOf(store));
}
