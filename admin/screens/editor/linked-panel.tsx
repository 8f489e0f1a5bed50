// The editor of a linked document in a panel, with its own form, saver, and copy in the browser.
import { useQuery } from '@tanstack/react-query'
import { ExternalLink } from 'lucide-react'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import type { Link } from '../../fields/document.js'
import { createFolding } from '../../fields/folding.js'
import { useSaver, useValue } from '../../form/hooks.js'
import type { Entry } from '../../form/values.js'
import { Button } from '../../parts/button.js'
import { Panel } from '../../parts/dialog.js'
import { ErrorState } from '../../parts/error-state.js'
import { IconButton } from '../../parts/icon-button.js'
import { Skeleton } from '../../parts/skeleton.js'
import { State } from '../../parts/state.js'
import { useFormat, useWords } from '../../parts/words.js'
import { startQuery } from '../../server/queries.js'
import { saveAll } from './document-actions.js'
import type { DocumentForm } from './document-form.js'
import { DocumentPane } from './document-pane.js'
import styles from './editor.module.css'
import { type LinkedDocument, LinkedDocuments, openInTab } from './linked-documents.js'
import { Notices } from './notices.js'
import { nameOfDocument } from './path-labels.js'
import { useMerging } from './presence.js'
import { SavingStatus } from './saving-status.js'
import { useSideForm } from './side-form.js'
import { Conflicts } from './side-panel.js'
import { isMissing, useDocumentForm, useMeta } from './use-document-form.js'

const panelPrefix = 'panel-'

interface LinkedPanelProps {
  readonly wanted: LinkedDocument
  readonly onClose: () => void
}

/** The panel of a linked document. Links inside it open in another tab. */
export default function LinkedPanel({ wanted, onClose }: LinkedPanelProps) {
  const words = useWords().editor
  const { data: start } = useQuery(startQuery())
  const type = start?.data.types.find(({ uid }) => uid === wanted.type)
  const byDefault = start?.data.locales.find(({ isDefault }) => isDefault)?.code ?? null
  const locale = type?.localized === true ? (wanted.locale ?? byDefault) : null
  const [documentId, setDocumentId] = useState(wanted.link?.documentId ?? null)
  const form = useRef<DocumentForm>(null)
  const naming = type?.naming ?? null
  // The response to a save may arrive after the panel has closed.
  const onCreated = useCallback(
    (created: string) => {
      setDocumentId(created)
      if (form.current !== null) wanted.onCreated({ ...describe(form.current, naming), documentId: created })
    },
    [wanted, naming],
  )
  const { opened, replace } = useDocumentForm(start === undefined ? null : wanted.type, documentId, locale, onCreated)
  if (opened.kind === 'open') form.current = opened.form
  const close = () => {
    const isStored = form.current !== null && form.current.saver.state.documentId !== null
    wanted.onClosed(isStored ? describe(form.current!, naming, wanted.link) : null)
    onClose()
  }
  if (opened.kind === 'open') return <LinkedEditor {...{ wanted, naming, replace, onCreated }} form={opened.form} onClose={close} />
  return (
    <Panel isOpen onClose={close} size="large" title={type?.displayName ?? ''}>
      {opened.kind === 'loading' ? (
        <Skeleton lines={8} isField />
      ) : (
        <ErrorState text={isMissing(opened.error) ? words.missing : opened.error.message} />
      )}
    </Panel>
  )
}

/** The document of a form as a link, with the fields of the former link. */
function describe({ type, store, saver, locale, meta }: DocumentForm, naming: string | null, former: Link | null = null): Link {
  const name = naming === null ? null : store.get(naming)
  const fields = Object.keys((former?.fields ?? {}) as Entry).map((field) => [field, store.get(field) ?? null] as const)
  return {
    ...{ type: type.uid, documentId: saver.state.documentId ?? '', locale },
    ...{ name: typeof name === 'string' ? name : null, fields: Object.fromEntries(fields) },
    ...(type.draftAndPublish ? { state: meta.view?.state ?? 'draft' } : {}),
  }
}

interface LinkedEditorProps extends LinkedPanelProps {
  readonly form: DocumentForm
  readonly naming: string | null
  readonly replace: (form: DocumentForm) => void
  readonly onCreated: (documentId: string) => void
}

function LinkedEditor({ form, wanted, naming, replace, onCreated, onClose }: LinkedEditorProps) {
  const words = useWords().editor
  const format = useFormat()
  const { view } = useMeta(form)
  const { documentId, phase } = useSaver(form.saver)
  const folding = useMemo(() => createFolding(), [])
  const body = useRef<HTMLDivElement>(null)
  const { type, store, locale } = form
  const mainField = naming ?? String(type.layout.settings.mainField)
  useValue(store, mainField)
  // Without presence: a tab reports one document, that of the screen.
  useMerging(form)
  const isNew = wanted.link === null
  const hasBegun = useRef(!isNew)
  useEffect(() => {
    if (hasBegun.current) return
    hasBegun.current = true
    // As an edit, so that it is saved.
    if (wanted.name !== '' && type.fields.create?.includes(mainField) === true) store.set(mainField, wanted.name)
    body.current?.querySelector<HTMLElement>(`[id^="${panelPrefix}"]`)?.focus()
  }, [wanted, store, type, mainField])
  const { go, publish, isPublishable, onKeyDown, windows } = useSideForm({ form, folding, idPrefix: panelPrefix, within: body })
  const finish = async () => {
    if ((documentId === null || phase !== 'saved') && !(await saveAll(form))) return
    onClose()
  }
  const name = nameOfDocument(type, store.get('') as Entry)
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the focus is in the panel inside
    <div onKeyDown={onKeyDown}>
      <Panel
        isOpen
        isKept
        onClose={onClose}
        size="large"
        title={name || (documentId === null ? words.newDocument(type.displayName) : words.untitled)}
        actions={
          <>
            {type.draftAndPublish && view?.state != null && <State state={view.state} />}
            <SavingStatus form={form} />
            {documentId !== null && (
              <IconButton isSmall label={words.linked.newTab} onPress={() => openInTab(type.uid, documentId, locale)}>
                <ExternalLink size={15} aria-hidden="true" />
              </IconButton>
            )}
          </>
        }
        footer={
          <>
            {isPublishable && (
              <Button isDisabled={documentId === null && phase === 'saved'} onPress={publish}>
                {words.publish.publish}
              </Button>
            )}
            <Button kind="main" isBusy={phase === 'saving'} onPress={() => void finish()}>
              {isNew && documentId === null ? words.linked.create : type.draftAndPublish ? words.linked.done : words.saving.save}
            </Button>
          </>
        }
      >
        <div className={styles.sheet} ref={body}>
          <Notices form={form} replace={replace} onCreated={onCreated} />
          <Conflicts form={form} onGo={go} isBeside />
          <LinkedDocuments value={null}>
            <DocumentPane
              form={form}
              folding={folding}
              idPrefix={panelPrefix}
              label={locale === null ? type.displayName : format.languageName(locale)}
            />
          </LinkedDocuments>
        </div>
        {windows}
      </Panel>
    </div>
  )
}
