// Counts constructions that read as translated, in comments, pages of docs and test titles: `node scripts/prose.mjs [--list]`.
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = join(import.meta.dirname, '..')

const constructions = [
  /\b(what (is|was|are|were|has|have|had|it|they|comes|goes|stands|lies|belongs|becomes|became|follows)|whatever|whoever|whichever|whom)\b/i,
  /\b(stands?|lies|lie)\b/i,
  /\b(besides?|behind|anew|meanwhile|aside)\b/i,
  /\b(nobody|somebody)\b/i,
  /\b(told|tells?)\b/i,
  /\b(of (its|their|our|one's|his) own|of ours)\b/i,
  /\b(by|in|of|from|to|with|on|at|for) (which|whom)\b/i,
  /\b(became of|becomes? of|comes? to|came to|(is|was|are|were) to be)\b/i,
  /\b(any more|no more|so many|as far as|so long)\b/i,
]
/** A question word at the beginning of a comment or title, where a noun or verb belongs. */
const opening = /^\s*(?:\/\*\*|\/\/|\*)?\s*(?:What|Which|Whether|Where|Who|How|Whom|Whose)\b/i

const skipped = new Set(['node_modules', 'strapi', 'dist', 'content', '.tmp'])
/** @type {(folder: string, ending: RegExp) => string[]} */
const filesBelow = (folder, ending) =>
  readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (!entry.isDirectory()) return ending.test(entry.name) ? [path] : []
    return skipped.has(entry.name) && !folder.startsWith('src') ? [] : filesBelow(path, ending)
  })
const linesOf = (/** @type {string} */ file) => readFileSync(join(root, file), 'utf8').split('\n')

/**
 * Lines with one of the constructions.
 * @typedef {{ readonly total: number, readonly found: readonly string[] }} Count
 */

/** @type {(files: readonly string[]) => Count} */
function commentsIn(files) {
  let total = 0
  const found = files.flatMap((file) =>
    linesOf(file).flatMap((line, index) => {
      if (!/^\s*(\/\/|\/\*|\*)/.test(line)) return []
      total++
      return opening.test(line) || constructions.some((one) => one.test(line)) ? [`${file}:${index + 1}: ${line.trim()}`] : []
    }),
  )
  return { total, found }
}

/**
 * Comment lines of each storey of src/, of the page in admin/, and of packages/, test/, scripts/ and bench/.
 * @returns {Record<string, Count>}
 */
export function proseOfComments() {
  const storeys = readdirSync(join(root, 'src')).map((storey) => join('src', storey))
  const folders = [...storeys, 'packages', 'test', 'scripts', 'bench'].map((folder) => [relative('src', folder).replace('../', ''), folder])
  return Object.fromEntries(
    [...folders, ['page', 'admin']].map(([name, folder]) => [
      name,
      commentsIn(filesBelow(folder, /\.(tsx?|mjs|css)$/).filter((file) => !/^scripts.prose\.mjs$|\.d\.ts$/.test(file))),
    ]),
  )
}

/**
 * Titles of tests.
 * @returns {Count}
 */
export function proseOfTitles() {
  const titles = filesBelow('test', /\.test\.ts$/).flatMap((file) =>
    [
      ...linesOf(file)
        .join('\n')
        .matchAll(/\b(?:test|it|describe|rule)(?:\.\w+)*(?:\([^()'`"]*\))?\(\s*(?:'[\w-]+\.\d+',\s*)?(['"`])((?:\\.|(?!\1)[^\\])*)\1/g),
    ].map(([, , title]) => ({ file, title: /** @type {string} */ (title) })),
  )
  const found = titles.filter(({ title }) => opening.test(title.replace(/^[RSO]\d+ /, '')) || constructions.some((one) => one.test(title)))
  return { total: titles.length, found: found.map(({ file, title }) => `${file}: ${title}`) }
}

/**
 * Words of pages without their code, and the constructions in them.
 * @param {readonly string[]} files
 * @returns {Count}
 */
function pages(files) {
  let total = 0
  const found = files.flatMap((file) => {
    let isCode = false
    return linesOf(file).flatMap((line, index) => {
      if (/^\s*```/.test(line)) isCode = !isCode
      if (isCode) return []
      const text = line.replace(/`[^`]*`/g, 'x')
      total += text.split(/[^\p{L}\p{N}'’-]+/u).filter(Boolean).length
      const hits = constructions.reduce((sum, one) => sum + [...text.matchAll(new RegExp(one, 'gi'))].length, 0)
      return Array.from({ length: hits }, () => `${file}:${index + 1}: ${line.trim().slice(0, 200)}`)
    })
  })
  return { total, found }
}

/**
 * Pages by kind; totals are words.
 * @returns {Record<string, Count>}
 */
export function proseOfPages() {
  return {
    'README.md': pages(['README.md']),
    'other pages of the root': pages(['ARCHITECTURE.md', 'CONTRIBUTING.md', 'GLOSSARY.md', 'CHANGELOG.md', 'bench/README.md']),
    guide: pages(filesBelow('docs/guide', /\.md$/)),
    spec: pages(filesBelow('docs/spec', /\.md$/)),
    decisions: pages(filesBelow('docs/decisions', /\.md$/)),
    differences: pages(['docs/differences.md']),
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  /** @type {(name: string, count: Count, per: number, unit: string) => void} */
  const print = (name, { total, found }, per, unit) =>
    console.log(
      `${name.padEnd(26)} ${String(found.length).padStart(5)} of ${String(total).padStart(6)}: ${((per * found.length) / total).toFixed(1)} ${unit}`,
    )
  const kinds = { ...proseOfComments() }
  for (const [name, count] of Object.entries(kinds)) print(name, count, 100, '% of comment lines')
  print('test titles', proseOfTitles(), 100, '% of titles')
  for (const [name, count] of Object.entries(proseOfPages())) print(name, count, 1000, 'in 1,000 words')
  if (process.argv.includes('--list'))
    for (const { found } of [...Object.values(kinds), proseOfTitles(), ...Object.values(proseOfPages())])
      for (const line of found) console.log(line)
}
