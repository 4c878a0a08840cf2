/** As in package.json. A file of its own, so that printing it loads nothing else. */
export const VERSION = '0.2.0';
