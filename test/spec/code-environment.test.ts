// Variables in process.env of project code.
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { copyGolden, remove, start } from '../faults/child.js'
import { rule } from '../support/rule.js'

rule(
  'project-code.7',
  'code of a project finds the variables of .env in process.env; those of the process take precedence, and settings do not change',
  async () => {
    const folder = await copyGolden()
    rmSync(join(folder, 'octavo.config.json'))
    writeFileSync(join(folder, '.env'), 'SHOP_URL=https://shop.example\nOF_BOTH=file\nEMPTY=\nDATABASE_FILENAME=content.db\n', {
      flag: 'a',
    })
    writeFileSync(
      join(folder, 'octavo.config.mjs'),
      `const { SHOP_URL, OF_BOTH, EMPTY, DATABASE_FILENAME } = process.env
      export default { routes: [{ method: 'GET', path: '/seen', auth: false, handle: () => ({ SHOP_URL, OF_BOTH, EMPTY, DATABASE_FILENAME, now: process.env.SHOP_URL }) }] }`,
    )
    const child = start(folder, { OF_BOTH: 'process' })
    try {
      const seen = await (await fetch(`${await child.origin}/api/seen`)).json()
      expect(seen).toMatchObject({ SHOP_URL: 'https://shop.example', OF_BOTH: 'process', now: 'https://shop.example' })
      expect(seen).not.toHaveProperty('EMPTY')
    } finally {
      child.process.kill('SIGKILL')
      await remove(folder)
    }
  },
)
