// Publication at a later time: its mark in the head, and the window that schedules and cancels.
import { CalendarClock } from 'lucide-react'
import { useEffect, useState } from 'react'
import { dateTimeInput } from '../../fields/date-values.js'
import { useSaver } from '../../form/hooks.js'
import { Button } from '../../parts/button.js'
import { CheckBox } from '../../parts/check-box.js'
import { Dialog } from '../../parts/dialog.js'
import { Field } from '../../parts/field.js'
import { Select } from '../../parts/select.js'
import { usePlanned } from '../../parts/state.js'
import { TextInput } from '../../parts/text-input.js'
import { useToasts } from '../../parts/toasts.js'
import { useFormat, useWords } from '../../parts/words.js'
import { request } from '../../server/client.js'
import { subscribeToEvents } from '../../server/events.js'
import { mayIn } from '../../server/queries.js'
import { personName } from '../../words/format.js'
import { unschedule } from './document-actions.js'
import type { DocumentForm } from './document-form.js'
import type { DocumentView } from './document-network.js'
import styles from './editor.module.css'
import { useMeta } from './use-document-form.js'

type Scheduled = DocumentView['scheduled'][number]

interface ScheduledProps {
  readonly form: DocumentForm
  readonly onClose: () => void
}

const scheduledIn = (view: DocumentView | null | undefined): readonly Scheduled[] => view?.scheduled ?? []

/** An action and its time as a sentence. */
function useSentence() {
  const { refused } = useWords().editor.schedule
  const format = useFormat()
  const planned = usePlanned()
  return ({ action, at, error }: Pick<Scheduled, 'action' | 'at' | 'error'>): string =>
    error === null ? planned({ action, at }) : refused[action](format.dateTime(new Date(at)))
}

/** The next scheduled action of the form's locale, or one that was refused; it opens the window. */
export function ScheduledMark({ form, onOpen }: { readonly form: DocumentForm; readonly onOpen: () => void }) {
  const { view } = useMeta(form)
  const { documentId } = useSaver(form.saver)
  const sentence = useSentence()
  const { type } = form
  // The service carries out my own actions without this page.
  useEffect(
    () =>
      subscribeToEvents((event) => {
        if (event.event !== 'content' || event.type !== type.uid || event.documentId !== documentId) return
        if (event.action === 'schedule' || event.action === 'publish' || event.action === 'unpublish') void form.saver.refresh()
      }),
    [form, type, documentId],
  )
  const own = scheduledIn(view).filter(({ locale }) => locale === form.locale)
  const shown = own.find(({ error }) => error !== null) ?? own[0]
  if (shown === undefined) return null
  return (
    <button type="button" className={styles.scheduled} data-wrong={shown.error !== null} onClick={onOpen}>
      <CalendarClock size={14} aria-hidden="true" />
      {sentence(shown)}
    </button>
  )
}

/** Tomorrow at nine, in the zone of the browser. */
function tomorrow(): string {
  const date = new Date()
  date.setDate(date.getDate() + 1)
  date.setHours(9, 0, 0, 0)
  return dateTimeInput(date.toISOString())
}

