// The editor of JSON.
import { json } from '@codemirror/lang-json'
import { bracketMatching } from '@codemirror/language'
import { useRef } from 'react'
import { classes } from '../parts/classes.js'
import type { FieldControl } from '../parts/field.js'
import styles from '../parts/rich-text.module.css'
import { useWords } from '../parts/words.js'
import { useCodeArea } from './code-area.js'

/** JSON as a text. */
interface JsonEditorProps {
  readonly control: FieldControl
  readonly label: string
  readonly value: string
  readonly onChange: (text: string) => void
  readonly isReadOnly?: boolean
}

const extensions = [json(), bracketMatching()]

/** JSON as a text with colours. */
export default function JsonEditor({ control, label, value, onChange, isReadOnly = false }: JsonEditorProps) {
  const words = useWords().fields.json
  const mount = useRef<HTMLDivElement>(null)
  useCodeArea(mount, {
    ...{ value, onChange, label, isReadOnly, extensions },
    lang: undefined,
    placeholder: isReadOnly ? '' : words.placeholder,
    isInvalid: control['aria-invalid'] === true,
  })
  return (
    <div className={classes(styles.frame, isReadOnly && styles.still, control['aria-invalid'] && styles.wrong)}>
      <div id={control.id} ref={mount} className={styles.area} dir="ltr" />
    </div>
  )
}
