// Every limit of the service: its name, its unit and its default.
import * as z from 'zod'

/** What a timer takes, 24 days, and what the engine and SQLite take: beyond them a limit would do the opposite of what it says. */
const longest = 2_147_483_647
const mostBytes = 2_147_483_647
const mostBodyBytes = 500_000_000
const most = 1_000_000_000

/** Things that are wrong with one body, beyond which no more are looked for. */
export const inputErrors = 1_000

/** Milliseconds for the regular expressions of a schema that no engine takes in linear time, all values of one body together. */
export const patternTime = 100

/** Named limits: what comes from outside never grows beyond them. Milliseconds, bytes and counts. */
export const limits = z.strictObject({
  /** Relations and components that one path of a filter may cross: what a database has to look at grows with each. */
  filterRelations: z.int().positive().max(32).default(8),
  /** Conditions, sort keys and populated attributes of one request, together. */
  queryComplexity: z.int().positive().max(30_000).default(1000),
  /** Bytes of a request's line and headers, the path and query included. */
  headerBytes: z.int().positive().max(mostBytes).default(16_384),
  /** Headers of a request. */
  headerCount: z.int().positive().max(2_000).default(200),
  /** Bytes of a request body. */
  bodyBytes: z.int().positive().max(mostBodyBytes).default(1_048_576),
  /** What a JSON body may hold: levels, values (keys not counted), and keys of one object. */
  bodyDepth: z.int().positive().max(500).default(500),
  bodyValues: z.int().positive().max(most).default(100_000),
  bodyKeys: z.int().positive().max(most).default(10_000),
  /** Entries of components and dynamic zones in one document, and targets of its relations and media. */
  componentEntries: z.int().positive().max(most).default(2_000),
  relationTargets: z.int().positive().max(most).default(5_000),
  /** Bytes of one answer. */
  answerBytes: z.int().positive().max(mostBytes).default(100_000_000),
  /** Bytes of the answer to a write, which every other write waits for. */
  writtenBytes: z.int().positive().max(mostBytes).default(10_000_000),
  /** Bytes of one answer whose texts say where they come from. */
  sourceMapBytes: z.int().positive().max(mostBytes).default(30_000_000),
  /** Bytes of all large answers that clients have not taken yet. */
  maxBufferedResponseBytes: z.int().positive().default(500_000_000),
  /** Milliseconds for a client to take a large answer whole. */
  answerTimeout: z.int().positive().max(longest).default(60_000),
  /** Bytes of all bodies that have not come in whole yet, and of fields of forms beside their files, which go to the disk. */
  unreadBytes: z.int().positive().default(100_000_000),
  /** Milliseconds that one read may take, waiting included. */
  readTimeout: z.int().positive().max(longest).default(10_000),
  /** Reads that may wait for a reader thread, and heavy ones, which have threads of their own. */
  readQueue: z.int().positive().max(most).default(5_000),
  heavyReadQueue: z.int().positive().max(most).default(500),
  /** Milliseconds that one write may take, waiting included, and writes that may wait. */
  writeTimeout: z.int().positive().max(longest).default(15_000),
  writeQueue: z.int().positive().max(most).default(1_000),
  /** Compiled plans, their characters together, and query strings already read, that are kept in memory. */
  cachedPlans: z.int().positive().max(most).default(1_000),
  cachedPlanCharacters: z.int().positive().max(most).default(8_000_000),
  cachedQueries: z.int().positive().max(most).default(2_000),
  /** Identified tokens and users that are kept in memory. */
  cachedCallers: z.int().positive().max(most).default(5_000),
  /** Milliseconds for the headers of a request, for a whole request, and between two of one connection. */
  headersTimeout: z.int().positive().max(longest).default(10_000),
  requestTimeout: z.int().positive().max(longest).default(30_000),
  keepAliveTimeout: z.int().positive().max(longest).default(65_000),
  /** Milliseconds that a connection may be silent, a slow reader's too. */
  idleTimeout: z.int().positive().max(longest).default(70_000),
  /** Milliseconds that a form with files may take to come in. */
  uploadTimeout: z.int().positive().max(longest).default(3_600_000),
  /** Bytes of an uploaded file, and of a whole form with files. */
  fileBytes: z.int().positive().default(200_000_000),
  uploadBytes: z.int().positive().default(2_000_000_000),
  /** Files and other fields of a form, and bytes of such a field. */
  uploadFiles: z.int().positive().max(most).default(100),
  uploadFields: z.int().positive().max(most).default(200),
  uploadFieldBytes: z.int().positive().max(mostBodyBytes).default(100_000),
  /** Forms with files of which a piece is read at the same moment. */
  uploadConcurrency: z.int().positive().max(100).default(8),
  /** Pixels of a picture, all its frames together, of its longer side, and frames; what has more gets no formats. */
  imagePixels: z.int().positive().max(most).default(100_000_000),
  imageSide: z.int().positive().max(most).default(65_535),
  imageFrames: z.int().positive().max(most).default(5_000),
  /** Bytes of all decoded pixels of a picture; what has more gets no formats. */
  imageBytes: z.int().positive().max(100_000_000_000).default(400_000_000),
  /** Bytes of memory of the process that works on a picture, 150,000,000 at least; what needs more gets no formats. */
  imageMemory: z.int().min(150_000_000).max(100_000_000_000).default(400_000_000),
  /** Milliseconds of processor time for a picture, and by the clock; what needs more gets no formats. */
  imageWork: z.int().positive().max(longest).default(5_000),
  imageTimeout: z.int().positive().max(longest).default(60_000),
  /** Pictures that are worked on at once, and that may wait. */
  imageConcurrency: z.int().positive().max(100).default(2),
  imageQueue: z.int().positive().max(most).default(500),
  /** Milliseconds that one act at a storage on another machine may take, and may be without any progress. */
  storageTimeout: z.int().positive().max(longest).default(60_000),
  storageIdleTimeout: z.int().positive().max(longest).default(10_000),
  /** Open connections. */
  connections: z.int().positive().max(most).default(10_000),
  /** Attempts a minute at each route of /auth, by address; 0: any number. Attempts that succeed to sign in are given back. */
  authRateLimit: z.int().min(0).max(most).default(10),
  /** Passwords that are hashed or checked at once (Node reads files with four threads, which this shares), and that may wait. */
  passwordConcurrency: z.int().positive().max(100).default(2),
  passwordQueue: z.int().positive().max(most).default(100),
  /** Addresses and accounts whose attempts are counted. */
  rateLimitKeys: z.int().positive().max(most).default(100_000),
  /** Milliseconds for which the answer to a write with an Idempotency-Key is kept, how many are, and their bytes together. */
  idempotencyTime: z.int().positive().max(longest).default(86_400_000),
  idempotencyKeys: z.int().positive().max(most).default(100_000),
  idempotencyBytes: z.int().positive().max(mostBytes).default(64_000_000),
  /** Milliseconds that one hook, or one listener for one event, may take. */
  hookTimeout: z.int().positive().max(longest).default(5_000),
  /** Operations that hooks may start inside of each other. */
  hookDepth: z.int().positive().max(100).default(5),
  /** How often a listener is told of an event that it fails at, waits growing from a second to a minute between. */
  listenerAttempts: z.int().positive().max(1_000).default(10),
  /** Events that are kept in the outbox; the oldest go first. */
  outboxEvents: z.int().positive().max(most).default(10_000),
  /** Bytes of one event; an entry that is larger comes without what it is related to. */
  eventBytes: z.int().positive().max(mostBytes).default(262_144),
  /** Milliseconds that a start looks for damage in the database's file (0: not at all), and waits for another start to prepare it. */
  checkTime: z.int().min(0).max(longest).default(1_000),
  startWait: z.int().positive().max(longest).default(60_000),
  /** Milliseconds that a stop may take: three fifths of it for requests in flight to end, the rest for closing what is behind them. */
  drainTimeout: z.int().positive().max(longest).default(25_000),
  /** Milliseconds of it that requests have to come in whole once nobody is accepted any more. */
  drainBodies: z.int().positive().max(longest).default(5_000),
  /**
   * Milliseconds before that in which everything is still served while `/_health` reports 503, so that balancers look elsewhere. Without
   * it 5,000 in production, none in development or where only this machine can reach the service.
   */
  drainDelay: z.int().min(0).max(longest).optional(),
  /** Bytes of log lines that wait for an output that is slow, full or gone; more are lost, and counted. */
  logBytes: z.int().positive().max(mostBytes).default(1_048_576),
})