/** Schedules a publication or its withdrawal, and lists scheduled actions. */
export function ScheduleDialog({ form, onClose }: ScheduledProps) {
  const { editor: words, parts } = useWords()
  const format = useFormat()
  const { say } = useToasts()
  const { view } = useMeta(form)
  const { documentId } = useSaver(form.saver)
  const all = scheduledIn(view)
  const own = all.filter(({ locale, error }) => locale === form.locale && error === null)
  const [action, setAction] = useState<Scheduled['action']>(own[0]?.action ?? 'publish')
  const [time, setTime] = useState(() => (own[0] === undefined ? tomorrow() : dateTimeInput(own[0].at)))
  const [others, setOthers] = useState<readonly string[]>([])
  const [isBusy, setBusy] = useState(false)
  const date = new Date(time)
  const isValid = !Number.isNaN(date.getTime())
  const problem = isValid && date.getTime() <= Date.now() ? words.schedule.past : undefined
  const canUnpublish = view?.published != null || all.some((one) => one.action === 'publish' && one.locale === form.locale)
  const candidates = (view?.locales ?? []).flatMap(({ locale }) =>
    locale === null || locale === form.locale || !mayIn(form.type, 'publish', locale) ? [] : [locale],
  )
  const run = async (work: () => Promise<string>) => {
    setBusy(true)
    try {
      say(await work(), { kind: 'good' })
      return true
    } catch (error) {
      say((error as Error).message, { kind: 'wrong' })
      return false
    } finally {
      setBusy(false)
    }
  }
  const confirm = async () => {
    const isDone = await run(async () => {
      const locales = form.locale === null ? [] : [form.locale, ...others]
      await request('PUT', '/content/{type}/{document}/schedule', {
        path: { type: form.type.uid, document: documentId ?? '' },
        query: locales.length === 0 ? {} : { locale: locales.join(',') },
        body: { action, at: date.toISOString() },
      })
      await form.saver.refresh()
      return words.schedule.planned[action](format.dateTime(date))
    })
    if (isDone) onClose()
  }
  const cancel = async (one: Scheduled) => {
    const isDone = await run(async () => {
      await unschedule(form, one)
      return words.schedule.cancelled
    })
    if (isDone && all.length === 1) onClose()
  }
  return (
    <Dialog
      isOpen
      isKept
      onClose={onClose}
      title={words.schedule.title}
      footer={
        <>
          <Button onPress={onClose}>{parts.cancel}</Button>
          <Button kind="main" isBusy={isBusy} isDisabled={!isValid || problem !== undefined} onPress={() => void confirm()}>
            {own.some((one) => one.action === action) ? words.schedule.change : words.schedule.confirm}
          </Button>
        </>
      }
    >
      <div className={styles.sheet}>
        {all.length > 0 && <List all={all} isBusy={isBusy} onCancel={(one) => void cancel(one)} />}
        {canUnpublish && (
          <Field label={words.schedule.action}>
            {(control) => (
              <Select
                {...control}
                value={action}
                onChange={setAction}
                choices={[
                  { value: 'publish', label: words.publish.publish },
                  { value: 'unpublish', label: words.publish.unpublish },
                ]}
              />
            )}
          </Field>
        )}
        <Field
          label={words.schedule.when}
          error={problem}
          description={words.schedule.zone(Intl.DateTimeFormat().resolvedOptions().timeZone)}
        >
          {(control) => (
            <TextInput
              {...control}
              type="datetime-local"
              min={dateTimeInput(new Date().toISOString()).slice(0, 16)}
              max="9999-12-31T23:59"
              value={time}
              onChange={setTime}
            />
          )}
        </Field>
        {candidates.length > 0 && (
          <fieldset className={styles.part}>
            <legend>{words.schedule.also}</legend>
            {candidates.map((code) => (
              <CheckBox
                key={code}
                isSelected={others.includes(code)}
                onChange={(isChosen) => setOthers(isChosen ? [...others, code] : others.filter((one) => one !== code))}
              >
                {format.languageName(code)}
              </CheckBox>
            ))}
          </fieldset>
        )}
        <p className={styles.soft}>{words.schedule.help}</p>
      </div>
    </Dialog>
  )
}

interface ListProps {
  readonly all: readonly Scheduled[]
  readonly isBusy: boolean
  readonly onCancel: (one: Scheduled) => void
}

function List({ all, isBusy, onCancel }: ListProps) {
  const { schedule: words, publish } = useWords().editor
  const format = useFormat()
  const sentence = useSentence()
  return (
    <ul className={styles.scheduledList}>
      {all.map((one) => {
        const { locale, action, administrator, error } = one
        const language = locale === null ? '' : format.languageName(locale)
        const text = [language, sentence(one)].filter(Boolean).join(': ')
        return (
          <li key={`${locale} ${action}`}>
            <span>
              {text}
              <span className={error === null ? styles.soft : styles.problem}>
                {' '}
                {error === null
                  ? personName(administrator)
                  : error.errors.length > 0
                    ? publish.missing(error.errors.length)
                    : words.reason(error.status, error.message)}
              </span>
            </span>
            <Button
              isSmall
              isDisabled={isBusy}
              aria-label={`${error === null ? words.cancel : words.dismiss}: ${text}`}
              onPress={() => onCancel(one)}
            >
              {error === null ? words.cancel : words.dismiss}
            </Button>
          </li>
        )
      })}
    </ul>
  )
}
