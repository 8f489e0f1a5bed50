// Every limit of the service with its unit and default.
import * as z from 'zod'

/** The maxima of timers (24 days), of the engine and of SQLite; a limit beyond them would overflow. */
const longest = 2_147_483_647
const mostBytes = 2_147_483_647
const mostBodyBytes = 500_000_000
const most = 1_000_000_000

/** The most validation errors collected for one body. */
export const inputErrors = 1_000

/** Parameters of a query string, and so the most members that `api.rest.arrayLimit` may allow a list in it. */
export const mostMembers = 1_000

/** Levels and parts of the rule of a conditional attribute. */
export const conditionDepth = 20
export const conditionParts = 500

/** Characters of an attribute's name and of an enumeration's value: what columns that name them hold. */
export const nameCharacters = 255

/** Characters of a content-type's or component's uid: with an action behind it, and as the name of a file, it has at most 255. */
export const uidCharacters = 240

/** Attributes of a content-type or component in a request: no table has more columns. */
export const schemaAttributes = 2_000

/** Milliseconds for all values of one body to match regular expressions of a schema that cannot run in linear time. */
export const patternTime = 100

/** Limits of requests, responses and connections. */
const requestLimits = () => ({
  /** Relations and components that one filter path may cross; each makes the query more expensive. */
  filterRelations: z.int().positive().max(32).default(8),
  /** Total number of conditions, sort keys and populated attributes in one request. */
  queryComplexity: z.int().positive().max(30_000).default(1000),
  /** Bytes of the request line and headers, including path and query. */
  headerBytes: z.int().positive().max(mostBytes).default(16_384),
  /** Number of request headers. */
  headerCount: z.int().positive().max(2_000).default(200),
  /** Bytes of a request body. */
  bodyBytes: z.int().positive().max(mostBodyBytes).default(1_048_576),
  /** Contents of a JSON body: nesting levels, values (keys not counted), and keys of one object. */
  bodyDepth: z.int().positive().max(500).default(500),
  bodyValues: z.int().positive().max(most).default(100_000),
  bodyKeys: z.int().positive().max(most).default(10_000),
  /** Component and dynamic-zone entries in one document, and targets of its relations and media. */
  componentEntries: z.int().positive().max(most).default(2_000),
  relationTargets: z.int().positive().max(most).default(5_000),
  /** Passwords in one document; each takes tens of milliseconds. */
  documentPasswords: z.int().positive().max(most).default(50),
  /** Bytes of one response. */
  answerBytes: z.int().positive().max(mostBytes).default(100_000_000),
  /** Bytes of the response to a write; it is built inside the transaction, so other writes wait for it. */
  writtenBytes: z.int().positive().max(mostBytes).default(10_000_000),
  /** Bytes of one response with content source maps. */
  sourceMapBytes: z.int().positive().max(mostBytes).default(30_000_000),
  /** Total bytes of large responses not yet sent. */
  maxBufferedResponseBytes: z.int().positive().default(500_000_000),
  /** Milliseconds for a client to receive a large response completely. */
  answerTimeout: z.int().positive().max(longest).default(60_000),
  /** Total bytes of incomplete request bodies, and of form fields other than files, which go to disk. */
  unreadBytes: z.int().positive().default(100_000_000),
  /** Milliseconds for which the rest of a body is discarded whose request was answered early, before the connection is closed. */
  discardTime: z.int().positive().max(longest).default(10_000),
  /** Responses that are compressed concurrently, on Node's four threads, which also read files and hash passwords. */
  compressionConcurrency: z.int().positive().max(100).default(2),
  /** Total bytes of responses that are being compressed or wait for it; further ones are sent as they are. */
  compressionBytes: z.int().positive().max(mostBytes).default(32_000_000),
  /** Bytes of an uploaded file that is compressed, which is read as a whole; larger ones are sent as they are. */
  compressedFileBytes: z.int().positive().max(mostBytes).default(1_000_000),
  /** Milliseconds for the headers of a request, for a whole request, and between two requests of one connection. */
  headersTimeout: z.int().positive().max(longest).default(10_000),
  requestTimeout: z.int().positive().max(longest).default(30_000),
  keepAliveTimeout: z.int().positive().max(longest).default(65_000),
  /** Milliseconds without traffic after which a connection is closed, even if a response is being sent. */
  idleTimeout: z.int().positive().max(longest).default(70_000),
  /** Open connections. */
  connections: z.int().positive().max(most).default(10_000),
})

