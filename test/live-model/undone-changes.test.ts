// Every kind of model change, applied and undone while serving: all content is as before (live-model.14).
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { serveExisting } from '../support/serve.js'
import { agreed, contentOf, newProject, removeProject, undo } from './changing-project.js'
import { kindsOfChanges, requestFor } from './kinds-of-changes.js'

/** Undoing does not revert publications: documents that a change has published stay published. */
const publishing = 'Draft & Publish off, drafts published'

describe('live-model.14: a change that is undone leaves all content', () => {
  test.each(Object.keys(kindsOfChanges))('%s', async (name) => {
    const folder = newProject()
    const served = await serveExisting({ folder }, { DATABASE_FILENAME: join(folder, 'content.db') })
    try {
      const content = await contentOf(served)
      const made = await agreed(served, requestFor(folder, name))
      expect(made.status, made.text).toBe(200)
      await undo(served)
      const after = await contentOf(served)
      if (name === publishing) expect(documentsIn(after)).toEqual(expect.arrayContaining([...documentsIn(content)]))
      else expect(after).toEqual(content)
    } finally {
      await served.close()
      removeProject(folder)
    }
  })
})

const documentsIn = (content: unknown): readonly string[] => [
  ...new Set([...JSON.stringify(content).matchAll(/"documentId":"(\w+)"/g)].map(([, documentId]) => documentId!)),
]
