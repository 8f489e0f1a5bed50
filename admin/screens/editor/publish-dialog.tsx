// Preview of a publication: values that become public, missing values, and links that will wait.

import { useEffect, useState } from 'react'
import { type Layout, labelOf } from '../../fields/document.js'
import { linkName } from '../../fields/link-name.js'
import type { Entry } from '../../form/values.js'
import { Button } from '../../parts/button.js'
import { CheckBox } from '../../parts/check-box.js'
import { Dialog } from '../../parts/dialog.js'
import { Skeleton } from '../../parts/skeleton.js'
import { PlannedMark, State } from '../../parts/state.js'
import { useToasts } from '../../parts/toasts.js'
import { useFormat, useWords } from '../../parts/words.js'
import { mayIn } from '../../server/queries.js'
import { checkPublication, type PublicationCheck, placePublicationErrors, publish, saveAll, unschedule } from './document-actions.js'
import { type DocumentForm, siblingsOf } from './document-form.js'
import type { DocumentView } from './document-network.js'
import styles from './editor.module.css'
import { FieldLinks, nameOfDocument } from './path-labels.js'
import { useMeta } from './use-document-form.js'
import { unpublishedAttributes } from './values-as-text.js'

interface PublishDialogProps {
  readonly form: DocumentForm
  readonly onClose: () => void
  /** Opens the window for a publication at a later time. */
  readonly onLater: () => void
  /** Goes to a field. */
  readonly onGo: (path: string) => void
  /** Opens another language at its first error of an attribute; without it, these errors are only named. */
  readonly onGoIn?: ((check: PublicationCheck, attribute: string) => void) | undefined
}

/** What holds back an open form of the document, by its language. */
type Held = ReadonlyMap<string | null, string>

/** Saves all open forms of the document, so that no language is published without its unsaved changes. */
async function saveForms(form: DocumentForm, words: ReturnType<typeof useWords>['editor']['publish']): Promise<Held> {
  const held = new Map<string | null, string>()
  const save = async (one: DocumentForm) => {
    if (await saveAll(one)) return
    const conflicts = one.store.conflicts().length
    held.set(one.locale, conflicts > 0 ? words.conflictsFirst(conflicts) : words.refusedFirst)
  }
  const siblings = siblingsOf(form)
  for (const one of siblings) await save(one)
  // Languages share values and a list of states.
  if (siblings.length > 0) await form.saver.refresh()
  await save(form)
  return held
}

/** Loads what a publication would do, after everything is saved. */
function useChecks(form: DocumentForm) {
  const [checks, setChecks] = useState<readonly PublicationCheck[] | null>(null)
  const [held, setHeld] = useState<Held>(new Map())
  const [failure, setFailure] = useState<string | null>(null)
  const words = useWords().editor.publish
  useEffect(() => {
    let isCurrent = true
    const load = async () => {
      const unsaved = await saveForms(form, words)
      if (isCurrent) setHeld(unsaved)
      const found = await checkPublication(form)
      for (const one of siblingsOf(form)) placePublicationErrors(one, found.find(({ locale }) => locale === one.locale)?.errors ?? [])
      if (isCurrent) setChecks(found)
    }
    load().catch((error: Error) => {
      if (isCurrent) setFailure(error.message)
    })
    return () => {
      isCurrent = false
    }
  }, [form, words])
  /** Saves again before publication; true if nothing is held back in these languages. */
  const saveAgain = async (locales: readonly (string | null)[]) => {
    const unsaved = await saveForms(form, words)
    setHeld(unsaved)
    return !locales.some((locale) => unsaved.has(locale))
  }
  return { checks, held, problem: failure ?? held.get(form.locale) ?? null, saveAgain }
}

