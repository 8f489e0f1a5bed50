// Panels: the address of a link, next to its text, and the texts of an image, under the toolbar.
import { ExternalLink } from 'lucide-react'
import { type FocusEvent, type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react'
import { Button } from '../parts/button.js'
import { Field } from '../parts/field.js'
import { isSafeLink } from '../parts/safe-links.js'
import { TextInput } from '../parts/text-input.js'
import { useWords } from '../parts/words.js'
import { completedLink } from './commands.js'
import styles from './panels.module.css'
import type { Members } from './schema.js'

interface PanelProps {
  readonly label: string
  readonly onClose: () => void
  readonly onEnter?: () => void
  /** The focus has left the panel. */
  readonly onLeave?: () => void
  readonly children: ReactNode
}

/** A group of fields that Escape closes. Not a form, since it is inside the form of the document. */
function BlocksPanel({ label, onClose, onEnter, onLeave, children }: PanelProps) {
  const keyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape') {
      event.preventDefault()
      event.stopPropagation()
      onClose()
    } else if (
      event.key === 'Enter' &&
      event.target instanceof HTMLInputElement &&
      onEnter !== undefined &&
      !event.ctrlKey &&
      !event.metaKey
    ) {
      event.preventDefault()
      onEnter()
    }
  }
  const blur = ({ currentTarget, relatedTarget }: FocusEvent) => {
    // Stays open while an address is copied from another window.
    if (document.hasFocus() && !currentTarget.contains(relatedTarget)) onLeave?.()
  }
  return (
    <fieldset aria-label={label} className={styles.panel} onKeyDown={keyDown} onBlur={blur}>
      {children}
    </fieldset>
  )
}

interface LinkPanelProps {
  readonly url: string
  /** True if a text is selected or linked. Otherwise the panel has a field for one. */
  readonly hasText: boolean
  readonly isLink: boolean
  readonly onApply: (url: string, text: string) => void
  readonly onRemove: () => void
  readonly onClose: () => void
  readonly onLeave: () => void
}

/** The address of the link at the cursor. */
export function LinkPanel({ url, hasText, isLink, onApply, onRemove, onClose, onLeave }: LinkPanelProps) {
  const words = useWords().fields.blocks
  const [address, setAddress] = useState(url)
  const [text, setText] = useState('')
  const [isWrong, setIsWrong] = useState(false)
  const id = useId()
  useEffect(() => {
    const input = document.getElementById(id)
    if (input instanceof HTMLInputElement) {
      input.focus()
      input.select()
    }
  }, [id])
  const apply = () => {
    const completed = completedLink(address)
    setIsWrong(completed === null)
    if (completed !== null) onApply(completed, text)
  }
  return (
    <BlocksPanel label={words.link} onClose={onClose} onEnter={apply} onLeave={onLeave}>
      <div className={styles.fields}>
        <Field id={id} label={words.linkAddress} error={isWrong && words.linkWrong}>
          {(control) => (
            <TextInput {...control} dir="ltr" type="text" inputMode="url" value={address} placeholder="https://" onChange={setAddress} />
          )}
        </Field>
        {!hasText && (
          <Field label={words.linkText}>{(control) => <TextInput {...control} dir="auto" value={text} onChange={setText} />}</Field>
        )}
      </div>
      <div className={styles.actions}>
        <Button kind="main" isSmall onPress={apply}>
          {isLink ? words.linkChange : words.linkMake}
        </Button>
        {isLink && (
          <Button kind="quiet" isSmall onPress={onRemove}>
            {words.linkRemove}
          </Button>
        )}
        {isLink && /^https?:|^\//i.test(url) && isSafeLink(url) && (
          <a className={styles.visit} href={url} target="_blank" rel="noreferrer">
            <ExternalLink size={14} aria-hidden="true" /> {words.linkVisit}
          </a>
        )}
        <Button kind="quiet" isSmall onPress={onClose}>
          {words.close}
        </Button>
      </div>
    </BlocksPanel>
  )
}

interface ImagePanelProps {
  readonly image: Members
  readonly isReadOnly: boolean
  readonly onChange: (image: Members) => void
  readonly onRemove: () => void
  readonly onClose: () => void
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

/** The alternative text and the caption of the selected image, in this text alone. */
export function ImagePanel({ image, isReadOnly, onChange, onRemove, onClose }: ImagePanelProps) {
  const words = useWords().fields.blocks
  const panel = useRef<HTMLDivElement>(null)
  return (
    <BlocksPanel label={words.image} onClose={onClose}>
      <div className={styles.fields} ref={panel}>
        {(['alternativeText', 'caption'] as const).map((name) => (
          <Field key={name} label={words[name]}>
            {(control) => (
              <TextInput
                {...control}
                dir="auto"
                readOnly={isReadOnly}
                value={textOf(image[name])}
                onChange={(text) => onChange({ ...image, [name]: text })}
              />
            )}
          </Field>
        ))}
      </div>
      {!isReadOnly && (
        <div className={styles.actions}>
          <Button kind="quiet" isSmall onPress={onRemove}>
            {words.imageRemove}
          </Button>
        </div>
      )}
    </BlocksPanel>
  )
}
