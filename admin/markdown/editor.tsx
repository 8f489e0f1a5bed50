// The editor of Markdown: a text with a toolbar and a preview. Only typed characters change.
import { markdownKeymap, markdownLanguage, pasteURLAsLink } from '@codemirror/lang-markdown'
import { Prec } from '@codemirror/state'
import { keymap } from '@codemirror/view'
import { Bold, Code, Eye, Heading, Image, Italic, Link, List, ListOrdered, Quote, SquareCode, Strikethrough } from 'lucide-react'
import { type ReactNode, useRef, useState } from 'react'
import { classes } from '../parts/classes.js'
import type { FieldControl } from '../parts/field.js'
import { IconButton } from '../parts/icon-button.js'
import frame from '../parts/rich-text.module.css'
import { useToolbar } from '../parts/toolbar.js'
import { useWords } from '../parts/words.js'
import { useCodeArea } from './code-area.js'
import { inlineMarks, insertCode, insertLink, insertPictures, lineMarks, toggleLines, toggleMark } from './markup.js'
import { Preview } from './preview.js'
import styles from './preview.module.css'

/** Members of a file that a picture in a text needs. */
interface PictureFile {
  readonly url?: unknown
  readonly alternativeText?: unknown
  readonly name?: unknown
}

/** Markdown as a field. */
interface MarkdownEditorProps {
  readonly control: FieldControl
  readonly label: string
  readonly value: string
  readonly onChange: (text: string) => void
  readonly isReadOnly?: boolean
  readonly chooseImages?: () => Promise<readonly PictureFile[]>
  readonly uploadImages?: (files: readonly File[]) => Promise<readonly PictureFile[]>
}

// Without `markdown()`, which brings languages for the HTML, styles and scripts inside.
const extensions = [
  markdownLanguage,
  pasteURLAsLink,
  Prec.high(keymap.of(markdownKeymap)),
  keymap.of([
    { key: 'Mod-b', run: toggleMark(inlineMarks.bold) },
    { key: 'Mod-i', run: toggleMark(inlineMarks.italic) },
    { key: 'Mod-e', run: toggleMark(inlineMarks.code) },
    { key: 'Mod-k', run: (view) => !view.state.selection.main.empty && insertLink(view) },
  ]),
]

const size = { size: 16, 'aria-hidden': true } as const

const tools = [
  { name: 'bold', icon: <Bold {...size} />, run: toggleMark(inlineMarks.bold) },
  { name: 'italic', icon: <Italic {...size} />, run: toggleMark(inlineMarks.italic) },
  { name: 'strikethrough', icon: <Strikethrough {...size} />, run: toggleMark(inlineMarks.strikethrough) },
  { name: 'code', icon: <Code {...size} />, run: toggleMark(inlineMarks.code) },
  { name: 'link', icon: <Link {...size} />, run: insertLink },
  { name: 'heading', icon: <Heading {...size} />, run: toggleLines(lineMarks.heading) },
  { name: 'unordered', icon: <List {...size} />, run: toggleLines(lineMarks.unordered) },
  { name: 'ordered', icon: <ListOrdered {...size} />, run: toggleLines(lineMarks.ordered) },
  { name: 'quote', icon: <Quote {...size} />, run: toggleLines(lineMarks.quote) },
  { name: 'codeBlock', icon: <SquareCode {...size} />, run: insertCode },
] as const

/** Markdown with its toolbar and its preview. */
export default function MarkdownEditor(props: MarkdownEditorProps) {
  const { control, label, value, onChange, isReadOnly = false, chooseImages, uploadImages } = props
  const { markdown: words, blocks } = useWords().fields
  const mount = useRef<HTMLDivElement>(null)
  const [isPreview, setIsPreview] = useState(false)
  const insert = async (chosen: Promise<readonly PictureFile[]>) => {
    // A failed upload has said so itself.
    const pictures = await chosen.catch(() => [])
    if (pictures.length === 0 || view.current === null) return
    insertPictures(pictures.map(({ url, alternativeText, name }) => ({ url: String(url), text: String(alternativeText ?? name ?? '') })))(
      view.current,
    )
  }
  const view = useCodeArea(mount, {
    ...{ value, onChange, label, isReadOnly, extensions },
    lang: control.lang,
    placeholder: isReadOnly ? '' : words.placeholder,
    isInvalid: control['aria-invalid'] === true,
    takeFiles: (files) => {
      const pictures = files.filter(({ type }) => type.startsWith('image/'))
      if (pictures.length === 0 || uploadImages === undefined) return false
      void insert(uploadImages(pictures))
      return true
    },
  })
  const last = isReadOnly ? 0 : tools.length + (chooseImages === undefined ? 0 : 1)
  const { bar, buttonAt } = useToolbar(0)
  const button = (name: keyof typeof words.tools, index: number, icon: ReactNode, act: () => void) => (
    <IconButton key={name} isSmall label={words.tools[name]} isDisabled={isPreview} {...buttonAt(index)} onPress={act}>
      {icon}
    </IconButton>
  )
  return (
    <div className={classes(frame.frame, isReadOnly && frame.still, control['aria-invalid'] && frame.wrong)}>
      <div
        {...bar}
        {...(isReadOnly ? {} : { role: 'toolbar', 'aria-label': blocks.toolbar, 'aria-controls': control.id })}
        className={classes(frame.head, frame.tools)}
      >
        {!isReadOnly &&
          tools.map(({ name, icon, run }, index) => button(name, index, icon, () => view.current !== null && run(view.current)))}
        {!isReadOnly && chooseImages !== undefined && button('image', tools.length, <Image {...size} />, () => void insert(chooseImages()))}
        <span className={frame.gap} />
        <IconButton isSmall label={words.preview} isOn={isPreview} {...buttonAt(last)} onPress={() => setIsPreview(!isPreview)}>
          <Eye {...size} />
        </IconButton>
      </div>
      <div id={control.id} ref={mount} className={frame.area} hidden={isPreview} />
      {isPreview && (
        <section className={classes(frame.text, styles.preview)} lang={control.lang} dir="auto" aria-label={words.previewOf(label)}>
          {value.trim() === '' ? <p className={styles.nothing}>{words.nothing}</p> : <Preview text={value} />}
        </section>
      )}
    </div>
  )
}
