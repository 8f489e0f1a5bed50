// The dialog that chooses files of the media library: folders, search, pages as one scrolls, and uploads into the open folder.
import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { ChevronRight, Folder, Search } from 'lucide-react'
import { useDeferredValue, useMemo, useState } from 'react'
import type { Entry } from '../form/values.js'
import { Button } from '../parts/button.js'
import { classes } from '../parts/classes.js'
import { Dialog } from '../parts/dialog.js'
import { EmptyState } from '../parts/empty-state.js'
import { ErrorState } from '../parts/error-state.js'
import { FileDrop } from '../parts/file-drop.js'
import { Select } from '../parts/select.js'
import { Skeleton } from '../parts/skeleton.js'
import { TextInput } from '../parts/text-input.js'
import { useWords } from '../parts/words.js'
import { request } from '../server/client.js'
import { readQuery } from '../server/queries.js'
import type { MediaFile } from '../server/upload.js'
import { FileCard } from './file-card.js'
import { acceptOf, type FileKind, fileKind, fileName } from './files.js'
import { UploadList } from './media.js'
import styles from './media-picker.module.css'
import { useUploads } from './uploads.js'

/** Files of one page. */
const pageSize = 48
/** Most folders that are listed. */
const maxFolders = 200

interface MediaPickerProps {
  readonly kinds: readonly FileKind[]
  readonly isMultiple: boolean
  readonly title?: string
  /** Files of the field; they cannot be chosen again. */
  readonly chosen?: readonly Entry[]
  readonly onChoose: (files: readonly Entry[]) => void
  readonly onClose: () => void
}

interface Place {
  readonly id: number
  readonly name: string
}

const sorts = ['createdAt:desc', 'name:asc', 'updatedAt:desc', 'size:desc'] as const
type Sort = (typeof sorts)[number]

function useFiles(kinds: readonly FileKind[], folder: number | null, text: string, sort: Sort) {
  // A search is in all folders.
  const query = {
    ...(text === '' ? { folder: folder === null ? 'root' : String(folder) } : { q: text }),
    ...(kinds.length === 1 ? { kind: kinds[0]! } : {}),
    ...{ sort, limit: pageSize },
  }
  return useInfiniteQuery({
    queryKey: ['/files', {}, query],
    queryFn: ({ pageParam, signal }) =>
      request('GET', '/files', { query: { ...query, ...(pageParam === null ? {} : { after: pageParam }) }, signal }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ meta }) => meta.next,
  })
}

