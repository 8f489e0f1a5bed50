// S144: bundled libraries can be audited: dist/sbom.cdx.json lists exactly the libraries in the bundle, in their locked versions.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { expect, test } from 'vitest'
import { root } from './command.js'

interface Component {
  readonly name: string
  readonly version: string
  readonly purl: string
  readonly hashes: readonly { readonly alg: string; readonly content: string }[]
}

test('the bill of materials has every bundled library with its version, and no other', async () => {
  const { bundle } = (await import(join(root, 'scripts', 'bundle.mjs'))) as { readonly bundle: object }
  const { metafile } = await build({ ...bundle, absWorkingDir: root, write: false, metafile: true })
  const { buildPage } = (await import(join(root, 'scripts', 'page.mjs'))) as {
    readonly buildPage: (options: { readonly write: boolean }) => Promise<readonly string[]>
  }
  const inputs = [...Object.keys(metafile.inputs), ...(await buildPage({ write: false }))]
  const folders = new Set(inputs.flatMap((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []))
  const bundled = [...folders].map((folder) => {
    const { name, version } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')) as Component
    return `${name}@${version}`
  })
  const bill = JSON.parse(readFileSync(join(root, 'dist', 'sbom.cdx.json'), 'utf8')) as {
    readonly bomFormat: string
    readonly components: readonly Component[]
  }
  expect(bill.bomFormat).toBe('CycloneDX')
  expect(bill.components.map(({ name, version }) => `${name}@${version}`).sort()).toEqual([...new Set(bundled)].sort())
  for (const { purl, hashes } of bill.components) {
    expect(purl).toMatch(/^pkg:npm\/(?:%40[\w.-]+\/)?[\w.-]+@\d/)
    expect(hashes).toEqual([{ alg: 'SHA-512', content: expect.stringMatching(/^[0-9a-f]{128}$/) }])
  }
  expect(bill.components.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['fastify', 'qs', 'jose', 'nodemailer', 'lodash', 'react']),
  )
})