/** Shows what a publication would do, and publishes. */
export function PublishDialog({ form, onClose, onLater, onGo, onGoIn }: PublishDialogProps) {
  const { parts, editor } = useWords()
  const words = editor.publish
  const format = useFormat()
  const { say } = useToasts()
  const { view } = useMeta(form)
  const { checks, held, problem, saveAgain } = useChecks(form)
  const [chosen, setOthers] = useState<readonly string[]>([])
  const others = chosen.filter((locale) => !held.has(locale))
  const [isBusy, setBusy] = useState(false)
  const planned = view?.scheduled.find((one) => one.locale === form.locale && one.action === 'publish' && one.error === null)
  const [isCancelled, setCancelled] = useState(true)
  const own = checks?.find(({ locale }) => locale === form.locale)
  const candidates = (view?.locales ?? []).filter(
    ({ locale, state }) => locale !== form.locale && locale !== null && state !== 'published' && mayIn(form.type, 'publish', locale),
  )
  const errors = form.store.allErrors().filter(({ source }) => source === 'publication' || source === 'refused')
  const isReady = checks !== null && problem === null && errors.length === 0
  const hints = own === undefined ? [] : form.store.placeErrors('publication', own.hints)
  const state = view?.locales.find(({ locale }) => locale === form.locale)?.state
  const isCurrent = state === 'published' && others.length === 0
  const name = nameOfDocument(form.type, form.store.get('') as Entry)
  const goIn = (check: PublicationCheck, attribute: string) => {
    onClose()
    onGoIn?.(check, attribute)
  }
  const confirm = async () => {
    setBusy(true)
    try {
      if (!(await saveAgain([form.locale, ...others]))) return setBusy(false)
      await publish(form, [...(form.locale === null ? [] : [form.locale]), ...others])
      if (planned !== undefined && isCancelled) await unschedule(form, planned)
      say(words.done(name), { kind: 'good' })
      onClose()
    } catch (error) {
      say((error as Error).message, { kind: 'wrong' })
      setBusy(false)
    }
  }
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={form.locale === null ? words.title : words.titleOf(format.languageName(form.locale))}
      footer={
        <>
          <Button onPress={onClose}>{parts.cancel}</Button>
          {form.saver.state.documentId !== null && (
            <Button isDisabled={isBusy} onPress={onLater}>
              {words.later}
            </Button>
          )}
          {/* Mounted again when it can be pressed, so that it gets the focus then. */}
          <Button
            key={String(isReady && !isCurrent)}
            kind="main"
            isBusy={isBusy}
            isDisabled={!isReady || isCurrent}
            onPress={() => void confirm()}
            autoFocus
          >
            {others.length > 0 ? words.publishLanguages(others.length + 1) : words.publishNow}
          </Button>
        </>
      }
    >
      <div className={styles.sheet}>
        {problem !== null && <p className={styles.problem}>{problem}</p>}
        {checks === null && problem === null ? (
          <>
            <p>{words.checking}</p>
            <Skeleton lines={3} />
          </>
        ) : (
          <>
            {[errors, hints].map(
              (found, index) =>
                found.length > 0 && (
                  <section key={index} className={styles.part}>
                    <h3>{index === 0 ? words.missing(found.length) : words.empty(found.length)}</h3>
                    <FieldLinks form={form} onGo={onGo} found={found} />
                  </section>
                ),
            )}
            {isReady && state !== 'published' && hints.length === 0 && <p className={styles.ready}>{words.ready}</p>}
            <Changes form={form} />
            {own !== undefined && own.waiting.length > 0 && <Waiting form={form} check={own} />}
            {planned !== undefined && (
              <CheckBox isSelected={isCancelled} onChange={setCancelled}>
                {words.unschedule(format.dateTime(new Date(planned.at)))}
              </CheckBox>
            )}
            {candidates.length > 0 && (
              <OtherLanguages
                candidates={candidates}
                scheduled={view?.scheduled ?? []}
                checks={checks ?? []}
                held={held}
                layout={form.type.layout}
                chosen={others}
                onChange={setOthers}
                onGoIn={onGoIn && goIn}
              />
            )}
          </>
        )}
      </div>
    </Dialog>
  )
}

