// Filling of fields from another language.

import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { labelOf, mayReplace } from '../../fields/document.js'
import { type Entry, type FormAttribute, isLocalized } from '../../form/values.js'
import { Button } from '../../parts/button.js'
import { CheckBox } from '../../parts/check-box.js'
import { Dialog } from '../../parts/dialog.js'
import { useToasts } from '../../parts/toasts.js'
import { useFormat, useWords } from '../../parts/words.js'
import { documentQuery, startQuery } from '../../server/queries.js'
import type { Start } from '../shell/type-names.js'
import { fillFrom, saveAll } from './document-actions.js'
import type { DocumentForm, TypeDescription } from './document-form.js'
import type { DocumentView } from './document-network.js'
import styles from './editor.module.css'
import { useMeta } from './use-document-form.js'
import { textOf } from './values-as-text.js'

/** False for targets that only one document can have, unless each language has its own. */
function mayShareTargets({ relation, target, inversedBy, mappedBy }: FormAttribute, types: Start['types']): boolean {
  if (relation?.startsWith('morph') === true) return false
  const isExclusive = (relation === 'oneToOne' || relation === 'oneToMany') && (inversedBy ?? mappedBy) !== undefined
  return !isExclusive || types.some(({ uid, localized }) => uid === target && localized)
}

/** Attributes that have a value of each language, and may be seen and replaced as a whole. */
function fillable({ attributes, layout, fields }: TypeDescription, view: DocumentView | null, types: Start['types']): readonly string[] {
  const names = layout.layouts.edit.flat().map(({ name }) => name)
  return names.filter((name) => {
    const attribute = attributes[name] as unknown as FormAttribute | undefined
    if (!mayReplace(view?.may.update ?? null, name) || !mayReplace(fields.read, name)) return false
    if (attribute?.type === 'relation') return mayShareTargets(attribute, types)
    return attribute !== undefined && attribute.type !== 'password' && isLocalized(attribute)
  })
}

interface FillDialogProps {
  readonly form: DocumentForm
  readonly from: string
  readonly onClose: () => void
}

/** Chooses fields, empty ones first, and fills them. */
export function FillDialog({ form, from, onClose }: FillDialogProps) {
  const { editor, parts } = useWords()
  const words = editor.fill
  const format = useFormat()
  const { say } = useToasts()
  const { data: start } = useQuery(startQuery())
  const { view } = useMeta(form)
  const { data: source } = useQuery({ ...documentQuery(form.type.uid, form.saver.state.documentId ?? '', from), staleTime: 0 })
  const filled = (source?.data.draft ?? null) as Entry | null
  const all = fillable(form.type, view, start?.data.types ?? [])
  const names = filled === null ? all : all.filter((name) => textOf(filled[name]) !== '')
  const values = form.store.get('') as Entry
  const empty = all.filter((name) => textOf(values[name]) === '')
  const [ticked, setChosen] = useState<readonly string[]>(empty.filter((name) => form.type.attributes[name]?.type !== 'relation'))
  const chosen = ticked.filter((name) => names.includes(name))
  const [isBusy, setBusy] = useState(false)
  const confirm = async () => {
    setBusy(true)
    try {
      await saveAll(form)
      await fillFrom(form, from, chosen)
      form.update({ theirs: null })
      say(words.done(chosen.length), { kind: 'good' })
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
      title={words.title(format.languageName(from))}
      footer={
        <>
          <Button onPress={onClose}>{parts.cancel}</Button>
          <Button kind="main" isBusy={isBusy} isDisabled={chosen.length === 0} onPress={() => void confirm()}>
            {words.confirm(chosen.length)}
          </Button>
        </>
      }
    >
      <div className={styles.sheet}>
        <p>{words.text(format.languageName(from))}</p>
        <div>
          <Button isSmall onPress={() => setChosen(empty)}>
            {words.emptyOnly}
          </Button>
        </div>
        <div className={styles.choices}>
          {names.map((name) => (
            <CheckBox
              key={name}
              isSelected={chosen.includes(name)}
              onChange={(isChosen) => setChosen(isChosen ? [...chosen, name] : chosen.filter((one) => one !== name))}
            >
              {labelOf(form.type.layout, name)}
            </CheckBox>
          ))}
        </div>
      </div>
    </Dialog>
  )
}
