// The first rows of a new database that is not SQLite: made in memory, then copied.
import { newDocumentId } from '../model/schema/document-id.js'
import type { Model } from '../model/schema/types.js'
import type { FillDatabase } from './database.js'
import type { FillRows } from './driver.js'
import { firstContents } from './sqlite/first-contents.js'
import { sqliteSource } from './sqlite/rows.js'
import { copyFirstRows } from './transfer/copy.js'

/** Fills a new database that is not SQLite with the first content of a model, which is made in memory. `locale`: the default one. */
export const firstRows =
  (locale: string, model: Model, fill: FillDatabase): FillRows =>
  async (target) => {
    const memory = await firstContents(model, { now: new Date(), newDocumentId, locale }, fill)
    try {
      await copyFirstRows(
        sqliteSource(memory, 'the first content', () => {}),
        target,
      )
    } finally {
      memory.close()
    }
  }
