// An uploads folder that cannot be used: the start ends with a sentence for the operator.
import { chmodSync, chownSync, existsSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect } from 'vitest'
import { contentType } from '../spec/library.js'
import { type Ended, octavo, project, removeProjects } from '../start/command.js'
import { rule } from '../support/rule.js'

afterAll(removeProjects)

const files = {
  ...contentType('note', { name: { type: 'string' } }),
  '.env': 'API_TOKEN_SALT=a-secret-of-16-letters\nJWT_SECRET=another-of-16-letters',
}
const refusal = (folder: string, reason: string): Partial<Ended> => ({
  status: 1,
  err: `octavo: The uploads folder ${folder} (uploads.folder or UPLOADS_DIR) cannot be used: ${reason}.\n`,
})

rule('uploads.15', 'a link to nothing is named with its target, be it the folder or one above it', async () => {
  const folder = project(files)
  const uploads = join(folder, 'public', 'uploads')
  mkdirSync(join(folder, 'public'))
  symlinkSync('../mount/uploads', uploads)
  const reason = (link: string) => `${link} is a link to ${join(folder, 'mount', 'uploads')}, which does not exist`
  expect(await octavo(['start', folder])).toMatchObject(refusal(uploads, reason(uploads)))
  const below = join(uploads, 'a', 'b')
  expect(await octavo(['start', folder], { UPLOADS_DIR: below })).toMatchObject(refusal(below, reason(uploads)))
  // Once the mount is there, it is used.
  mkdirSync(join(folder, 'mount', 'uploads'), { recursive: true })
  expect(await octavo(['start', folder])).toMatchObject({ status: 0, err: '' })
})

rule('uploads.15', 'a file in the place of the folder, or of one above it, is named', async () => {
  const folder = project({ ...files, 'public/uploads': 'no folder' })
  const uploads = join(folder, 'public', 'uploads')
  expect(await octavo(['start', folder])).toMatchObject(refusal(uploads, `${uploads} is not a folder`))
  const below = join(uploads, 'below')
  expect(await octavo(['start', folder], { UPLOADS_DIR: below })).toMatchObject(refusal(below, `${uploads} is not a folder`))
})

rule('uploads.15', 'a folder that the user may not write to is named with the user, also where a seed puts files there', async () => {
  const [isRoot, uid] = [process.getuid?.() === 0, process.getuid?.() || 65_534]
  const file = { key: 'one', name: 'one.txt', file: 'seed/one.txt', url: '/uploads/one.txt', hash: 'one', ext: '.txt', mime: 'text/plain' }
  for (const seed of [{}, { 'seed/one.txt': 'text', 'seed/files.json': [{ ...file, size: 1 }] }]) {
    const folder = project({ ...files, ...seed })
    const uploads = join(folder, 'foreign')
    mkdirSync(uploads, { mode: 0o555 })
    if (isRoot) chownSync(folder, uid, uid)
    const start = (path: string) => octavo(['start', folder], { UPLOADS_DIR: path }, isRoot ? { uid, gid: uid } : {})
    const reason = `${uploads} cannot be written to by this user (uid ${uid})`
    expect(await start(uploads)).toMatchObject(refusal(uploads, reason))
    const below = join(uploads, 'a', 'b')
    expect(await start(below)).toMatchObject(refusal(below, reason))
  }
})

rule('uploads.15', 'a read-only uploads folder is named, even if its subfolder for uploads in progress is writable', async () => {
  const [isRoot, uid] = [process.getuid?.() === 0, process.getuid?.() || 65_534]
  const folder = project(files)
  const uploads = join(folder, 'half')
  mkdirSync(join(uploads, '.octavo'), { recursive: true })
  if (isRoot) for (const path of [folder, uploads, join(uploads, '.octavo')]) chownSync(path, uid, uid)
  chmodSync(uploads, 0o555)
  const started = await octavo(['start', folder], { UPLOADS_DIR: uploads }, isRoot ? { uid, gid: uid } : {})
  expect(started).toMatchObject(refusal(uploads, `${uploads} cannot be written to by this user (uid ${uid})`))
  chmodSync(uploads, 0o755)
})

rule('uploads.15', 'a file system that takes no folders ends the start at once', async () => {
  if (!existsSync('/proc/self')) return
  const folder = project(files)
  for (const uploads of ['/proc/octavo', '/proc/octavo/uploads'])
    expect(await octavo(['start', folder], { UPLOADS_DIR: uploads })).toMatchObject(
      refusal(uploads, '/proc/octavo cannot be created (ENOENT)'),
    )
  expect(await octavo(['start', folder], { UPLOADS_DIR: '/proc' })).toMatchObject(
    refusal('/proc', '/proc/.octavo cannot be created (ENOENT)'),
  )
})

rule('uploads.15', 'missing folders are created', async () => {
  const folder = project(files)
  writeFileSync(join(folder, 'octavo.config.json'), JSON.stringify({ uploads: { folder: 'a/b/c' } }))
  expect(await octavo(['start', folder])).toMatchObject({ status: 0, err: '' })
  expect(statSync(join(folder, 'a', 'b', 'c', '.octavo')).isDirectory()).toBe(true)
})