/** Limits of reads and writes of content, and of what is cached for them. */
const readLimits = () => ({
  /** Milliseconds for one read, including the wait. */
  readTimeout: z.int().positive().max(longest).default(10_000),
  /** Milliseconds that a read waits for a read replica to catch up, before it is executed on the primary. */
  replicaWait: z.int().nonnegative().max(longest).default(50),
  /** Reads that may wait for a reader thread, and heavy reads, which have their own threads. */
  readQueue: z.int().positive().max(most).default(5_000),
  heavyReadQueue: z.int().positive().max(most).default(500),
  /** Milliseconds from which on a read or a write of documents is logged as slow; 0: none is. */
  slowQuery: z.int().min(0).max(longest).default(200),
  /** Milliseconds for one write, including the wait, and writes that may wait. */
  writeTimeout: z.int().positive().max(longest).default(15_000),
  writeQueue: z.int().positive().max(most).default(1_000),
  /** Cached plans, their total size in characters, and cached query strings. */
  cachedPlans: z.int().positive().max(most).default(1_000),
  cachedPlanCharacters: z.int().positive().max(most).default(8_000_000),
  cachedQueries: z.int().positive().max(most).default(2_000),
  /** Bytes of all cached responses of reads, and of one that is cached. `cacheBytes: 0` turns the cache off. */
  cacheBytes: z.int().nonnegative().max(mostBytes).default(64_000_000),
  cachedAnswerBytes: z.int().positive().max(mostBytes).default(1_000_000),
  /** Bytes of the header with the keys of a response (`cache.surrogateKeys`); beyond them it has one for everything. */
  surrogateKeyBytes: z.int().min(200).max(16_000).default(8_000),
  /** Cached descriptions of the API, one for each set of permissions that asks for it. */
  cachedDescriptions: z.int().positive().max(most).default(20),
  /** Cached tokens and users. */
  cachedCallers: z.int().positive().max(most).default(5_000),
})

/** Limits of uploads, images and the storage of files. */
const uploadLimits = () => ({
  /** Milliseconds to receive a form with files. */
  uploadTimeout: z.int().positive().max(longest).default(3_600_000),
  /** Bytes of one uploaded file, and of a whole form with files. */
  fileBytes: z.int().positive().default(200_000_000),
  uploadBytes: z.int().positive().default(2_000_000_000),
  /** Files in a form, other fields, and bytes of one such field. */
  uploadFiles: z.int().positive().max(most).default(100),
  uploadFields: z.int().positive().max(most).default(200),
  uploadFieldBytes: z.int().positive().max(mostBodyBytes).default(100_000),
  /** Files that an administrator deletes in one act, those in a folder with its content included. */
  mediaTogether: z.int().positive().max(most).default(2_000),
  /** Upload forms that are parsed concurrently. */
  uploadConcurrency: z.int().positive().max(100).default(8),
  /** Pixels of an image in all frames, pixels of its longer side, and frames; larger images get no formats. */
  imagePixels: z.int().positive().max(most).default(100_000_000),
  imageSide: z.int().positive().max(most).default(65_535),
  imageFrames: z.int().positive().max(most).default(5_000),
  /** Bytes of all decoded pixels of an image; larger images get no formats. */
  imageBytes: z.int().positive().max(100_000_000_000).default(400_000_000),
  /** Bytes of memory of an image process, at least 150,000,000; images that need more get no formats. */
  imageMemory: z.int().min(150_000_000).max(100_000_000_000).default(400_000_000),
  /** Milliseconds of CPU time and of wall-clock time for one image; images that need more get no formats. */
  imageWork: z.int().positive().max(longest).default(5_000),
  imageTimeout: z.int().positive().max(longest).default(60_000),
  /** Images that are processed concurrently, and images that may wait. */
  imageConcurrency: z.int().positive().max(100).default(2),
  imageQueue: z.int().positive().max(most).default(500),
  /** Timeout and idle timeout of one remote storage request, in milliseconds. A download that has begun has the idle timeout alone. */
  storageTimeout: z.int().positive().max(longest).default(60_000),
  storageIdleTimeout: z.int().positive().max(longest).default(10_000),
})

