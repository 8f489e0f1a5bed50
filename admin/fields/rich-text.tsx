// Rich text: blocks and Markdown, with pictures of the media library. Their editors are loaded with the first such field.
import { lazy } from 'react'
import { useValue } from '../form/hooks.js'
import { type FieldProps, useDocumentFields } from './document.js'
import { useImages } from './images.js'

const BlocksEditor = lazy(() => import('../blocks/editor.js'))
const MarkdownEditor = lazy(() => import('../markdown/editor.js'))

/** Rich text as blocks. */
export function BlocksField({ control, path, isReadOnly }: FieldProps) {
  const { store } = useDocumentFields()
  const value = useValue(store, path)
  const { chooseImages, uploadImages, dialog } = useImages()
  return (
    <>
      <BlocksEditor
        control={control}
        value={value}
        isReadOnly={isReadOnly}
        onChange={(blocks) => store.set(path, blocks, { isTyping: true })}
        {...{ chooseImages, uploadImages }}
      />
      {dialog}
    </>
  )
}

/** Rich text as Markdown: the text is stored byte for byte as it is typed. */
export function RichTextField({ control, path, label, isReadOnly }: FieldProps) {
  const { store } = useDocumentFields()
  const value = useValue(store, path)
  const { chooseImages, uploadImages, dialog } = useImages()
  return (
    <>
      <MarkdownEditor
        control={control}
        label={label}
        value={typeof value === 'string' ? value : ''}
        isReadOnly={isReadOnly}
        onChange={(text) => store.set(path, text === '' && store.baseAt(path) !== '' ? null : text, { isTyping: true })}
        {...{ chooseImages, uploadImages }}
      />
      {dialog}
    </>
  )
}
