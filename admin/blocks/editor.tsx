// The editor of rich text: ProseMirror with a toolbar, a slash menu, and panels for links and images.
import { deleteSelection } from 'prosemirror-commands'
import { type EditorState, NodeSelection } from 'prosemirror-state'
import type { EditorView } from 'prosemirror-view'
import { type CSSProperties, useEffect, useId, useMemo, useRef, useState } from 'react'
import { classes } from '../parts/classes.js'
import type { FieldControl } from '../parts/field.js'
import shared from '../parts/rich-text.module.css'
import { useWords } from '../parts/words.js'
import { insertBlocks, kindAt, linkAt, setKind, setLanguage, setLink, toggleList } from './commands.js'
import styles from './editor.module.css'
import { toggleFlag } from './keys.js'
import { isEmpty } from './mapping.js'
import { ImagePanel, LinkPanel } from './panels.js'
import { flags, type Members, schema } from './schema.js'
import { slashItems } from './slash-items.js'
import { SlashMenu, slashItemId, useSlashMenu } from './slash-menu.js'
import { Toolbar, type ToolbarActions, type ToolbarState } from './toolbar.js'
import { type Editor, useEditor } from './use-editor.js'

/** Rich text as a field. */
interface BlocksEditorProps {
  /** Attributes of the field, and the text's language. */
  readonly control: FieldControl
  readonly value: unknown
  readonly onChange: (value: unknown) => void
  readonly isReadOnly?: boolean
  /** Lets people choose images; copies of their files' members are stored in the text. Absent: no images can be added. */
  readonly chooseImages?: () => Promise<readonly Members[]>
  /** Uploads pasted and dropped pictures. */
  readonly uploadImages?: (files: readonly File[]) => Promise<readonly Members[]>
}

const imageNode = (image: Members) => schema.node('image', { image, more: { children: [{ type: 'text', text: '' }] } })

function toolbarState(state: EditorState): ToolbarState {
  const { $from, from, to, empty } = state.selection
  const isSet = (flag: string) =>
    empty
      ? schema.marks[flag]!.isInSet(state.storedMarks ?? $from.marks()) !== undefined
      : state.doc.rangeHasMark(from, to, schema.marks[flag]!)
  return {
    kind: kindAt(state),
    language: String($from.parent.attrs.language ?? ''),
    flags: flags.filter(isSet).join(' '),
    isLink: linkAt(state) !== null,
    canLink: $from.parent.inlineContent && $from.parent.type.name !== 'codeBlock',
  }
}

/** Rich text with its toolbar. */
export default function BlocksEditor(props: BlocksEditorProps) {
  const { control, value, onChange, isReadOnly = false, chooseImages, uploadImages } = props
  const words = useWords().fields.blocks
  const menuId = useId()
  const [frame, mount] = [useRef<HTMLDivElement>(null), useRef<HTMLDivElement>(null)]
  const bar = useRef<HTMLDivElement>(null)
  const onKey = useRef((_event: KeyboardEvent): boolean => false)
  const [isLinking, setIsLinking] = useState(false)
  const editor = useEditor(mount, {
    ...{ value, onChange, isReadOnly },
    texts: words.views,
    classes: { image: styles.image, warning: styles.warning, odd: styles.odd },
    onKey: (event) => onKey.current(event),
    openLink: (state) => {
      const canOpen = linkAt(state) !== null || !state.selection.empty
      if (canOpen) setIsLinking(true)
      return canOpen
    },
    takePictures: (files) => {
      if (uploadImages !== undefined) void insertImages(uploadImages(files))
      return uploadImages !== undefined
    },
  })
  const { view, state, run } = editor
  // The latest functions, for actions that are made once.
  const current = useRef({ run, choose: () => {} })

  const insertImages = async (images: Promise<readonly Members[]>) => {
    // A failed upload has said so itself.
    const chosen = await images.catch(() => [])
    if (chosen.length > 0) current.current.run(insertBlocks(chosen.map(imageNode)))
  }
  current.current = { run, choose: () => chooseImages !== undefined && void insertImages(chooseImages()) }

  const canChoose = chooseImages !== undefined
  const items = useMemo(
    () => slashItems(words, (command) => current.current.run(command), canChoose ? () => current.current.choose() : undefined),
    [words, canChoose],
  )
  const slash = useSlashMenu(isReadOnly ? null : state, items)
  const menu = slash !== null && view.current?.hasFocus() === true ? slash : null
  onKey.current = (event) => {
    if (event.altKey && event.key === 'F10') {
      bar.current?.querySelector<HTMLElement>('button:not([disabled])')?.focus()
      return true
    }
    return menu?.onKey(event) === true
  }

  const actions = useMemo<ToolbarActions>(
    () => ({
      setKind: (kind) => current.current.run(setKind(kind)),
      setLanguage: (language) => current.current.run(setLanguage(language)),
      toggleFlag: (flag) => current.current.run(toggleFlag(flag)),
      toggleList: (format) => current.current.run(toggleList(format)),
      openLink: () => setIsLinking(true),
      focusText: () => view.current?.focus(),
      chooseImage: canChoose ? () => current.current.choose() : undefined,
    }),
    [canChoose, view],
  )

  const isBlank = state !== null && isEmpty(state.doc)
  // ProseMirror would overwrite attributes that React sets on its element.
  useEffect(() => {
    const { id, dir: _, ...members } = control
    const set = Object.entries(members).filter(([, given]) => given !== undefined)
    view.current?.setProps({
      attributes: {
        ...Object.fromEntries(set.map(([name, given]) => [name, String(given)])),
        ...(menu === null ? {} : { 'aria-controls': menuId, 'aria-activedescendant': slashItemId(menuId, menu.items[menu.active]!.name) }),
        ...(isReadOnly ? { 'aria-readonly': 'true', tabindex: '0' } : {}),
        ...{ id, role: 'textbox', 'aria-multiline': 'true', dir: 'auto', 'data-placeholder': isReadOnly ? '' : words.placeholder },
        class: classes(shared.area, shared.text, styles.text, isBlank && styles.empty),
      },
    })
  })

  return (
    <div
      ref={frame}
      className={classes(shared.frame, isReadOnly && shared.still, isReadOnly && styles.still, control['aria-invalid'] && shared.wrong)}
    >
      <div className={shared.head} ref={bar}>
        {state !== null && !isReadOnly && <Toolbar state={toolbarState(state)} actions={actions} controls={control.id} />}
        {state !== null && <SelectedImage editor={editor} isReadOnly={isReadOnly} />}
      </div>
      <div ref={mount} />
      {state !== null && isLinking && !isReadOnly && frame.current !== null && (
        <Linking editor={editor} frame={frame.current} onClose={() => setIsLinking(false)} />
      )}
      {menu !== null && frame.current !== null && (
        <SlashMenu id={menuId} label={words.insert} menu={menu} position={positionOf(view.current!, menu.from, frame.current, menuWidth)} />
      )}
    </div>
  )
}

