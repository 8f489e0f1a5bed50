// Files of the media library in a document: chosen in the picker, or uploaded in place.
import { FolderOpen, Pencil, X } from 'lucide-react'
import { lazy, Suspense, useState } from 'react'
import { useValue } from '../form/hooks.js'
import { joinPath } from '../form/paths.js'
import { type Entry, keyOf, toFile } from '../form/values.js'
import { announce } from '../parts/announce.js'
import { Button } from '../parts/button.js'
import { DragHandle } from '../parts/drag-handle.js'
import { FileDrop } from '../parts/file-drop.js'
import { IconButton } from '../parts/icon-button.js'
import { Progress } from '../parts/progress.js'
import { useSortable } from '../parts/sortable.js'
import { useWords } from '../parts/words.js'
import { type FieldProps, useDocumentFields } from './document.js'
import { FileCard } from './file-card.js'
import { acceptOf, allowedKinds, fileName } from './files.js'
import styles from './media.module.css'
import { type RunningUpload, useUploads } from './uploads.js'

const MediaPicker = lazy(() => import('./media-picker.js'))
const FileDetails = lazy(() => import('./file-details.js'))

/** One file or several, with their order. */
export function MediaField({ control, path, attribute, label, isReadOnly }: FieldProps) {
  const { store } = useDocumentFields()
  const words = useWords().fields.media
  const value = useValue(store, path)
  const isMultiple = attribute.multiple === true
  const files: readonly Entry[] = Array.isArray(value) ? value : value === null || value === undefined ? [] : [value as Entry]
  const [isPicking, setIsPicking] = useState(false)
  const [edited, setEdited] = useState<string | null>(null)
  const { running, upload } = useUploads()
  const kinds = allowedKinds(attribute)

  const put = (next: readonly Entry[]) => store.set(path, isMultiple ? next : (next[0] ?? null), { isTyping: false })
  /** Appends files to the present ones. */
  const add = (chosen: readonly Entry[]) => {
    if (chosen.length === 0) return
    const present = isMultiple && Array.isArray(store.get(path)) ? (store.get(path) as readonly Entry[]) : []
    const ids = new Set(present.map(({ id }) => id))
    put([...present, ...chosen.filter(({ id }) => !ids.has(id)).map(toFile)])
  }
  const remove = (file: Entry) => {
    put(files.filter((one) => one !== file))
    announce(words.removed(fileName(file)))
  }
  const editedFile = files.find((file) => keyOf(file) === edited)
  const hasRoom = !isReadOnly && (isMultiple || files.length === 0)
  const chooser = (
    <Button isSmall icon={<FolderOpen size={16} aria-hidden="true" />} id={control.id} onPress={() => setIsPicking(true)}>
      {isMultiple || files.length === 0 ? words.choose : words.chooseOther}
    </Button>
  )
  return (
    <div className={styles.media}>
      {files.length > 0 && (
        <FileList
          {...{ files, isReadOnly, isMultiple }}
          onMove={(key, to) => store.move(joinPath(path, key), to)}
          onEdit={(file) => setEdited(keyOf(file) ?? null)}
          onRemove={remove}
        />
      )}
      {running.length > 0 && <UploadList running={running} />}
      {hasRoom && (
        <div className={styles.place}>
          <FileDrop
            label={words.upload}
            accept={acceptOf(kinds)}
            isMultiple={isMultiple}
            onFiles={async (given) => add(await upload(given))}
            action={chooser}
          />
        </div>
      )}
      {!hasRoom && !isReadOnly && chooser}
      {isReadOnly && files.length === 0 && <p className={styles.nothing}>{words.nothing}</p>}
      <Suspense>
        {isPicking && (
          <MediaPicker
            {...{ kinds, isMultiple, title: label }}
            chosen={files}
            onClose={() => setIsPicking(false)}
            onChoose={(chosen) => {
              setIsPicking(false)
              add(chosen)
            }}
          />
        )}
        {editedFile !== undefined && (
          <FileDetails
            file={editedFile}
            onClose={() => setEdited(null)}
            onChanged={(changed) => put(files.map((file) => (file.id === changed.id ? toFile({ ...file, ...changed }) : file)))}
          />
        )}
      </Suspense>
    </div>
  )
}

interface FileListProps {
  readonly files: readonly Entry[]
  readonly isReadOnly: boolean
  readonly isMultiple: boolean
  readonly onMove: (key: string, to: number) => void
  readonly onEdit: (file: Entry) => void
  readonly onRemove: (file: Entry) => void
}

function FileList({ files, isReadOnly, isMultiple, onMove, onEdit, onRemove }: FileListProps) {
  const words = useWords().fields.media
  const names = new Map(files.map((file) => [keyOf(file)!, fileName(file)]))
  const sortable = useSortable({
    ...{ ids: [...names.keys()], isGrid: true, isDisabled: isReadOnly || !isMultiple, onMove },
    labelOf: (key) => names.get(key) ?? '',
  })
  return (
    <ul className={styles.files}>
      {files.map((file) => {
        const key = keyOf(file)!
        return (
          <li key={key} className={styles.file} {...sortable.item(key)}>
            <FileCard file={file} onDescribe={() => onEdit(file)}>
              {!isReadOnly && isMultiple && files.length > 1 && <DragHandle {...sortable.handle(key)} />}
              <span className={styles.gap} />
              <IconButton isSmall label={words.describe(fileName(file))} onPress={() => onEdit(file)}>
                <Pencil size={14} aria-hidden="true" />
              </IconButton>
              {!isReadOnly && (
                <IconButton isSmall label={words.remove(fileName(file))} onPress={() => onRemove(file)}>
                  <X size={16} aria-hidden="true" />
                </IconButton>
              )}
            </FileCard>
          </li>
        )
      })}
    </ul>
  )
}

/** Files on their way, with their progress. */
export function UploadList({ running }: { readonly running: readonly RunningUpload[] }) {
  const words = useWords().fields.media
  return (
    <ul className={styles.uploads}>
      {running.map(({ id, name, share, cancel }) => (
        <li key={id} className={styles.upload}>
          <span className={styles.uploadName}>{name}</span>
          <Progress label={words.uploading(name)} value={share} max={1} />
          <IconButton isSmall label={words.cancel(name)} onPress={cancel}>
            <X size={14} aria-hidden="true" />
          </IconButton>
        </li>
      ))}
    </ul>
  )
}
