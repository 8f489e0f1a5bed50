// Links to other documents: one or many, with their order, and a field that searches on the server.
import { lazy, Suspense } from 'react'
import { useValue } from '../form/hooks.js'
import { type Entry, keyOf, kindOf, toLink } from '../form/values.js'
import { announce } from '../parts/announce.js'
import { useWords } from '../parts/words.js'
import { type FieldProps, type Link, useDocumentFields } from './document.js'
import { LinkList } from './link-list.js'
import { linkName } from './link-name.js'
import styles from './relation.module.css'

const LinkPicker = lazy(() => import('./link-picker.js'))

/** Links of one relation. */
export function RelationField(props: FieldProps) {
  const { path, attribute, isReadOnly } = props
  const { store } = useDocumentFields()
  const words = useWords().fields.relation
  const value = useValue(store, path)
  const isMany = kindOf(attribute) === 'links'
  const links = (Array.isArray(value) ? value : value === null || value === undefined ? [] : [value]) as readonly Link[]
  // Their targets are of several types: each type has its own relation for them.
  const isPolymorphic = typeof attribute.target !== 'string'
  const mayChange = !isReadOnly && !isPolymorphic

  const add = (link: Entry) => {
    const made = toLink(link) as Link
    const present = isMany ? ((store.get(path) ?? []) as readonly Entry[]) : []
    if (present.some((one) => keyOf(one) === keyOf(made))) return
    store.set(path, isMany ? [...present, made] : made, { isTyping: false })
    announce(words.added(linkName(made, words.unnamed)))
  }
  const remove = (link: Link) => {
    if (isMany) store.remove(`${path}/${keyOf(link)}`)
    else store.set(path, null, { isTyping: false })
    announce(words.removed(linkName(link, words.unnamed)))
  }
  return (
    <div className={styles.relation}>
      <LinkList {...{ path, links, isMany, mayChange }} names={props.names} onRemove={remove} />
      {isPolymorphic && <p className={styles.note}>{words.polymorphic}</p>}
      {mayChange && (isMany || links.length === 0) && (
        <Suspense fallback={<div className={styles.loading} />}>
          <LinkPicker field={props} links={links} isMany={isMany} onAdd={add} onRemove={remove} />
        </Suspense>
      )}
      {!mayChange && links.length === 0 && <p className={styles.note}>{words.nothing}</p>}
    </div>
  )
}