/** Limits of accounts and administration. */
const administrationLimits = () => ({
  /**
   * Attempts per minute at each route of /auth per IP address and identity (name, e-mail address, code or token), and per IP address for
   * administrators; 0 means no limit at all. Successful sign-ins do not count.
   */
  authRateLimit: z.int().min(0).max(most).default(10),
  /** Such attempts per IP address with all identities, at least `authRateLimit`; 0 means no limit. */
  authAddressRateLimit: z.int().min(0).max(most).default(60),
  /** Recipients of one e-mail that a caller or code of the project sends. */
  mailRecipients: z.int().positive().max(10_000).default(50),
  /** Such e-mails that are sent concurrently, and that may wait; milliseconds for the mail server to take one. */
  mailConcurrency: z.int().positive().max(100).default(5),
  mailQueue: z.int().positive().max(most).default(100),
  mailTimeout: z.int().positive().max(longest).default(20_000),
  /** Acts of administrators that are kept; the oldest are deleted first. */
  activityEntries: z.int().positive().max(most).default(100_000),
  /** Milliseconds for the checks of `/admin/api/doctor`. */
  doctorTimeout: z.int().positive().max(longest).default(30_000),
  /**
   * The history of documents: milliseconds between two versions of a draft that are kept, and for which a version is kept; versions of a
   * document in a locale, and bytes of one.
   */
  historyInterval: z.int().min(0).max(longest).default(600_000),
  historyTime: z.int().positive().default(7_776_000_000),
  historyVersions: z.int().positive().max(most).default(200),
  historyBytes: z.int().positive().max(mostBytes).default(2_000_000),
  /**
   * What `/admin/api/…/check` looks at: links of each relation of a document, and links, entries and files of each attribute inside of its
   * components; of all, as many links.
   */
  checkedLinksOfRelation: z.int().positive().max(most).default(100),
  checkedLinks: z.int().positive().max(most).default(1_000),
  /** Links, entries and files that `/admin/api/…/fill` takes from another locale. */
  filledLinks: z.int().positive().max(most).default(10_000),
  /** Types that `/admin/api/find` searches, documents of each, all that it finds of each kind, and milliseconds after which it begins with no other type. */
  findTypes: z.int().positive().max(10_000).default(50),
  findOfType: z.int().positive().max(1_000).default(5),
  findResults: z.int().positive().max(10_000).default(30),
  findTime: z.int().positive().max(longest).default(1_500),
  /** Documents of one request to `/admin/api/bulk`. */
  bulkDocuments: z.int().positive().max(10_000).default(500),
  /** Passwords that are hashed concurrently (on Node's four threads, which also read files), and passwords that may wait. */
  passwordConcurrency: z.int().positive().max(100).default(2),
  passwordQueue: z.int().positive().max(most).default(100),
  /** IP addresses and accounts whose attempts are counted. */
  rateLimitKeys: z.int().positive().max(most).default(100_000),
})

/** Limits of retried writes, and of code of the project. */
const codeLimits = () => ({
  /** Stored responses to writes with an Idempotency-Key: lifetime in milliseconds, number, and total bytes. */
  idempotencyTime: z.int().positive().max(longest).default(86_400_000),
  idempotencyKeys: z.int().positive().max(most).default(100_000),
  idempotencyBytes: z.int().positive().max(mostBytes).default(64_000_000),
  /** Milliseconds for one hook, or for one listener to handle one event. */
  hookTimeout: z.int().positive().max(longest).default(5_000),
  /** Nesting depth of operations that hooks start. */
  hookDepth: z.int().positive().max(100).default(5),
  /** Milliseconds for a custom route to return its response; a stream may take longer to send. */
  routeTimeout: z.int().positive().max(longest).default(30_000),
  /** Milliseconds for one run of a schedule. */
  scheduleTimeout: z.int().positive().max(longest).default(300_000),
  /** Writes of one transaction that code of the project describes, and documents of one bulk write. */
  transactionOperations: z.int().positive().max(most).default(10_000),
})

