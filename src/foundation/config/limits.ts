// Every limit that a project can set (`limits`), with its default. Other bounds are constants next to their use.
import * as z from 'zod'

/** The maxima of timers (24 days), of the engine and of SQLite; a limit beyond them would overflow. */
const maxMs = 2_147_483_647
const maxBytes = 2_147_483_647
const maxBodyBytes = 500_000_000
const maxCount = 1_000_000_000
const maxImageBytes = 100_000_000_000

const count = (value: number, max = maxCount) => z.int().positive().max(max).default(value)
const countOrZero = (value: number) => z.int().min(0).max(maxCount).default(value)
const bytes = (value: number, max = maxBytes) => z.int().positive().max(max).default(value)
const fileBytes = (value: number) => z.int().positive().default(value)
const ms = (value: number, max = maxMs) => z.int().positive().max(max).default(value)
const msOrZero = (value: number) => z.int().min(0).max(maxMs).default(value)

/** Parameters of a query string, and the maximum of `api.rest.arrayLimit`. */
export const maxQueryParameters = 1_000

const requestLimits = () => ({
  /** Relations and components that one filter path may cross; each makes the query more expensive. */
  filterRelations: count(8, 32),
  /** Total number of conditions, sort keys and populated attributes in one request. */
  queryComplexity: count(1_000, 30_000),
  /** The request line and headers, including path and query. */
  headerBytes: bytes(16_384),
  bodyBytes: bytes(1_048_576, maxBodyBytes),
  responseBytes: bytes(100_000_000),
  /** One response with content source maps. */
  sourceMapBytes: bytes(30_000_000),
  /** All large responses not yet sent. */
  maxBufferedResponseBytes: fileBytes(500_000_000),
  /** For a client to receive a large response completely. */
  responseTimeout: ms(60_000),
  /** All incomplete request bodies, and form fields other than files, which go to disk. */
  maxBufferedBodyBytes: fileBytes(100_000_000),
  /** Responses that are compressed concurrently, on Node's four threads, which also read files and hash passwords. */
  compressionConcurrency: count(2, 100),
  /** All responses that are being compressed or wait for it; further ones are sent uncompressed. */
  compressionBytes: bytes(32_000_000),
  /** One uploaded file that is compressed, which is read as a whole; larger ones are sent uncompressed. */
  compressedFileBytes: bytes(1_000_000),
  headersTimeout: ms(10_000),
  requestTimeout: ms(30_000),
  /** Between two requests of one connection. */
  keepAliveTimeout: ms(65_000),
  /** Without traffic, even while a response is being sent. */
  idleTimeout: ms(70_000),
  connections: count(10_000),
})

const readLimits = () => ({
  /** One read, including the wait. */
  readTimeout: ms(10_000),
  /** For a read replica to catch up, before the read is executed on the primary. */
  replicaTimeout: msOrZero(50),
  /** Light reads that may wait. */
  readQueue: count(5_000),
  /** From here on a read or write of documents is logged as slow; 0: none is. */
  slowQuery: msOrZero(200),
  /** One write, including the wait. */
  writeTimeout: ms(15_000),
  writeQueue: count(1_000),
  /** All cached responses; 0 turns the cache off. */
  cacheBytes: z.int().nonnegative().max(maxBytes).default(64_000_000),
  cachedResponseBytes: bytes(1_000_000),
  /** The header with the keys of a response (`cache.surrogateKeys`); longer ones are replaced by one key for everything. */
  surrogateKeyBytes: z.int().min(200).max(16_000).default(8_000),
})

const uploadLimits = () => ({
  /** For a form with files. */
  uploadTimeout: ms(3_600_000),
  fileBytes: fileBytes(200_000_000),
  /** A whole form with files. */
  uploadBytes: fileBytes(2_000_000_000),
  uploadFiles: count(100),
  /** Other fields of a form. */
  uploadFields: count(200),
  /** Files that an administrator deletes in one request, the content of a folder included. */
  bulkFiles: count(2_000),
  /** Upload forms that are parsed concurrently. */
  uploadConcurrency: count(8, 100),
  /** Images beyond these limits get no formats. Pixels of all frames. */
  imagePixels: count(100_000_000),
  /** Decoded pixels of all frames. */
  imageBytes: bytes(400_000_000, maxImageBytes),
  /** Memory of an image process. */
  imageMemory: z.int().min(150_000_000).max(maxImageBytes).default(400_000_000),
  imageCpuTime: ms(5_000),
  imageTimeout: ms(60_000),
  imageConcurrency: count(2, 100),
  imageQueue: count(500),
  /** One request to remote storage. A download that has begun is only subject to the idle timeout. */
  storageTimeout: ms(60_000),
  storageIdleTimeout: ms(10_000),
})

