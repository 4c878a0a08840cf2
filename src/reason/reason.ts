/** Why we can say no: a number, what it means, what a human can do. */
export type Reason = readonly [number: number, meaning: string, advice: string];
