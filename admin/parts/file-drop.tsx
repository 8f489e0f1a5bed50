// A box for files: chosen, dropped or pasted.
import { Upload } from 'lucide-react'
import { type ClipboardEvent, type DragEvent, type ReactNode, useRef, useState } from 'react'
import { Button } from './button.js'
import { classes } from './classes.js'
import styles from './file-drop.module.css'
import { useToasts } from './toasts.js'
import { useFormat, useWords } from './words.js'

/** A box that takes files. */
interface FileDropProps {
  readonly onFiles: (files: File[]) => void
  /** Kinds of files as in `accept` of an input, such as `image/*`. */
  readonly accept?: string
  readonly isMultiple?: boolean
  readonly isDisabled?: boolean
  readonly label?: string
  /** Next to the button: another way to files. */
  readonly action?: ReactNode
  /** The button comes before the present files. */
  readonly isFirst?: boolean
  /** The present files; without them a frame with a button is shown. */
  readonly children?: ReactNode
}

/** True for a file that `accept` names. */
function isAccepted(file: File, accept: string | undefined): boolean {
  if (accept === undefined) return true
  return accept.split(',').some((one) => {
    const wanted = one.trim().toLowerCase()
    if (wanted.startsWith('.')) return file.name.toLowerCase().endsWith(wanted)
    return wanted.endsWith('/*') ? file.type.startsWith(wanted.slice(0, -1)) : file.type === wanted
  })
}

/** Takes files that are chosen, dropped or pasted. */
export function FileDrop({ onFiles, accept, isMultiple = false, isDisabled = false, label, action, isFirst, children }: FileDropProps) {
  const { parts } = useWords()
  const format = useFormat()
  const { say } = useToasts()
  const input = useRef<HTMLInputElement>(null)
  // Entering a child comes before leaving the parent.
  const depth = useRef(0)
  const [isOver, setOver] = useState(false)
  const take = (list: FileList | null | undefined) => {
    const files = [...(list ?? [])]
    const wrong = files.filter((file) => !isAccepted(file, accept))
    if (wrong.length > 0) say(parts.wrongFiles(format.list(wrong.map((file) => file.name))), { kind: 'wrong' })
    const right = files.filter((file) => isAccepted(file, accept))
    if (right.length > 0) onFiles(isMultiple ? right : right.slice(0, 1))
  }
  const hasFiles = (event: DragEvent) => !isDisabled && event.dataTransfer.types.includes('Files')
  const enter = (event: DragEvent, by: number) => {
    if (!hasFiles(event)) return
    event.preventDefault()
    depth.current = Math.max(0, depth.current + by)
    setOver(depth.current > 0)
  }
  const drop = (event: DragEvent) => {
    if (!hasFiles(event)) return
    event.preventDefault()
    depth.current = 0
    setOver(false)
    take(event.dataTransfer.files)
  }
  const paste = (event: ClipboardEvent) => {
    if (isDisabled || event.clipboardData.files.length === 0) return
    event.preventDefault()
    take(event.clipboardData.files)
  }
  return (
    <fieldset
      aria-label={label ?? parts.chooseFiles}
      className={classes(styles.place, children === undefined && styles.empty, isOver && styles.over)}
      onDragEnter={(event) => enter(event, 1)}
      onDragOver={(event) => hasFiles(event) && event.preventDefault()}
      onDragLeave={(event) => enter(event, -1)}
      onDrop={drop}
      onPaste={paste}
    >
      {isFirst !== true && children}
      <div className={styles.line}>
        <Button isSmall icon={<Upload />} isDisabled={isDisabled} onPress={() => input.current?.click()}>
          {label ?? parts.chooseFiles}
        </Button>
        {action}
        <span className={styles.hint}>{isOver ? parts.dropNow : parts.dropFiles(isMultiple)}</span>
      </div>
      {isFirst === true && children}
      <input
        ref={input}
        type="file"
        hidden
        accept={accept}
        multiple={isMultiple}
        onChange={(event) => {
          take(event.currentTarget.files)
          event.currentTarget.value = ''
        }}
      />
    </fieldset>
  )
}