/** Limits of events, webhooks and archives. */
const eventLimits = () => ({
  /** Attempts to deliver an event to a listener that fails, with delays that grow from one second to one minute. */
  listenerAttempts: z.int().positive().max(1_000).default(10),
  /** Events kept in the outbox; the oldest are deleted first. */
  outboxEvents: z.int().positive().max(most).default(10_000),
  /** Events kept beyond these while a listener or webhook still waits for one of them; older ones are lost for it. */
  outboxBacklog: z.int().min(0).max(most).default(50_000),
  /** Bytes of one event; larger entries are sent without their relations. */
  eventBytes: z.int().positive().max(mostBytes).default(262_144),
  /** Files of an imported archive, bytes of all of them unpacked, how many times the bytes of a compressed one these may be, and bytes of one line. */
  archiveFiles: z.int().positive().max(most).default(1_000_000),
  archiveBytes: z.int().positive().default(1_000_000_000_000),
  archiveRatio: z.int().positive().max(most).default(250),
  archiveLineBytes: z.int().positive().max(mostBodyBytes).default(256_000_000),
  /** Attempts to deliver an event to a webhook, and milliseconds before the second one and at most before later ones. */
  webhookAttempts: z.int().positive().max(1_000).default(12),
  webhookPause: z.int().positive().max(longest).default(5_000),
  webhookLongestPause: z.int().positive().max(longest).default(21_600_000),
  /** Milliseconds for one request to a webhook. */
  webhookTimeout: z.int().positive().max(20_000).default(10_000),
  /** Names of webhooks' hosts that are resolved concurrently, on Node's four threads, and milliseconds for one. */
  webhookLookups: z.int().positive().max(100).default(3),
  webhookLookupTimeout: z.int().positive().max(20_000).default(6_000),
  /** Concurrent requests to one webhook, and to all webhooks of a process. */
  webhookConcurrency: z.int().positive().max(1_000).default(5),
  webhookTotalConcurrency: z.int().positive().max(1_000).default(50),
  /** Events of one webhook that wait for another attempt, or behind one that does; no further events are read meanwhile. */
  webhookWaiting: z.int().positive().max(most).default(1_000),
  /** Bytes that are read of a webhook's response. */
  webhookResponseBytes: z.int().positive().max(mostBytes).default(65_536),
  /** Attempts in the log of webhooks; the oldest are deleted first. */
  webhookLog: z.int().positive().max(most).default(10_000),
  /** Open event streams (`/api/events`), of one IP address, and unsent bytes of one of them. */
  eventStreams: z.int().positive().max(most).default(1_000),
  eventStreamsPerAddress: z.int().positive().max(most).default(20),
  eventStreamBytes: z.int().positive().max(mostBytes).default(1_048_576),
  /** Bytes of recorded events that are read at once for event streams; of a larger event, this one alone. */
  eventStreamReadBytes: z.int().positive().max(mostBytes).default(1_048_576),
})

/** Limits of the start, of changes of the model, and of processes. */
const processLimits = () => ({
  /** Milliseconds for a start to check the database file for damage (0: no check), and to wait while another start prepares it. */
  checkTime: z.int().min(0).max(longest).default(1_000),
  startWait: z.int().positive().max(longest).default(60_000),
  /** Milliseconds for a change of the model to wait for tables that are in use, and for requests under way where it moves content. */
  modelChangeWait: z.int().positive().max(longest).default(2_000),
  modelChangeDrain: z.int().positive().max(longest).default(5_000),
  /** Changes of the model that wait for another one. */
  modelChangeQueue: z.int().positive().max(100_000).default(100),
  /** Milliseconds for a shutdown: three fifths for requests in flight, the rest for closing the database and threads. */
  drainTimeout: z.int().positive().max(longest).default(25_000),
  /** Milliseconds of that for request bodies to arrive after the service stopped accepting connections. */
  drainBodies: z.int().positive().max(longest).default(5_000),
  /**
   * Milliseconds before the shutdown in which requests are still served while `/_health` reports 503, so that load balancers stop
   * sending traffic. Defaults to 5,000 in production, and to 0 in development or if only this machine can reach the service.
   */
  drainDelay: z.int().min(0).max(longest).optional(),
  /**
   * A service process of several that ends within so many milliseconds of serving, or before, has failed: it is replaced after a pause,
   * which doubles with each failure up to the longest one, and after so many failures in a row the command ends if no other one serves
   * for that long.
   */
  processSettled: z.int().positive().max(longest).default(10_000),
  processPause: z.int().positive().max(longest).default(1_000),
  processLongestPause: z.int().positive().max(longest).default(30_000),
  processFailures: z.int().positive().max(1_000).default(5),
  /**
   * Milliseconds for a service process of several to serve, beside those that do; one that takes longer is ended and has failed. The first
   * one of all has no limit: it prepares the project.
   */
  processStart: z.int().positive().max(longest).default(300_000),
  /** Milliseconds by which the event loop may be late before `/live` of the management port reports 503. */
  eventLoopLag: z.int().positive().max(longest).default(5_000),
  /** Bytes of log lines buffered while the output is slow, full or closed; further lines are dropped and counted. */
  logBytes: z.int().positive().max(mostBytes).default(1_048_576),
})

/** Limits for everything that comes from outside, in milliseconds, bytes or counts. */
export const limitSettings = () =>
  z.strictObject({
    ...requestLimits(),
    ...readLimits(),
    ...uploadLimits(),
    ...administrationLimits(),
    ...codeLimits(),
    ...eventLimits(),
    ...processLimits(),
  })

/** Bounds of `octavo compare`, which are not part of the configuration. */
export const compareLimits = {
  /** Lines of a file and distinct requests of a log. */
  requests: 100_000,
  /** Bytes of a compared response. */
  maxResponseBytes: 20_000_000,
} as const
