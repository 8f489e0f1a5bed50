// Tar files of a test's own.
import { pack } from 'tar-stream'

export type HeaderArgument = Parameters<ReturnType<typeof pack>['entry']>[0]

/** A tar file with these files, as bytes. */
export async function packed(files: readonly (readonly [HeaderArgument, string | Buffer])[]): Promise<Buffer> {
  const tar = pack()
  for (const [header, content] of files) {
    if (header.type === undefined) tar.entry(header, content)
    else tar.entry(header)
  }
  tar.finalize()
  const chunks: Buffer[] = []
  for await (const chunk of tar as AsyncIterable<Buffer>) chunks.push(chunk)
  return Buffer.concat(chunks)
}
