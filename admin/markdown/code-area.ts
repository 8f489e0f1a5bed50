// CodeMirror as a hook. It is in a shadow root, since the policy of the page refuses its style elements in the document.
import { defaultKeymap, history, historyKeymap, indentLess, indentMore } from '@codemirror/commands'
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language'
import { Compartment, EditorState, type Extension, Transaction } from '@codemirror/state'
import { drawSelection, EditorView, keymap, placeholder } from '@codemirror/view'
import { tags } from '@lezer/highlight'
import { type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react'

/** A text area of CodeMirror. */
interface CodeAreaOptions {
  readonly value: string
  readonly onChange: (text: string) => void
  readonly label: string
  readonly lang: string | undefined
  readonly placeholder: string
  readonly isReadOnly: boolean
  readonly isInvalid: boolean
  /** Language and keys; the first ones are used. */
  readonly extensions: Extension
  /** Takes pasted or dropped files; false: they are not wanted. */
  readonly takeFiles?: (files: readonly File[]) => boolean
}

const colours = HighlightStyle.define([
  { tag: tags.heading, fontWeight: '600' },
  { tag: tags.strong, fontWeight: '600' },
  { tag: tags.emphasis, fontStyle: 'italic' },
  { tag: tags.strikethrough, textDecoration: 'line-through' },
  { tag: [tags.link, tags.url], color: 'var(--accent)' },
  { tag: [tags.quote, tags.comment, tags.meta, tags.processingInstruction], color: 'var(--soft)' },
  { tag: [tags.monospace, tags.string], color: 'var(--published)' },
  { tag: [tags.number, tags.bool, tags.null, tags.atom], color: 'var(--changed)' },
  { tag: tags.propertyName, color: 'var(--accent)' },
])

const look = EditorView.theme({
  '&': { color: 'var(--ink)', fontSize: '14px' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--code)', lineHeight: '22px', minBlockSize: '120px', maxBlockSize: '70vh', overflow: 'auto' },
  '.cm-content': { padding: '12px 0', caretColor: 'var(--ink)' },
  '.cm-line': { padding: '0 14px', unicodeBidi: 'plaintext' },
  '.cm-cursor': { borderInlineStartColor: 'var(--ink)' },
  '.cm-placeholder': { color: 'var(--soft)' },
  '&.cm-focused .cm-selectionBackground, .cm-selectionBackground': {
    background: 'color-mix(in srgb, var(--focus) 25%, transparent) !important',
  },
})

/** Escape lets the next Tab leave the text, where Tab indents. */
function tabKeys(): Extension {
  let isLeaving = false
  return [
    EditorView.domEventHandlers({
      keydown: ({ key }) => {
        if (key !== 'Tab' && key !== 'Shift') isLeaving = key === 'Escape'
        return false
      },
      blur: () => {
        isLeaving = false
      },
    }),
    keymap.of([{ key: 'Tab', run: (view) => !isLeaving && indentMore(view), shift: (view) => !isLeaving && indentLess(view) }]),
  ]
}

const attributesOf = ({ label, lang, placeholder: text, isReadOnly, isInvalid }: CodeAreaOptions): Extension => [
  placeholder(text),
  EditorState.readOnly.of(isReadOnly),
  EditorView.editable.of(!isReadOnly),
  EditorView.contentAttributes.of({
    'aria-label': label,
    ...(lang === undefined ? {} : { lang, spellcheck: 'true' }),
    ...(isInvalid ? { 'aria-invalid': 'true' } : {}),
    ...(isReadOnly ? { tabindex: '0', 'aria-readonly': 'true' } : {}),
  }),
]

/** Makes the element a text of CodeMirror. Line ends stay as they are. */
export function useCodeArea(mount: RefObject<HTMLElement | null>, options: CodeAreaOptions): RefObject<EditorView | null> {
  const view = useRef<EditorView | null>(null)
  const latest = useRef(options)
  latest.current = options
  const [attributes] = useState(() => new Compartment())
  const shown = useRef(options.value)

  useLayoutEffect(() => {
    const root = mount.current!.shadowRoot ?? mount.current!.attachShadow({ mode: 'open', delegatesFocus: true })
    const taken = (event: Event, data: DataTransfer | null) => {
      const files = [...(data?.files ?? [])]
      if (files.length === 0 || latest.current.takeFiles?.(files) !== true) return false
      event.preventDefault()
      return true
    }
    const created = new EditorView({
      root,
      parent: root,
      state: EditorState.create({
        doc: shown.current,
        extensions: [
          EditorState.lineSeparator.of(lineEndOf(shown.current)),
          history(),
          drawSelection(),
          EditorView.lineWrapping,
          latest.current.extensions,
          tabKeys(),
          keymap.of([...defaultKeymap.filter(({ key }) => key !== 'Mod-Enter' && key !== 'Mod-/'), ...historyKeymap]),
          syntaxHighlighting(colours),
          look,
          attributes.of(attributesOf(latest.current)),
          EditorView.domEventHandlers({
            paste: (event) => taken(event, event.clipboardData),
            drop: (event) => taken(event, event.dataTransfer),
          }),
          EditorView.updateListener.of((update) => {
            if (!update.docChanged || update.transactions.some((one) => one.annotation(Transaction.remote) === true)) return
            shown.current = update.state.sliceDoc()
            latest.current.onChange(shown.current)
          }),
        ],
      }),
    })
    view.current = created
    return () => {
      created.destroy()
      view.current = null
    }
  }, [mount, attributes])

  // A value from elsewhere replaces the text.
  useEffect(() => {
    const there = view.current
    if (there === null || options.value === shown.current) return
    shown.current = options.value
    const changes = { from: 0, to: there.state.doc.length, insert: there.state.toText(options.value) }
    there.dispatch({ changes, annotations: [Transaction.remote.of(true), Transaction.addToHistory.of(false)] })
  }, [options.value])

  const { label, lang, placeholder: text, isReadOnly, isInvalid } = options
  useEffect(() => {
    view.current?.dispatch({ effects: attributes.reconfigure(attributesOf(options)) })
  }, [label, lang, text, isReadOnly, isInvalid, attributes])
  return view
}

/** The line end that all lines of a text have; mixed ones stay as characters of their lines. */
function lineEndOf(text: string): string {
  const ends = new Set(text.match(/\r\n|\r|\n/g) ?? [])
  return ends.size === 1 ? [...ends][0]! : '\n'
}
