// Writes the licences of the libraries that are bundled into dist/: redistribution of the bundle requires them.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * @param {Iterable<string>} inputs the paths of all bundled files
 * @param {string} out the file to write
 */
export function writeLicenses(inputs, out) {
  const folders = new Set([...inputs].flatMap((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []))
  const told = [...folders].sort().map((folder) => {
    const { name, version, license, author } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    const text = readdirSync(folder).find((file) => /^(licen[cs]e|copying)/i.test(file))
    const by = typeof author === 'string' ? author : author?.name
    const terms = text === undefined ? `${license}${by === undefined ? '' : `, ${by}`}` : readFileSync(join(folder, text), 'utf8').trim()
    return `${name} ${version}\n\n${terms}\n`
  })
  writeFileSync(out, told.join(`\n${'-'.repeat(80)}\n\n`))
}
