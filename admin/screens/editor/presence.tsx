// People at the document of the editor, and their fields; changes of others are merged as they come.
import { useEffect, useMemo, useRef, useSyncExternalStore } from 'react'
import { useSaver } from '../../form/hooks.js'
import { splitPath } from '../../form/paths.js'
import { isKeyed, keyOf } from '../../form/values.js'
import { useFormat, useWords } from '../../parts/words.js'
import { type PresenceEvent, peopleAt, subscribeToEvents } from '../../server/events.js'
import { openPresence, tabId } from '../../server/presence.js'
import { personName } from '../../words/format.js'
import { type DocumentForm, siblingsOf } from './document-form.js'
import styles from './editor.module.css'
import type { FormPlace } from './focus-path.js'

type Present = PresenceEvent['people'][number]

const nobody: readonly Present[] = []

/** The other tabs at the document of a form in its language. */
function usePeople(form: DocumentForm): readonly Present[] {
  const { type, locale, saver } = form
  const all = useSyncExternalStore(subscribeToEvents, () => {
    const { documentId } = saver.state
    return documentId === null ? nobody : peopleAt(type.uid, documentId)
  })
  return useMemo(() => all.filter((person) => person.tab !== tabId && (person.locale ?? locale) === locale), [all, locale])
}

const nameOf = ({ administrator }: Present): string => personName(administrator)

/** The names of people in the head. */
export function People({ form }: { readonly form: DocumentForm }) {
  const words = useWords().editor.people
  const format = useFormat()
  const people = usePeople(form)
  const names = [...new Set(people.map(nameOf))]
  return names.length === 0 ? null : <span className={styles.people}>{words.here(format.list(names))}</span>
}

/** Names of the people in a field, next to its label. */
export function PeopleAt({ form, path }: { readonly form: DocumentForm; readonly path: string }) {
  const words = useWords().editor.people
  const format = useFormat()
  const people = usePeople(form)
  const field = fieldOf(form, path)
  const names = [...new Set(people.filter((person) => person.field === field).map(nameOf))]
  return names.length === 0 ? null : <span className={styles.people}>{words.inField(format.list(names))}</span>
}

/** A path in the terms of presence: `sections.0.heading`. */
function fieldOf({ store }: DocumentForm, path: string): string {
  let at = ''
  return splitPath(path)
    .map((part) => {
      const list = store.get(at)
      at = at === '' ? part : `${at}/${part}`
      return isKeyed(list) && list.length > 0 ? String(list.findIndex((item) => keyOf(item) === part)) : part
    })
    .join('.')
}

/** Reports the field with the focus, which may be one of the second form, and merges documents that others have saved. */
export function useFollowing(form: DocumentForm, idPrefix: string, second: FormPlace | null): void {
  const latest = useRef(second)
  latest.current = second
  const { documentId } = useSaver(form.saver)
  const { type, locale } = form
  useEffect(() => {
    if (documentId === null) return
    const presence = openPresence(type.uid, documentId, locale)
    const note = ({ target }: FocusEvent): void => {
      const find = (prefix: string) =>
        target instanceof Element ? target.closest(`[id^="${prefix}"]`)?.id.slice(prefix.length) : undefined
      const own = find(idPrefix)
      const other = own === undefined ? latest.current : null
      const path = own ?? (other === null ? undefined : find(other.idPrefix))
      const there = other?.form ?? form
      presence.at(path === undefined ? null : fieldOf(there, path), there.locale)
    }
    document.addEventListener('focusin', note)
    return () => {
      document.removeEventListener('focusin', note)
      presence.close()
    }
  }, [form, type, documentId, locale, idPrefix])
  useMerging(form)
}

/** Merges documents that others have saved. */
export function useMerging(form: DocumentForm): void {
  const { documentId } = useSaver(form.saver)
  const { type, locale, user } = form
  useEffect(() => {
    if (documentId === null) return
    return subscribeToEvents((event) => {
      if (event.event === 'reset') void form.saver.refresh()
      if (event.event !== 'content' || event.type !== type.uid || event.documentId !== documentId) return
      // My own saves, unless I have the document open elsewhere, or in the other column.
      const isAlone =
        String(event.administrator?.id) === user &&
        siblingsOf(form).length === 0 &&
        peopleAt(type.uid, documentId).every(({ tab }) => tab === tabId)
      if (!isAlone && (event.locales === null || event.locales.includes(locale ?? ''))) void form.saver.refresh()
    })
  }, [form, type, documentId, locale, user])
}
