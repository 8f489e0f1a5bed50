// ProseMirror's view as a hook: values in, changes out. The view lives as long as its element.
import { closeHistory, history, redo, undo } from 'prosemirror-history'
import { type Command, EditorState } from 'prosemirror-state'
import { EditorView } from 'prosemirror-view'
import { type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { isSafeLink } from '../parts/safe-links.js'
import { keyPlugins } from './keys.js'
import { openBlocks } from './mapping.js'
import { pasteParser, withoutInline } from './paste.js'
import { nodeViews, type ViewClasses, type ViewTexts } from './views.js'

/** Steps that can be undone. */
const undoDepth = 500

/** Options of a view; the latest functions are called. */
interface EditorOptions {
  readonly value: unknown
  readonly onChange: (value: unknown) => void
  readonly isReadOnly: boolean
  readonly texts: ViewTexts
  readonly classes: ViewClasses
  /** Keys of an open menu; true: handled. */
  readonly onKey: (event: KeyboardEvent) => boolean
  /** Shows the panel of links; false: there is nothing to link. */
  readonly openLink: (state: EditorState) => boolean
  /** Takes pasted or dropped pictures; false: they are not wanted. */
  readonly takePictures: (files: readonly File[]) => boolean
}

/** A view and its state. */
export interface Editor {
  readonly view: RefObject<EditorView | null>
  readonly state: EditorState | null
  /** Runs a command, and moves the focus into the text. */
  readonly run: (command: Command) => void
}

const picturesIn = (data: DataTransfer | null): readonly File[] => [...(data?.files ?? [])].filter(({ type }) => type.startsWith('image/'))

/** A click with Ctrl or Cmd on a link opens it. */
function followLink(event: MouseEvent): boolean {
  const link = event.target instanceof Element ? event.target.closest('a') : null
  const url = link?.getAttribute('href')
  if (!(event.ctrlKey || event.metaKey) || url == null || !isSafeLink(url)) return false
  window.open(url, '_blank', 'noreferrer')
  return true
}

/** Makes the element a text of ProseMirror. */
export function useEditor(mount: RefObject<HTMLElement | null>, options: EditorOptions): Editor {
  const latest = useRef(options)
  latest.current = options
  const view = useRef<EditorView | null>(null)
  const [opened] = useState(() => ({ current: { value: options.value, ...openBlocks(options.value) } }))
  const [plugins] = useState(() => [
    history({ depth: undoDepth }),
    ...keyPlugins(() => view.current?.editable === true && latest.current.openLink(view.current.state)),
  ])
  const [state, setState] = useState<EditorState | null>(null)

  useLayoutEffect(() => {
    const taken = (files: readonly File[]) => files.length > 0 && latest.current.takePictures(files)
    const created: EditorView = new EditorView(
      { mount: mount.current! },
      {
        state: EditorState.create({ doc: opened.current.doc, plugins }),
        clipboardParser: pasteParser,
        transformPastedHTML: withoutInline,
        nodeViews: nodeViews(latest.current.texts, latest.current.classes),
        editable: () => !latest.current.isReadOnly,
        handleKeyDown: (_view, event) => latest.current.onKey(event),
        handleClick: (_view, _position, event) => followLink(event),
        handlePaste: (view, event) => {
          if (taken(picturesIn(event.clipboardData))) return true
          // A paste is a separate undo step, even right after typing.
          view.dispatch(closeHistory(view.state.tr))
          return false
        },
        handleDrop: (_view, event) => taken(picturesIn(event.dataTransfer)),
        dispatchTransaction: (transaction) => {
          const next = created.state.apply(transaction)
          created.updateState(next)
          setState(next)
          if (!transaction.docChanged) return
          opened.current.value = opened.current.valueOf(next.doc)
          latest.current.onChange(opened.current.value)
        },
      },
    )
    view.current = created
    setState(created.state)
    // The buttons of the document act on the text that has the focus.
    const turn = (event: Event) => {
      if ((event as CustomEvent<boolean>).detail ? redo(created.state, created.dispatch) : undo(created.state, created.dispatch))
        event.preventDefault()
    }
    created.dom.addEventListener('octavo-undo', turn)
    return () => {
      created.dom.removeEventListener('octavo-undo', turn)
      created.destroy()
      view.current = null
    }
  }, [mount, opened, plugins])

  // A value from elsewhere, such as a merge or an undone change of the document, replaces the text.
  useEffect(() => {
    if (options.value === opened.current.value || view.current === null) return
    opened.current = { value: options.value, ...openBlocks(options.value) }
    view.current.updateState(EditorState.create({ doc: opened.current.doc, plugins }))
    setState(view.current.state)
  }, [options.value, opened, plugins])

  const run = (command: Command) => {
    const there = view.current
    if (there === null) return
    command(there.state, there.dispatch, there)
    there.focus()
  }
  return { view, state, run }
}
