// A file as a card: its picture or the icon of its kind, its name, and a remark where a text is missing.
import { FileText, Film, Music, Image as Picture } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import type { Entry } from '../form/values.js'
import { useFormat, useWords } from '../parts/words.js'
import styles from './file-card.module.css'
import { fileKind, fileName, lacksText, thumbnailOf } from './files.js'

const icons = { image: Picture, video: Film, audio: Music, file: FileText }

/** The picture of a file, or the icon of its kind. */
export function FilePicture({ file }: { readonly file: Entry }) {
  const [isBroken, setIsBroken] = useState(false)
  const url = thumbnailOf(file)
  const Icon = icons[fileKind(file)]
  return (
    <span className={styles.picture}>
      {url === null || isBroken ? (
        <Icon size={28} aria-hidden="true" />
      ) : (
        <img src={url} alt="" loading="lazy" draggable={false} onError={() => setIsBroken(true)} />
      )}
    </span>
  )
}

/** Extension and size, or width and height of a picture. */
export function FileFacts({ file }: { readonly file: Entry }) {
  const format = useFormat()
  const extension = typeof file.ext === 'string' ? file.ext.replace('.', '').toUpperCase() : ''
  const size = typeof file.width === 'number' && typeof file.height === 'number' ? `${file.width} × ${file.height}` : null
  // Sizes are in kilobytes.
  const bytes = typeof file.size === 'number' ? format.bytes(file.size * 1000) : null
  return <>{[extension, size ?? bytes].filter(Boolean).join(' · ')}</>
}

interface FileCardProps {
  readonly file: Entry
  /** Its buttons. */
  readonly children?: ReactNode
  /** Opens the window where a missing text can be added. */
  readonly onDescribe?: () => void
}

/** A file with its name. */
export function FileCard({ file, children, onDescribe }: FileCardProps) {
  const words = useWords().fields.media
  return (
    <div className={styles.card}>
      <FilePicture file={file} />
      <div className={styles.text}>
        <span className={styles.name} title={fileName(file)} dir="auto">
          {fileName(file)}
        </span>
        {lacksText(file) ? (
          onDescribe === undefined ? (
            <span className={styles.warning}>{words.noAlternative}</span>
          ) : (
            <button type="button" className={styles.warning} onClick={onDescribe}>
              {words.noAlternative}
            </button>
          )
        ) : (
          <span className={styles.facts}>
            <FileFacts file={file} />
          </span>
        )}
      </div>
      {children !== undefined && <div className={styles.actions}>{children}</div>}
    </div>
  )
}
