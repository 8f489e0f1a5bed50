// The texts of a file in the media library, which all documents share.
import { useState } from 'react'
import { type Entry, textOf } from '../form/values.js'
import { Button } from '../parts/button.js'
import { Dialog } from '../parts/dialog.js'
import { Field } from '../parts/field.js'
import { TextArea } from '../parts/text-area.js'
import { TextInput } from '../parts/text-input.js'
import { useToasts } from '../parts/toasts.js'
import { useWords } from '../parts/words.js'
import { request } from '../server/client.js'
import { FileFacts, FilePicture } from './file-card.js'
import styles from './file-details.module.css'
import { fileKind } from './files.js'

interface FileDetailsProps {
  readonly file: Entry
  readonly onClose: () => void
  readonly onChanged: (file: Entry) => void
}

/** A dialog with the name, the alternative text and the caption of a file. */
export default function FileDetails({ file, onClose, onChanged }: FileDetailsProps) {
  const words = useWords().fields.media
  const { parts } = useWords()
  const toasts = useToasts()
  const [texts, setTexts] = useState({
    name: textOf(file.name),
    alternativeText: textOf(file.alternativeText),
    caption: textOf(file.caption),
  })
  const [isBusy, setIsBusy] = useState(false)
  const save = async () => {
    setIsBusy(true)
    try {
      const { name, alternativeText, caption } = texts
      const body = { name: name.trim(), alternativeText: alternativeText.trim() || null, caption: caption.trim() || null }
      await request('PATCH', '/files/{id}', { path: { id: Number(file.id) }, body })
      onChanged({ id: file.id, ...body })
      onClose()
    } catch (error) {
      toasts.say(words.notChanged(error instanceof Error ? error.message : ''), { kind: 'wrong' })
    } finally {
      setIsBusy(false)
    }
  }
  const change = (name: keyof typeof texts) => (text: string) => setTexts((all) => ({ ...all, [name]: text }))
  return (
    <Dialog
      isOpen
      isKept
      onClose={onClose}
      title={words.details}
      footer={
        <>
          <Button onPress={onClose}>{parts.cancel}</Button>
          <Button kind="main" isBusy={isBusy} isDisabled={texts.name.trim() === ''} onPress={() => void save()}>
            {words.save}
          </Button>
        </>
      }
    >
      <div className={styles.details}>
        <div className={styles.picture}>
          <FilePicture file={file} />
          <span className={styles.facts}>
            <FileFacts file={file} />
          </span>
          {typeof file.url === 'string' && (
            <a className={styles.open} href={file.url} target="_blank" rel="noreferrer">
              {words.open}
            </a>
          )}
        </div>
        <div className={styles.texts}>
          {fileKind(file) === 'image' && (
            <Field label={words.alternativeText} description={words.alternativeHelp}>
              {(control) => (
                <TextArea {...control} autoFocus dir="auto" rows={2} value={texts.alternativeText} onChange={change('alternativeText')} />
              )}
            </Field>
          )}
          <Field label={words.caption}>
            {(control) => <TextArea {...control} dir="auto" rows={2} value={texts.caption} onChange={change('caption')} />}
          </Field>
          <Field label={words.name} required>
            {(control) => <TextInput {...control} value={texts.name} onChange={change('name')} />}
          </Field>
          <p className={styles.note}>{words.sharedTexts}</p>
        </div>
      </div>
    </Dialog>
  )
}