/** Chooses files, or uploads them. */
export default function MediaPicker({ kinds, isMultiple, title, chosen = [], onChoose, onClose }: MediaPickerProps) {
  const words = useWords().fields.media
  const { parts } = useWords()
  const [places, setPlaces] = useState<readonly Place[]>([])
  const [text, setText] = useState('')
  const [sort, setSort] = useState<Sort>('createdAt:desc')
  const [picked, setPicked] = useState<readonly MediaFile[]>([])
  const searched = useDeferredValue(text.trim())
  const folder = places.at(-1)?.id ?? null
  const files = useFiles(kinds, folder, searched, sort)
  const folders = useQuery({
    ...readQuery('/folders', { query: { parent: folder === null ? 'root' : String(folder), limit: maxFolders } }),
    enabled: searched === '',
  })
  const cache = useQueryClient()
  const { running, upload } = useUploads()
  const present = useMemo(() => new Set(chosen.map(({ id }) => id)), [chosen])
  const shown = (files.data?.pages.flatMap(({ data }) => data) ?? []).filter((file) => kinds.includes(fileKind(file)))

  const toggle = (file: MediaFile) => {
    const isPicked = picked.some(({ id }) => id === file.id)
    if (isPicked) setPicked(picked.filter(({ id }) => id !== file.id))
    else setPicked(isMultiple ? [...picked, file] : [file])
  }
  const add = async (given: readonly File[]) => {
    const arrived = await upload(given, folder)
    await cache.invalidateQueries({ queryKey: ['/files'] })
    const fitting = arrived.filter((file) => kinds.includes(fileKind(file)))
    setPicked((all) => (isMultiple ? [...all, ...fitting] : fitting.slice(0, 1).length > 0 ? fitting.slice(0, 1) : all))
  }
  const list = folders.data?.data ?? []
  const isEmpty = !files.isPending && shown.length === 0 && (searched !== '' || list.length === 0)
  return (
    <Dialog
      isOpen
      size="tall"
      onClose={onClose}
      title={title === undefined ? words.pickerTitle : words.pickerFor(title)}
      footer={
        <>
          <span className={styles.picked} role="status">
            {picked.length > 0 && words.picked(picked.length)}
          </span>
          <Button onPress={onClose}>{parts.cancel}</Button>
          <Button kind="main" isDisabled={picked.length === 0} onPress={() => onChoose(picked)}>
            {words.take(picked.length)}
          </Button>
        </>
      }
    >
      <div className={styles.picker}>
        <div className={styles.bar}>
          <TextInput
            type="search"
            aria-label={words.search}
            placeholder={words.search}
            value={text}
            onChange={setText}
            start={<Search aria-hidden="true" />}
          />
          <Select
            aria-label={words.sort}
            isQuiet
            value={sort}
            choices={sorts.map((value) => ({ value, label: words.sorts[value] }))}
            onChange={setSort}
          />
        </div>
        <FileDrop isFirst label={words.upload} accept={acceptOf(kinds)} isMultiple={isMultiple} onFiles={(given) => void add(given)}>
          {searched === '' && <Places places={places} onGo={setPlaces} />}
          {running.length > 0 && <UploadList running={running} />}
          {searched === '' && list.length > 0 && (
            <ul className={styles.folders}>
              {list.map(({ id, name }) => (
                <li key={id}>
                  <button type="button" className={styles.folder} onClick={() => setPlaces([...places, { id, name }])}>
                    <Folder size={18} aria-hidden="true" />
                    <span>{name}</span>
                  </button>
                </li>
              ))}
            </ul>
          )}
          {files.isPending && <Skeleton lines={4} />}
          {files.isError && <ErrorState onRetry={() => void files.refetch()} isBusy={files.isFetching} />}
          {isEmpty && !files.isError && <EmptyState title={searched === '' ? words.emptyFolder : parts.nothingFound} />}
          {shown.length > 0 && (
            <ul className={styles.files} aria-label={words.files}>
              {shown.map((file) => (
                <Choice
                  key={file.id}
                  {...{ file, isMultiple }}
                  isPresent={present.has(file.id)}
                  position={picked.findIndex(({ id }) => id === file.id)}
                  onToggle={() => toggle(file)}
                  onTake={() => onChoose([file])}
                />
              ))}
            </ul>
          )}
          {files.hasNextPage && (
            <Button isBusy={files.isFetchingNextPage} onPress={() => void files.fetchNextPage()}>
              {words.more}
            </Button>
          )}
        </FileDrop>
      </div>
    </Dialog>
  )
}

function Places({ places, onGo }: { readonly places: readonly Place[]; readonly onGo: (places: readonly Place[]) => void }) {
  const words = useWords().fields.media
  return (
    <nav className={styles.places} aria-label={words.folders}>
      <button type="button" className={styles.step} onClick={() => onGo([])} aria-current={places.length === 0 ? 'page' : undefined}>
        {words.root}
      </button>
      {places.map(({ id, name }, index) => (
        <span key={id} className={styles.step}>
          <ChevronRight size={14} aria-hidden="true" />
          <button
            type="button"
            className={styles.step}
            onClick={() => onGo(places.slice(0, index + 1))}
            aria-current={index === places.length - 1 ? 'page' : undefined}
          >
            {name}
          </button>
        </span>
      ))}
    </nav>
  )
}

interface ChoiceProps {
  readonly file: MediaFile
  readonly isMultiple: boolean
  readonly isPresent: boolean
  /** Position among the picked files; -1: not picked. */
  readonly position: number
  readonly onToggle: () => void
  readonly onTake: () => void
}

function Choice({ file, isMultiple, isPresent, position, onToggle, onTake }: ChoiceProps) {
  const words = useWords().fields.media
  const isPicked = position >= 0
  return (
    <li>
      <label className={classes(styles.choice, isPicked && styles.isPicked, isPresent && styles.isPresent)} onDoubleClick={onTake}>
        <input
          type={isMultiple ? 'checkbox' : 'radio'}
          className={styles.input}
          name={isMultiple ? undefined : 'file'}
          checked={isPicked}
          disabled={isPresent}
          aria-label={isPresent ? words.alreadyChosen(fileName(file)) : fileName(file)}
          onChange={onToggle}
        />
        {isPicked && isMultiple && (
          <span className={styles.number} aria-hidden="true">
            {position + 1}
          </span>
        )}
        <FileCard file={file} />
      </label>
    </li>
  )
}
