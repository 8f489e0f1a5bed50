// The links of a relation in their order.
import { Clock, ExternalLink, MoreHorizontal, X } from 'lucide-react'
import { lazy, memo, Suspense, useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { joinPath } from '../form/paths.js'
import { keyOf } from '../form/values.js'
import { Button } from '../parts/button.js'
import { classes } from '../parts/classes.js'
import { DragHandle } from '../parts/drag-handle.js'
import { IconButton } from '../parts/icon-button.js'
import { Menu, MenuItem } from '../parts/menu.js'
import { type Sortable, useSortable } from '../parts/sortable.js'
import { useToasts } from '../parts/toasts.js'
import { useWords } from '../parts/words.js'
import { request } from '../server/client.js'
import { type DocumentFields, type Link, useDocumentFields } from './document.js'
import styles from './link-list.module.css'
import { linkName, linkState } from './link-name.js'
import { LinkView } from './link-view.js'
import { useIsNear } from './near.js'
import { useWindow } from './window.js'

const MoveTo = lazy(() => import('../parts/move-to.js'))

/** Links of one request, and requests for one press of the button. */
const pageSize = 200
const pagesAtOnce = 5

/** Prefetch distance, in links before the end of the list. */
const nearEnd = 50

interface LinkListProps {
  readonly path: string
  readonly names: string
  readonly links: readonly Link[]
  readonly isMany: boolean
  readonly mayChange: boolean
  readonly onRemove: (link: Link) => void
}

/** The links with their buttons; further ones are loaded on request. */
export function LinkList({ path, names, links, isMany, mayChange, onRemove }: LinkListProps) {
  const document = useDocumentFields()
  const words = useWords().fields.relation
  const byKey = useMemo(() => new Map(links.map((link) => [keyOf(link)!, link])), [links])
  const keys = useMemo(() => [...byKey.keys()], [byKey])
  const labelOf = (key: string) => linkName(byKey.get(key) ?? {}, words.unnamed)
  const sortable = useSortable({
    ...{ ids: keys, labelOf, isDisabled: !mayChange || !isMany },
    onMove: (key, to) => document.store.move(joinPath(path, key), to),
  })
  const [moved, setMoved] = useState<string | null>(null)
  const latest = useRef(onRemove)
  latest.current = onRemove
  const remove = useCallback((link: Link) => latest.current(link), [])
  const { isLong, list, parts, keep } = useWindow(keys)
  const last = parts.findLast((part) => 'index' in part)
  const isPartial = document.store.isPartial(path)
  return (
    <>
      {links.length > 0 && (
        <ul
          ref={list}
          className={classes(styles.links, isLong && styles.long)}
          onFocus={({ target }) => keep(target)}
          onPointerDown={({ target }) => keep(target)}
        >
          {parts.map((part, at) =>
            'gap' in part ? (
              <li key={`gap ${at}`} aria-hidden="true" style={{ blockSize: part.gap }} />
            ) : (
              <LinkRow
                key={keys[part.index]}
                {...{ sortable, mayChange, document }}
                link={byKey.get(keys[part.index]!)!}
                position={isLong ? part.index + 1 : undefined}
                total={isLong ? (isPartial ? -1 : links.length) : undefined}
                isSortable={isMany && mayChange && links.length > 1}
                onRemove={remove}
                onMoveTo={setMoved}
              />
            ),
          )}
        </ul>
      )}
      {isPartial && (
        <MoreLinks
          {...{ path, names, document }}
          isNear={last !== undefined && last.index >= links.length - nearEnd && links.length > nearEnd}
        />
      )}
      <Suspense>
        {moved !== null && (
          <MoveTo
            isOpen
            name={labelOf(moved)}
            total={links.length}
            position={keys.indexOf(moved)}
            onMove={(to) => sortable.moveTo(moved, to)}
            onClose={() => setMoved(null)}
          />
        )}
      </Suspense>
    </>
  )
}

interface LinkRowProps {
  readonly link: Link
  /** Position in a windowed list and length of the list; -1: unknown. */
  readonly position: number | undefined
  readonly total: number | undefined
  readonly document: DocumentFields
  readonly sortable: Sortable
  readonly isSortable: boolean
  readonly mayChange: boolean
  readonly onRemove: (link: Link) => void
  readonly onMoveTo: (key: string) => void
}

const LinkRow = memo(function LinkRow(props: LinkRowProps) {
  const { link, position, total, document, sortable, isSortable, mayChange, onRemove, onMoveTo } = props
  const words = useWords().fields.relation
  const { parts } = useWords()
  const row = useRef<HTMLLIElement>(null)
  const isNear = useIsNear(row)
  const key = keyOf(link)!
  const name = linkName(link, words.unnamed)
  const { type, openLink, locale } = document
  const isPending = type.draftAndPublish && linkState(link) === 'draft'
  const { ref, ...item } = sortable.item(key)
  return (
    <li
      className={styles.row}
      data-row={key}
      aria-posinset={position}
      aria-setsize={total}
      ref={(element) => {
        row.current = element
        ref(element)
      }}
      {...item}
    >
      {isSortable && isNear && <DragHandle {...sortable.handle(key)} />}
      <span className={styles.view}>
        <LinkView link={link} documentLocale={locale} />
        {isPending && (
          <span className={styles.pending}>
            <Clock size={12} aria-hidden="true" />
            {words.pending}
          </span>
        )}
      </span>
      {openLink !== undefined && isNear && (
        <IconButton isSmall label={words.open(name)} onPress={() => openLink(link)}>
          <ExternalLink size={15} aria-hidden="true" />
        </IconButton>
      )}
      {isSortable && isNear && (
        <Menu
          label={words.actions(name)}
          trigger={
            <IconButton isSmall label={words.actions(name)}>
              <MoreHorizontal size={16} aria-hidden="true" />
            </IconButton>
          }
        >
          <MenuItem onPress={() => sortable.moveTo(key, 0)}>{words.toStart}</MenuItem>
          <MenuItem onPress={() => onMoveTo(key)}>{parts.moveTo}</MenuItem>
        </Menu>
      )}
      {mayChange && isNear && (
        <IconButton isSmall label={words.remove(name)} onPress={() => onRemove(link)}>
          <X size={16} aria-hidden="true" />
        </IconButton>
      )}
    </li>
  )
})

interface MoreLinksProps {
  readonly path: string
  readonly names: string
  readonly document: DocumentFields
  /** True near the end of the list, where the next page loads by itself. */
  readonly isNear: boolean
}

function MoreLinks({ path, names, document, isNear }: MoreLinksProps) {
  const words = useWords().fields.relation
  const toasts = useToasts()
  const [isBusy, setIsBusy] = useState(false)
  const cursor = useRef<string | null>(null)
  const hasFailed = useRef(false)
  const load = async (pages: number) => {
    setIsBusy(true)
    try {
      cursor.current = await loadLinks(document, path, names, cursor.current, pages)
      hasFailed.current = false
    } catch (error) {
      // The list may have changed: the next press of the button reads it from the start.
      cursor.current = null
      hasFailed.current = true
      toasts.say(words.notLoaded(error instanceof Error ? error.message : ''), { kind: 'wrong' })
    } finally {
      setIsBusy(false)
    }
  }
  useEffect(() => {
    if (isNear && !isBusy && !hasFailed.current) void load(1)
  })
  return (
    <Button isSmall isBusy={isBusy} onPress={() => void load(pagesAtOnce)}>
      {words.more}
    </Button>
  )
}

/** Loads the next pages of links, and returns the cursor after them. */
async function loadLinks(
  document: DocumentFields,
  path: string,
  names: string,
  from: string | null,
  pages: number,
): Promise<string | null> {
  const found: Record<string, unknown>[] = []
  let after = from
  for (let page = 0; page < pages && (page === 0 || after !== null); page += 1) {
    const { data, meta } = await linksAfter(document, names, after)
    found.push(...data)
    after = meta.next
  }
  document.store.extendLinks(path, found, after === null)
  return after
}

function linksAfter({ type, document, locale }: DocumentFields, names: string, after: string | null) {
  const query = { limit: pageSize, ...(locale === null ? {} : { locale }), ...(after === null ? {} : { after }) }
  return request('GET', '/content/{type}/{document}/links/{path}', {
    path: { type: type.uid, document: document ?? '', path: names },
    query,
  })
}
