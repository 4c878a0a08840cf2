/** The helper of `aside.ts`: edits and compares what its parent sends. */

import { workAside } from '../../effect/aside-process.ts';
import { doWork } from './work.ts';

workAside(doWork);
