// Writes the list of the libraries that are bundled into dist/, as CycloneDX: an audit of dependencies does not see them, since
// package.json names them for development only.
import { readFileSync, writeFileSync } from 'node:fs'

/**
 * The bundled packages, with the version and integrity that the lock file has.
 * @param {Iterable<string>} inputs the paths of all bundled files
 */
export function bundledPackages(inputs) {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'))
  const folders = new Set([...inputs].flatMap((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []))
  return [...folders].sort().map((folder) => {
    const locked = packages[folder]
    if (locked === undefined) throw new Error(`${folder} is bundled and not in package-lock.json`)
    const name = folder.slice(folder.lastIndexOf('node_modules/') + 'node_modules/'.length)
    return { name, version: locked.version, license: locked.license, integrity: locked.integrity }
  })
}

/**
 * @param {Iterable<string>} inputs the paths of all bundled files
 * @param {string} out the file to write
 */
export function writeBillOfMaterials(inputs, out) {
  const { name, version } = JSON.parse(readFileSync('package.json', 'utf8'))
  const components = bundledPackages(inputs).map(({ name, version, license, integrity }) => ({
    type: 'library',
    'bom-ref': `pkg:npm/${name.replace('@', '%40')}@${version}`,
    name,
    version,
    purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
    ...(license === undefined ? {} : { licenses: [{ expression: license }] }),
    ...(integrity === undefined ? {} : { hashes: [hashOf(integrity)] }),
  }))
  const unique = [...new Map(components.map((component) => [component.purl, component])).values()]
  const metadata = { component: { type: 'application', 'bom-ref': 'octavo', name, version } }
  writeFileSync(
    out,
    `${JSON.stringify({ bomFormat: 'CycloneDX', specVersion: '1.5', version: 1, metadata, components: unique }, null, 2)}\n`,
  )
}

/** `sha512-…` in base 64 becomes what CycloneDX has. */
function hashOf(integrity) {
  const [algorithm, digest] = integrity.split(' ')[0].split('-')
  const names = { sha1: 'SHA-1', sha256: 'SHA-256', sha384: 'SHA-384', sha512: 'SHA-512' }
  return { alg: names[algorithm], content: Buffer.from(digest, 'base64').toString('hex') }
}