const administrationLimits = () => ({
  /**
   * Attempts per minute at each route of /auth per IP address and identity (name, e-mail address, code or token), and per IP address for
   * administrators; 0 means no limit at all. Successful sign-ins do not count.
   */
  authRateLimit: countOrZero(10),
  /** Such attempts per IP address with all identities, at least `authRateLimit`; 0 means no limit. */
  authAddressRateLimit: countOrZero(60),
  /** IP addresses and accounts whose attempts are counted. */
  rateLimitKeys: count(100_000),
  /** Passwords that are hashed concurrently, on Node's four threads, which also read files. */
  passwordConcurrency: count(2, 100),
  passwordQueue: count(100),
  /** E-mails of callers and of code of the project that are sent concurrently. */
  mailConcurrency: count(5, 100),
  mailQueue: count(100),
  /** Actions of administrators in the log; the oldest are deleted first. */
  activityEntries: count(100_000),
  doctorTimeout: ms(30_000),
  /** Between two stored versions of a draft. */
  historyInterval: msOrZero(600_000),
  /** Age of a stored version. */
  historyTime: z.int().positive().default(7_776_000_000),
  /** Versions of a document in a locale. */
  historyVersions: count(200),
  /** One version; larger ones are not stored. */
  historyBytes: bytes(2_000_000),
  /** Links that `/admin/api/…/check` reads of each relation of a document. */
  checkedLinksPerRelation: count(100),
  /** Links that it reads in total, and links, entries and files of each attribute of its components. */
  checkedLinks: count(1_000),
  /** Links, entries and files that `/admin/api/…/fill` copies from another locale. */
  copiedLinks: count(10_000),
  /** One request to `/admin/api/bulk`. */
  bulkDocuments: count(500, 10_000),
})

const codeLimits = () => ({
  /** Stored responses to writes with an Idempotency-Key. */
  idempotencyTime: ms(86_400_000),
  idempotencyKeys: count(100_000),
  idempotencyBytes: bytes(64_000_000),
  /** One hook, or one listener and event. */
  hookTimeout: ms(5_000),
  /** For a custom route to return its response; a stream may take longer to send. */
  routeTimeout: ms(30_000),
  /** One run of a schedule. */
  scheduleTimeout: ms(300_000),
  /** Writes of one transaction of project code, and documents of one bulk write. */
  transactionOperations: count(10_000),
})

const eventLimits = () => ({
  /** Attempts to deliver an event to a listener that fails, with delays that grow from one second to one minute. */
  listenerAttempts: count(10, 1_000),
  /** Events in the outbox; the oldest are deleted first. */
  outboxEvents: count(10_000),
  /** Further events that are stored while a listener or webhook waits for one of them; older ones are lost for it. */
  outboxBacklog: countOrZero(50_000),
  /** One event; larger entries are sent without their relations. */
  eventBytes: bytes(262_144),
  /** Open event streams (`/api/events`). */
  eventStreams: count(1_000),
  /** Open event streams of one IP address. */
  eventStreamsPerAddress: count(20),
  /** Recorded events that are read at once for event streams; a larger event is read alone. */
  eventStreamReadBytes: bytes(1_048_576),
  /** Files of an imported archive. */
  archiveFiles: count(1_000_000),
  /** An unpacked archive. */
  archiveBytes: fileBytes(1_000_000_000_000),
  /** Unpacked bytes for each byte of a compressed archive. */
  archiveRatio: count(250),
  archiveLineBytes: bytes(256_000_000, maxBodyBytes),
  webhookAttempts: count(12, 1_000),
  /** Before the second attempt; later delays grow up to the maximum. */
  webhookRetryDelay: ms(5_000),
  webhookMaxRetryDelay: ms(21_600_000),
  webhookTimeout: ms(10_000, 20_000),
  /** To resolve the name of a webhook's host. */
  webhookLookupTimeout: ms(6_000, 20_000),
  /** Concurrent requests to one webhook. */
  webhookConcurrency: count(5, 1_000),
  /** Events of one webhook that wait for another attempt, or for an earlier event that does; beyond it no further events are read. */
  webhookQueue: count(1_000),
  /** Attempts in the log of webhooks; the oldest are deleted first. */
  webhookLogEntries: count(10_000),
})

const processLimits = () => ({
  /** For a start to check the database file for damage; 0: no check. */
  checkTime: msOrZero(1_000),
  /** For a change of the model to wait for tables that are in use. */
  modelChangeTimeout: ms(2_000),
  /** A shutdown: three fifths for requests in flight, the rest for closing the database and threads. */
  drainTimeout: ms(25_000),
  /** Part of it for request bodies to arrive after the service stopped accepting connections. */
  drainBodyTimeout: ms(5_000),
  /**
   * Delay before the shutdown: requests are still served while `/_health` reports 503, so that load balancers stop
   * sending traffic. Defaults to 5,000 in production, and to 0 in development or if only this machine can reach the service.
   */
  drainDelay: z.int().min(0).max(maxMs).optional(),
  /** Before a service process that failed is replaced; doubles with each failure in a row. */
  processRestartDelay: ms(1_000),
  /** For an additional service process to start. The first one has no limit, because it prepares the project. */
  processStartTimeout: ms(300_000),
  /** `/live` of the management port reports 503 at this delay of the event loop. */
  eventLoopLag: ms(5_000),
  /** Log lines buffered while the output is slow, full or closed; further lines are dropped and counted. */
  logBytes: bytes(1_048_576),
})

/** Limits in milliseconds, bytes or counts. */
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