function Changes({ form }: { readonly form: DocumentForm }) {
  const words = useWords().editor.publish
  const format = useFormat()
  const { view } = useMeta(form)
  if (view?.published == null) return null
  const names = unpublishedAttributes(form.type, view.published as Entry, form.store.get('') as Entry)
  return (
    <section className={styles.part}>
      <h3>{words.becomesPublic}</h3>
      <p>{names.length === 0 ? words.nothing : format.list(names.map((name) => labelOf(form.type.layout, name)))}</p>
    </section>
  )
}

/** Names of the linked documents in a value, by id. */
function namesOfLinks(value: unknown, names = new Map<string, string>()): ReadonlyMap<string, string> {
  if (typeof value !== 'object' || value === null) return names
  const { documentId } = value as Entry
  const name = linkName(value as Entry, '')
  if (typeof documentId === 'string' && name !== '') names.set(documentId, name)
  for (const member of Object.values(value)) namesOfLinks(member, names)
  return names
}

/** Links that are named; more than these would hide what follows. */
const maxNamed = 20

function Waiting({ form, check }: { readonly form: DocumentForm; readonly check: PublicationCheck }) {
  const words = useWords().editor.publish
  const format = useFormat()
  const names = namesOfLinks(form.store.get(''))
  const labels = check.waiting.map(({ path, documentId }) => {
    const label = labelOf(form.type.layout, path[0] ?? '')
    const name = names.get(documentId)
    return name === undefined ? label : `${name} (${label})`
  })
  const shown = [...new Set(labels)]
  return (
    <section className={styles.part}>
      <h3>{words.waiting(check.waiting.length)}</h3>
      <p>{format.list(shown.length > maxNamed ? [...shown.slice(0, maxNamed), '…'] : shown)}</p>
    </section>
  )
}

interface OtherLanguagesProps extends Pick<PublishDialogProps, 'onGoIn'> {
  readonly candidates: readonly { readonly locale: string | null; readonly state: 'draft' | 'changed' | 'published' }[]
  readonly scheduled: DocumentView['scheduled']
  readonly checks: readonly PublicationCheck[]
  readonly held: Held
  readonly layout: Layout
  readonly chosen: readonly string[]
  readonly onChange: (chosen: readonly string[]) => void
}

function OtherLanguages({ candidates, scheduled, checks, held, layout, chosen, onChange, onGoIn }: OtherLanguagesProps) {
  const { editor } = useWords()
  const words = editor.publish
  const format = useFormat()
  return (
    <fieldset className={styles.part}>
      <legend>{words.languages}</legend>
      {candidates.map(({ locale, state }) => {
        const code = locale ?? ''
        const check = checks.find((one) => one.locale === locale)
        const count = check?.errors.length ?? 0
        const names = [...new Set(check?.errors.map(({ path }) => String(path?.[0] ?? '')))]
        const planned = scheduled.find((one) => one.locale === locale && one.error === null)
        return (
          <div key={code}>
            <CheckBox
              isSelected={chosen.includes(code)}
              disabled={count > 0 || held.has(locale)}
              description={held.get(locale) ?? (count > 0 ? words.missing(count) : undefined)}
              onChange={(isChosen) => onChange(isChosen ? [...chosen, code] : chosen.filter((one) => one !== code))}
            >
              {format.languageName(code)} <State state={state} isQuiet /> {planned && <PlannedMark {...planned} />}
            </CheckBox>
            {check !== undefined && names.length > 0 && (
              <ul className={styles.linksOf}>
                {names.map((name) => {
                  const label = labelOf(layout, name) || editor.errors.atDocument
                  return (
                    <li key={name}>
                      {onGoIn === undefined ? (
                        label
                      ) : (
                        <button type="button" className={styles.link} onClick={() => onGoIn(check, name)}>
                          {label}
                        </button>
                      )}
                    </li>
                  )
                })}
              </ul>
            )}
          </div>
        )
      })}
    </fieldset>
  )
}
