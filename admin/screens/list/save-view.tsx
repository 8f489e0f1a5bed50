// The dialog that saves a list's state as a view, or renames and shares a view.
import { type ReactNode, useState } from 'react'
import { Button } from '../../parts/button.js'
import { Dialog } from '../../parts/dialog.js'
import { Field } from '../../parts/field.js'
import { Select } from '../../parts/select.js'
import { TextInput } from '../../parts/text-input.js'
import { useWords } from '../../parts/words.js'
import { ApiFailure } from '../../server/client.js'
import styles from './bulk-dialog.module.css'
import type { View, Visibility } from './views.js'

interface SaveViewProps {
  /** An existing view. */
  readonly view?: View
  /** The view belongs to another administrator, and would be hidden as a private one. */
  readonly isOthers?: boolean
  readonly roles: readonly number[]
  readonly onClose: () => void
  readonly onSave: (name: string, visibility: Visibility) => Promise<void>
}

/** Characters of a view's name. */
const longestName = 100

/** Asks for the name of a view, and who has it. */
export default function SaveView({ view, roles, isOthers = false, onClose, onSave }: SaveViewProps): ReactNode {
  const { list, parts } = useWords()
  const [name, setName] = useState(view?.name ?? '')
  const [visibility, setVisibility] = useState<Visibility>(view?.visibility ?? 'mine')
  const [errors, setErrors] = useState<{ readonly name?: string; readonly sharing?: string }>({})
  const [isBusy, setBusy] = useState(false)
  const save = () => {
    if (name.trim() === '' || isBusy) return
    setBusy(true)
    onSave(name.trim(), visibility)
      .catch((failure: unknown) =>
        setErrors(
          failure instanceof ApiFailure && failure.status === 403
            ? { sharing: list.views.notShared }
            : { name: (failure as Error).message },
        ),
      )
      .finally(() => setBusy(false))
  }
  const isPossible: Readonly<Record<Visibility, boolean>> = { mine: !isOthers, roles: roles.length > 0, everybody: true }
  const choices = (['mine', 'roles', 'everybody'] as const).filter((one) => isPossible[one] || one === view?.visibility)
  return (
    <Dialog
      isOpen
      isKept
      size="small"
      title={view === undefined ? list.views.saveTitle : list.views.renameTitle}
      onClose={onClose}
      footer={
        <>
          <Button onPress={onClose}>{parts.cancel}</Button>
          <Button kind="main" isDisabled={name.trim() === ''} isBusy={isBusy} onPress={save}>
            {list.views.saveAction}
          </Button>
        </>
      }
    >
      <form
        className={styles.question}
        onSubmit={(event) => {
          event.preventDefault()
          save()
        }}
      >
        <Field label={list.views.name} required error={errors.name} description={view === undefined ? list.views.contents : undefined}>
          {(control) => <TextInput {...control} autoFocus maxLength={longestName} value={name} onChange={setName} />}
        </Field>
        <Field label={list.views.sharing} error={errors.sharing}>
          {(control) => (
            <Select
              {...control}
              value={visibility}
              onChange={setVisibility}
              choices={choices.map((value) => ({ value, label: list.views.visibilities[value] }))}
            />
          )}
        </Field>
      </form>
    </Dialog>
  )
}
