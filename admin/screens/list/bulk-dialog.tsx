// One action on many documents: its question, its progress, and the documents that were left unchanged.
import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { ErrorTexts } from '../../fields/error-text.js'
import { Button } from '../../parts/button.js'
import { Dialog } from '../../parts/dialog.js'
import { Field } from '../../parts/field.js'
import { Progress } from '../../parts/progress.js'
import { Select } from '../../parts/select.js'
import { TextInput } from '../../parts/text-input.js'
import { useToasts } from '../../parts/toasts.js'
import { useFormat, useWords } from '../../parts/words.js'
import {
  actOnDocuments,
  allDocuments,
  asksForPassword,
  type BulkAction,
  confirmPassword,
  editDocument,
  isAway,
  someDocuments,
} from './bulk-actions.js'
import type { BulkBarProps } from './bulk-bar.js'
import styles from './bulk-dialog.module.css'
import { type BulkError, type BulkFailure, type BulkProgress, batchSize, noProgress, runBulk } from './bulk-run.js'
import { columnLabel } from './columns.js'
import { EditFields, type FieldChange } from './edit-fields.js'
import { mainField, type TypeInfo } from './list-query.js'

interface BulkDialogProps extends BulkBarProps {
  readonly action: BulkAction
  /** All documents of the list, not only the selected ones. */
  readonly isAll: boolean
  readonly onClose: () => void
}

type Step =
  | { readonly kind: 'question'; readonly needsPassword?: boolean; readonly isWrong?: boolean }
  | { readonly kind: 'running'; readonly progress: BulkProgress }
  | { readonly kind: 'result'; readonly progress: BulkProgress; readonly message: string | null }

/** The run of an action and its result. */
function useRun({ action, isAll, type, selection, selected, names, onClear, onClose }: BulkDialogProps) {
  const { list } = useWords()
  const [step, setStep] = useState<Step>({ kind: 'question' })
  const stop = useRef<AbortController | null>(null)
  const cache = useQueryClient()
  const toasts = useToasts()
  useEffect(() => () => stop.current?.abort(), [])

  const finish = (progress: BulkProgress, message: string | null) => {
    void cache.invalidateQueries()
    if (progress.failures.length === 0 && message === null && !progress.isStopped) {
      toasts.say(list.bulk[action].done(list.count(progress.done)), { kind: 'good' })
      onClose()
      onClear()
    } else setStep({ kind: 'result', progress, message })
  }
  const run = async (locale: string | undefined, changes: FieldChange, password: string) => {
    if (password !== '' && !(await confirmPassword(password))) {
      setStep({ kind: 'question', needsPassword: true, isWrong: true })
      return
    }
    const controller = new AbortController()
    stop.current = controller
    const { signal } = controller
    let latest = noProgress
    setStep({ kind: 'running', progress: latest })
    const chosen = [...selected].map((documentId) => ({ documentId, name: names.get(documentId) ?? documentId }))
    try {
      const progress = await runBulk({
        documents: isAll ? allDocuments(type.uid, selection, mainField(type), list.untitled) : someDocuments(chosen),
        act: (batch, key) =>
          action === 'edit' ? editDocument(type.uid, locale, changes, batch[0]!) : actOnDocuments(action, type.uid, locale, batch, key),
        // A change of fields has a request for each document.
        size: action === 'edit' ? 1 : batchSize,
        isAway,
        signal,
        onProgress: (next) => {
          latest = next
          setStep({ kind: 'running', progress: next })
        },
      })
      finish(progress, null)
    } catch (error) {
      if (asksForPassword(error) && latest.done === 0) setStep({ kind: 'question', needsPassword: true })
      else finish({ ...latest, isStopped: true }, error instanceof Error ? error.message : String(error))
    }
  }
  return { step, run, stop: () => stop.current?.abort() }
}

/** The question of an action on many documents, then its progress and its result. */
export function BulkDialog(props: BulkDialogProps): ReactNode {
  const { action, isAll, selected, total, onClose, onClear } = props
  const { list, parts } = useWords()
  const { step, run, stop } = useRun(props)
  const known = isAll ? (total?.exact ? total.total : null) : selected.size
  const count = known === null ? list.allMatches : list.count(known)
  const texts = list.bulk[action]
  if (step.kind === 'question') return <Question {...props} step={step} count={count} onConfirm={run} />
  const close = () => {
    onClose()
    // Deleted documents would stay selected.
    if (action === 'delete' && step.progress.done > 0) onClear()
  }
  return (
    <Dialog
      isOpen
      isKept
      isForced={step.kind === 'running'}
      size="small"
      title={texts.title(count).replace(/\?$/, '')}
      onClose={close}
      footer={
        step.kind === 'running' ? (
          <Button onPress={stop} autoFocus>
            {list.stop}
          </Button>
        ) : (
          <Button kind="main" onPress={close} autoFocus>
            {parts.close}
          </Button>
        )
      }
    >
      {step.kind === 'running' ? (
        <div className={styles.running} role="status">
          <Progress label={list.working} value={known === null ? undefined : step.progress.done} max={known ?? undefined} />
          <p>{known === null ? list.progressOpen(step.progress.done) : list.progress(step.progress.done, known)}</p>
          {step.progress.failures.length > 0 && <p>{list.failed(step.progress.failures.length)}</p>}
          {step.progress.isWaiting && <p>{list.offline}</p>}
        </div>
      ) : (
        <Result {...step} type={props.type} />
      )}
    </Dialog>
  )
}

