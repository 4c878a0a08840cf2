import type { Reason } from './reason.ts';

/** 2000 to 2999: a file is not as it must be. */
export const fileSystemReasons = {
  FILE_NOT_FOUND: [2001, 'The file does not exist.', 'Check the path.'],
  FILE_UNREADABLE: [2002, 'The file cannot be read.', 'Check its permissions.'],
  FILE_IS_SYMLINK: [2003, 'The path is, or goes through, a symbolic link.', 'Name the real file.'],
  FILE_NOT_REGULAR: [2004, 'The path is not a regular file.', 'Name a regular file.'],
  FILE_HARD_LINKED: [
    2005,
    'The file has a second name (a hard link), so it can change under that name.',
    'Use a file with one name.',
  ],
  PATH_ESCAPES: [
    2006,
    'The path leads outside the folder it must stay in.',
    'Use a relative path without "..".',
  ],
  DISK_FULL: [2007, 'The disk is full.', 'Free some room and try again.'],
  WRITE_FAILED: [2008, 'A write did not reach the disk.', 'Check the disk. Nothing was acknowledged.'],
  REGISTRY_MISSING: [2010, 'The tool registry does not exist.', 'Create tools.yaml, or name another file.'],
  EXECUTABLE_MISSING: [
    2012,
    'The executable of the tool does not exist.',
    'Install it, or correct the registry.',
  ],
  EXECUTABLE_NOT_EXECUTABLE: [
    2013,
    'The executable of the tool is nothing that this user and the kernel would execute.',
    'Set its execute permission. It must be a binary of this machine, or a script whose #! line names its interpreter.',
  ],
  WORKING_FOLDER_MISSING: [
    2014,
    'The working folder of the tool does not exist.',
    'Create it, or correct the registry.',
  ],
  SANDBOX_PATH_MISSING: [
    2015,
    'A path that the sandbox profile binds does not exist.',
    'Create it, or correct the registry.',
  ],
  COVERS_NOTHING: [
    2016,
    'A pattern under covers matches no file.',
    'Correct the pattern, or leave it out. It is relative to the project; * ? and ** are known.',
  ],
  STORE_MISSING: [2020, 'The project has no store.', 'Run `keyturn init`.'],
  STORE_CORRUPT: [
    2021,
    'The store is damaged.',
    'Restore a backup. Check it with `keyturn ledger verify` against a head that you kept.',
  ],
  STORE_READ_ONLY: [
    2022,
    'The store cannot be written.',
    'Check the permissions of .keyturn and of the disk.',
  ],
  STORE_UNREACHABLE: [
    2023,
    'The server of the store does not answer.',
    'Check the address in the URL, the network, and that the server runs.',
  ],
  STORE_NEWER: [2024, 'The store was written by a newer Keyturn.', 'Use that version or a later one.'],
  STORE_BUSY: [2025, 'Another process holds the store for too long.', 'Try again when it has finished.'],
  OBJECT_MISSING: [
    2026,
    'An object that an entry names is not there: it was erased, removed by gc, or lost.',
    'See with `keyturn show` which objects an intent has. Where one is gone, the ledger still proves its digest, and what needs its content can no longer be done.',
  ],
  OBJECT_CORRUPT: [
    2027,
    'A stored object is not what its digest says.',
    'Restore a backup of the store, or ask for another copy of the file.',
  ],
  STORE_DENIED: [
    2028,
    'The server of the store does not let this role in, or not do this.',
    'Check user and password, and what the role was granted (docs/postgres.md).',
  ],
  STORE_TLS: [
    2029,
    'The connection to the server of the store is not protected as it must be.',
    'Check `sslmode` and `sslrootcert` in the URL, and the certificate of the server (docs/postgres.md).',
  ],
  LEDGER_BROKEN: [
    2030,
    'An entry of the ledger is not what it was when it was written.',
    'Keep this copy as evidence and restore one that verifies.',
  ],
  LEDGER_TRUNCATED: [
    2031,
    'The ledger is shorter than the head that was kept.',
    'Entries were removed. Keep this copy as evidence. After a restore that you wanted: `keyturn ledger accept-head`.',
  ],
  LEDGER_FORKED: [
    2032,
    'The ledger is not the one that the kept head describes.',
    'History was rewritten. Keep both as evidence.',
  ],
  HEAD_SIGNATURE_INVALID: [
    2033,
    'The head is not signed by the expected key.',
    'Check the key fingerprint with the owner of the ledger.',
  ],
  PROOF_INVALID: [2034, 'The proof does not lead to the head.', 'Do not rely on this bundle.'],
  PROJECTION_DRIFT: [
    2035,
    'The stored state is not what the ledger says.',
    'Run `keyturn ledger rebuild --write` to make it so, and find out who changed it.',
  ],
  STORE_PASSWORD_UNSAFE: [
    2036,
    'The server of the store asks for the password in a way that gives it away. It was not sent.',
    'Use `sslmode=verify-full`, or let the server use scram-sha-256 (docs/postgres.md).',
  ],
  STORE_UNPROVEN: [
    2037,
    'The server of the store did not prove that it knows the password.',
    'Nothing was read or written. Find out who answers at this address.',
  ],
  LEDGER_OVERRUN: [
    2038,
    'Entries are stored past the end of the ledger, or its end was moved back.',
    'Keep a copy as evidence, then run `keyturn store repair` with the role that owns the tables.',
  ],
  REPAIR_READABLE: [
    2039,
    'Some of what the repair would set aside can be read as entries: a run, a revocation or a freeze may be among them.',
    'Look at each of them. Then repeat with --readable-too, and make again what must be kept.',
  ],
  QUEUE_MISSING: [2040, 'The queue file does not exist.', 'Check the --queue folder.'],
  QUEUE_MALFORMED: [
    2041,
    'The queue has a line that cannot be understood, or one without an end.',
    'Correct the file by hand; Keyturn never repairs it.',
  ],
  QUEUE_AMBIGUOUS: [
    2042,
    'The queue says two different things about one id.',
    'Correct the file by hand; Keyturn never chooses.',
  ],
  PROJECT_EXISTS: [
    2043,
    'This folder is a Keyturn project already.',
    'Use it as it is, or choose another folder.',
  ],
  PROJECT_MISSING: [
    2044,
    'This folder is not inside a Keyturn project.',
    'Run `keyturn init`, or pass --project.',
  ],
  LEDGER_FOREIGN: [
    2045,
    'The store holds another ledger than the one of this project.',
    'Name the right store and tenant in keyturn.yaml, or put the right store back. Do not use this one.',
  ],
  LEDGER_UNPINNED: [
    2046,
    'Nothing says which ledger belongs to this project: .keyturn/ledger.json is missing or damaged.',
    'Restore the file from another host. Or remove it, run `keyturn store join`, and compare the fingerprint.',
  ],
  KEPT_HEAD_INVALID: [
    2047,
    'The kept head is missing or damaged, so a ledger that was cut off could not be told from a whole one.',
    'Restore the file, or verify the ledger and let a human accept it with `keyturn ledger accept-head`.',
  ],
  STORE_ELSEWHERE: [
    2048,
    'The file keyturn.yaml names another store than the one that holds the ledger of this project. Nothing was connected to.',
    'Put the store back in keyturn.yaml. If you moved the ledger there, run `keyturn store join`, and compare the fingerprint.',
  ],
  OBJECT_UNEXPECTED: [
    2050,
    'The file holds an object that no entry names, or that an entry says was removed.',
    'Do not rely on this file. Ask its owner for another one.',
  ],
  STORE_OLDER: [
    2051,
    'The ledger was written by Keyturn 0.1, which this version does not read.',
    'Read it with 0.1. To go on with this version, start in a folder without .keyturn.',
  ],
  SEGMENT_MISSING: [
    2052,
    'A part of the ledger that belongs between or before these files is missing.',
    'Find the archive of the missing entries, and name all of them in their order.',
  ],
  SEGMENT_ORDER: [
    2053,
    'The files are not in the order of their entries, or hold the same ones twice.',
    'Name the oldest archive first.',
  ],
  SEGMENT_EMPTY: [
    2054,
    'There is nothing old enough that is not archived yet.',
    'Nothing was written. Name a shorter age, or wait.',
  ],
  STORE_CLOSED: [
    2055,
    'This project was closed in this program, so nothing of it can be read or written any more.',
    'Open the project again. Close it only once nothing waits for an answer.',
  ],
  PROJECT_FILES_MISSING: [
    2056,
    'This folder has no keyturn.yaml.',
    'Bring what is under version control first: keyturn.yaml, tools.yaml, policies/ and simulations/. Do not run `keyturn init`, which begins another ledger.',
  ],
  FILE_EXISTS: [
    2100,
    'Something is at a path that must be free.',
    'Choose another path, or remove what is there.',
  ],
  PLAN_DRIFT: [
    2101,
    'A file is not what it was when the plan was approved.',
    'Find out who changed it, then propose the plan again.',
  ],
  RESULT_MISMATCH: [
    2102,
    'The result of an action is not the one that was approved.',
    'The run was rolled back. Propose the plan again.',
  ],
  BACKUP_CORRUPT: [
    2103,
    'A backup is missing or is not the original.',
    'The file was left as it is. Restore it from another backup.',
  ],
  MANIFEST_CORRUPT: [
    2104,
    'The rollback manifest cannot be trusted.',
    'Restore the files by hand from the backups folder.',
  ],
  CHANGED_SINCE_RUN: [
    2105,
    'The file was changed by another program after the run, so it is not rolled back.',
    'Keep that change, or undo it by hand and roll back again.',
  ],
  JOURNAL_CORRUPT: [
    2106,
    'The journal of a run (journal.jsonl) is damaged, so what the run did cannot be told from it.',
    'Nothing was touched. Restore the files by hand from the backups folder, or put the journal back from a copy.',
  ],
  ATTRIBUTES_UNREADABLE: [
    2107,
    'The access control list or the extended attributes of a file cannot be read.',
    'Install GNU tar. Check that the file can be read and is not being changed.',
  ],
  ATTRIBUTES_NOT_KEPT: [
    2108,
    'The access control list or the extended attributes of a file could not be kept or restored.',
    'Nothing was changed. Remove them from the file, run as a user who may set them, or change the file by hand.',
  ],
  FILE_IMMUTABLE: [
    2109,
    'The file is marked immutable or append-only, so it can neither be replaced nor removed.',
    'Remove the mark with `chattr -i -a`, or leave the file out of the plan.',
  ],
  RENAME_ACROSS_FILE_SYSTEMS: [
    2110,
    'A rename cannot move a file to another file system.',
    'Create the file there and delete it here, as two actions.',
  ],
  TEMPORARY_FILES_LEFT: [
    2111,
    'A run of a plan left temporary files behind that it could not remove.',
    'Find out why, such as a permission that was lost, and remove them by hand.',
  ],
  SQL_DATABASE_BUSY: [2200, 'Another process has the database open.', 'Close it there and try again.'],
  SQL_DATABASE_CORRUPT: [
    2201,
    'The database is damaged.',
    'Open it with DuckDB to see what is left of it, or restore a backup.',
  ],
  SQL_DATABASE_VERSION: [
    2202,
    'The database was written by a version of DuckDB that this one cannot read.',
    'Export it with that version, or update Keyturn.',
  ],
  SQL_DATABASE_HAS_LOG: [
    2203,
    'The database has a log (.wal) beside it, so the file alone is not the whole database.',
    'Open it once with DuckDB and run CHECKPOINT, then propose again.',
  ],
  SQL_DATABASE_CHANGED: [
    2204,
    'The database is not what it was when it was approved, or it changed during the run.',
    'Nothing was changed by this run. Find out who changed it, then propose again.',
  ],
  SQL_FILE_TOO_LARGE: [
    2205,
    'The database or the result would be larger than is allowed.',
    'Nothing was changed. Do less at once, or raise the limit.',
  ],
  SQL_DATABASE_FOREIGN: [
    2206,
    'The file is not a DuckDB database: it is empty, or something else, or of another engine.',
    'Check the path. A new database needs a path where no file is.',
  ],
  SQL_DATABASE_ENCRYPTED: [
    2207,
    'The database is encrypted, and Keyturn takes no keys.',
    'Copy it into a database without encryption, and propose again.',
  ],
  SQL_LOCK_LOST: [
    2208,
    'The process that held the lock on the database ended before the action did.',
    'Look whether another program wrote to the database meanwhile, then propose again.',
  ],
} as const satisfies Record<string, Reason>;