/** Widths of the slash menu and of the panel for links, with a margin. */
const [menuWidth, linkWidth] = [268, 368]

/** Maximum height of the menu, and the height of the header and toolbar that it must not cover. */
const [menuHeight, headHeight] = [288, 150]

/** Below the line of a position, or above it where there is more space, relative to the frame. */
function positionOf(view: EditorView, position: number, frame: HTMLElement, width: number): CSSProperties {
  const [line, around] = [view.coordsAtPos(position), frame.getBoundingClientRect()]
  const left = Math.max(8, Math.min(line.left - around.left, around.width - width))
  const [above, below] = [line.top - headHeight, innerHeight - line.bottom - 12]
  const isAbove = below < menuHeight && above > below
  const side = isAbove ? { bottom: around.bottom - line.top + 4 } : { top: line.bottom - around.top + 4 }
  return { ...side, left, maxBlockSize: Math.max(120, Math.min(menuHeight, isAbove ? above : below)) }
}

interface LinkingProps {
  readonly editor: Editor
  readonly frame: HTMLElement
  readonly onClose: () => void
}

/** The panel for the link at a selection; it closes when it loses the focus or the text changes. */
function Linking({ editor: { state, view, run }, frame, onClose }: LinkingProps) {
  const link = linkAt(state!)
  const [opened] = useState(() => ({ doc: state!.doc, position: positionOf(view.current!, state!.selection.to, frame, linkWidth) }))
  const isStale = state!.doc !== opened.doc
  useEffect(() => {
    if (isStale) onClose()
  }, [isStale, onClose])
  const close = () => {
    onClose()
    view.current?.focus()
  }
  const apply = (url: string | null, text?: string) => {
    run(setLink(url, text))
    close()
  }
  return (
    <div className={styles.linking} style={opened.position}>
      <LinkPanel
        url={String(link?.mark.attrs.url ?? '')}
        isLink={link !== null}
        hasText={link !== null || !state!.selection.empty}
        onApply={apply}
        onRemove={() => apply(null)}
        onClose={close}
        onLeave={onClose}
      />
    </div>
  )
}

interface SelectedImageProps {
  readonly editor: Editor
  readonly isReadOnly: boolean
}

function SelectedImage({ editor: { state, view, run }, isReadOnly }: SelectedImageProps) {
  const { selection } = state!
  if (!(selection instanceof NodeSelection) || selection.node.type.name !== 'image') return null
  const { node, from } = selection
  const change = (image: Members) => {
    const tr = view.current!.state.tr.setNodeMarkup(from, null, { ...node.attrs, image })
    view.current!.dispatch(tr.setSelection(NodeSelection.create(tr.doc, from)))
  }
  return (
    <ImagePanel
      image={node.attrs.image as Members}
      isReadOnly={isReadOnly}
      onChange={change}
      onRemove={() => run(deleteSelection)}
      onClose={() => view.current?.focus()}
    />
  )
}