interface QuestionProps extends BulkDialogProps {
  readonly step: Extract<Step, { readonly kind: 'question' }>
  readonly count: string
  readonly onConfirm: (locale: string | undefined, changes: FieldChange, password: string) => Promise<void>
}

function Question({ action, type, state, locales, step, count, onConfirm, onClose }: QuestionProps): ReactNode {
  const { list, parts } = useWords()
  const format = useFormat()
  const [isEverywhere, setEverywhere] = useState(action === 'delete')
  const [changes, setChanges] = useState<FieldChange>({})
  const [password, setPassword] = useState('')
  const [isBusy, setBusy] = useState(false)
  const texts = list.bulk[action]
  const current = state.locale ?? locales.find(({ isDefault }) => isDefault)?.code ?? 'en'
  const locale = type.localized ? (isEverywhere && action !== 'edit' ? '*' : current) : undefined
  const isReady = (action !== 'edit' || Object.keys(changes).length > 0) && (step.needsPassword !== true || password !== '')
  const form = useRef<HTMLFormElement>(null)
  const confirm = () => {
    // An incomplete date has no value, which would empty the field.
    if (!isReady || isBusy || form.current?.reportValidity() === false) return
    setBusy(true)
    void onConfirm(locale, changes, password).finally(() => setBusy(false))
  }
  return (
    <Dialog
      isOpen
      isKept
      size={action === 'edit' ? 'medium' : 'small'}
      role={action === 'delete' ? 'alertdialog' : 'dialog'}
      title={texts.title(count)}
      onClose={onClose}
      footer={
        <>
          <Button onPress={onClose} autoFocus={action === 'delete'}>
            {parts.cancel}
          </Button>
          <Button kind={action === 'delete' ? 'danger' : 'main'} isDisabled={!isReady} isBusy={isBusy} onPress={confirm}>
            {texts.action(count)}
          </Button>
        </>
      }
    >
      <form
        ref={form}
        className={styles.question}
        onSubmit={(event) => {
          event.preventDefault()
          confirm()
        }}
      >
        <p>{texts.text}</p>
        {action === 'edit' && !type.draftAndPublish && <p className={styles.warning}>{list.editPublic}</p>}
        {action === 'edit' && (
          <EditFields type={type} lang={type.localized ? current : undefined} changes={changes} onChange={setChanges} />
        )}
        {type.localized && action !== 'edit' && locales.length > 1 && (
          <Field label={list.inLanguages}>
            {(control) => (
              <Select
                {...control}
                value={isEverywhere ? 'all' : 'one'}
                onChange={(value) => setEverywhere(value === 'all')}
                choices={[
                  { value: 'one', label: list.thisLanguage(format.languageName(current)) },
                  { value: 'all', label: list.everyLanguage },
                ]}
              />
            )}
          </Field>
        )}
        {step.needsPassword && (
          <Field label={list.password} description={list.passwordText} error={step.isWrong ? list.wrongPassword : undefined}>
            {(control) => (
              <TextInput {...control} type="password" autoComplete="current-password" value={password} onChange={setPassword} autoFocus />
            )}
          </Field>
        )}
      </form>
    </Dialog>
  )
}

interface ResultProps {
  readonly type: TypeInfo
  readonly progress: BulkProgress
  readonly message: string | null
}

/** Failures that are listed; the number of the others is in the sentence above. */
const shownFailures = 200

function Result({ type, progress: { done, failures, isStopped }, message }: ResultProps): ReactNode {
  const { list } = useWords()
  return (
    <div className={styles.running}>
      {message !== null && (
        <p className={styles.wrong} role="alert">
          {message}
        </p>
      )}
      <p role="status">{isStopped ? list.stopped(done - failures.length) : list.doneOf(done - failures.length, failures.length)}</p>
      {failures.length > 0 && <Failures type={type} failures={failures.slice(0, shownFailures)} />}
    </div>
  )
}

interface FailuresProps {
  readonly type: TypeInfo
  readonly failures: readonly BulkFailure[]
}

function Failures({ type, failures }: FailuresProps): ReactNode {
  const words = useWords()
  const format = useFormat()
  const labelOf = ([first, ...rest]: BulkError['path']) =>
    first === undefined ? '' : [columnLabel(words, type, String(first)), ...rest.map(String)].join(' › ')
  const placeholderOf = ([first, ...rest]: BulkError['path']) =>
    rest.length === 0 ? type.layout.metadatas[String(first)]?.edit.placeholder : undefined
  return (
    <>
      <h3>{words.list.failures}</h3>
      <ul className={styles.failures}>
        {failures.map(({ documentId, name, locale, errors }) => (
          <li key={documentId}>
            <strong>
              {name}
              {locale !== null && ` (${format.languageName(locale)})`}
            </strong>
            {errors.map((error) => (
              <div key={`${error.path.join('/')} ${error.message}`}>
                {error.path.length > 0 && `${labelOf(error.path)}: `}
                <ErrorTexts errors={[error]} label={labelOf(error.path)} placeholder={placeholderOf(error.path)} />
              </div>
            ))}
          </li>
        ))}
      </ul>
    </>
  )
}
