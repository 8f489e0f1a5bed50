// Asks for the position that an item moves to.
import { useState } from 'react'
import { Button } from './button.js'
import { Dialog } from './dialog.js'
import { Field } from './field.js'
import styles from './move-to.module.css'
import { NumberInput } from './number-input.js'
import { useWords } from './words.js'

/** The item, its position and the number of items. */
interface MoveToProps {
  readonly isOpen: boolean
  readonly onClose: () => void
  readonly name: string
  /** From 0. */
  readonly position: number
  readonly total: number
  readonly onMove: (to: number) => void
}

/** A dialog that asks for a position, counted from 1. */
export default function MoveTo(props: MoveToProps) {
  const { parts } = useWords()
  return (
    <Dialog size="small" isOpen={props.isOpen} onClose={props.onClose} title={parts.moveToTitle(props.name)}>
      <Form {...props} />
    </Dialog>
  )
}

function Form({ position, total, onMove, onClose }: MoveToProps) {
  const { parts } = useWords()
  const [value, setValue] = useState<number | string | null>(position + 1)
  const isValid = typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= total
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault()
        if (!isValid) return
        onMove(value - 1)
        onClose()
      }}
    >
      <Field label={parts.moveToLabel(total)} error={isValid || value === null ? undefined : parts.moveToLabel(total)}>
        {(control) => (
          <NumberInput {...control} isInteger value={value} onChange={setValue} autoFocus onFocus={(event) => event.target.select()} />
        )}
      </Field>
      <Button kind="main" type="submit" isDisabled={!isValid}>
        {parts.move}
      </Button>
    </form>
  )
}
