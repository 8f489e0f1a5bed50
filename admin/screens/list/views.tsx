// Saved views of a list: opened from a menu, saved under a name, shared with others.
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Bookmark, Save, Trash2 } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { type ListState, readListState, writeListState } from '../../addresses.js'
import { AlertDialog } from '../../parts/AlertDialog.js'
import { Button } from '../../parts/Button.js'
import { Dialog } from '../../parts/Dialog.js'
import { Field } from '../../parts/Field.js'
import { Menu, MenuChoices, MenuItem, MenuLine } from '../../parts/Menu.js'
import { Select } from '../../parts/Select.js'
import { TextInput } from '../../parts/TextInput.js'
import { useToasts } from '../../parts/toasts.js'
import { useWords } from '../../parts/words.js'
import { ApiFailure, type Data, request } from '../../server/client.js'
import { readQuery } from '../../server/queries.js'
import styles from './bulk-dialog.module.css'
import type { TypeInfo } from './list-query.js'
import type { ChangeList } from './list-state.js'

/** A saved view. */
type View = Data<'/views', 'GET'>[number]
type Visibility = View['visibility']

const viewsQuery = (type: string) => readQuery('/views', { query: { type } })

/** The part of a list's state that a view stores. */
const storedQuery = (state: ListState): string =>
  writeListState({ ...state, view: null, locale: null, columns: null, after: null, before: null })

const isSame = (view: View, state: ListState): boolean =>
  view.query === storedQuery(state) && view.columns.join() === (state.columns ?? []).join()

interface ViewsMenuProps {
  readonly type: TypeInfo
  readonly state: ListState
  readonly change: ChangeList
  /** Roles of the reader, that a view can be shared with. */
  readonly roles: readonly number[]
}

/** The menu of saved views; they are asked for when it opens. */
export function ViewsMenu({ type, state, change, roles }: ViewsMenuProps): ReactNode {
  const { list } = useWords()
  const [isOpened, setOpened] = useState(false)
  const [dialog, setDialog] = useState<'save' | 'delete' | null>(null)
  const { data } = useQuery({ ...viewsQuery(type.uid), enabled: isOpened || state.view !== null })
  const views = data?.data ?? []
  const current = views.find(({ id }) => String(id) === state.view)
  const isChanged = current !== undefined && !isSame(current, state)
  const save = useSaveView(type, state)
  const open = (id: string | undefined) => {
    const view = views.find((one) => String(one.id) === id)
    if (view === undefined) return
    const { locale } = state
    change({ ...readListState(view.query), locale, columns: view.columns.length > 0 ? view.columns : null, view: String(view.id) })
  }
  return (
    <>
      <Menu
        label={list.views.title}
        onOpenChange={(isOpen) => isOpen && setOpened(true)}
        trigger={
          <Button kind="quiet" icon={<Bookmark />}>
            {current === undefined ? list.views.title : isChanged ? list.views.changed(current.name) : current.name}
          </Button>
        }
      >
        {views.length > 0 && (
          <MenuChoices
            label={list.views.title}
            isSingle
            choices={views.map((view) => ({
              value: String(view.id),
              label: view.name,
              ...(view.visibility === 'mine' ? {} : { description: list.views.visibilities[view.visibility] }),
            }))}
            value={current === undefined ? [] : [String(current.id)]}
            onChange={([id]) => open(id ?? state.view ?? undefined)}
          />
        )}
        {views.length > 0 && <MenuLine />}
        {isChanged && current.isMine && (
          <MenuItem icon={<Save />} onPress={() => void save.update(current)}>
            {list.views.update}
          </MenuItem>
        )}
        <MenuItem icon={<Bookmark />} onPress={() => setDialog('save')}>
          {list.views.save}
        </MenuItem>
        {current?.isMine && (
          <MenuItem icon={<Trash2 />} isDanger onPress={() => setDialog('delete')}>
            {list.views.delete}
          </MenuItem>
        )}
      </Menu>
      {dialog === 'save' && (
        <SaveDialog
          roles={roles}
          onClose={() => setDialog(null)}
          onSave={async (name, visibility) => {
            const id = await save.create(name, visibility, visibility === 'roles' ? roles : [])
            change({ ...state, view: String(id) }, true)
            setDialog(null)
          }}
        />
      )}
      {current !== undefined && (
        <AlertDialog
          isOpen={dialog === 'delete'}
          onClose={() => setDialog(null)}
          title={list.views.deleteTitle(current.name)}
          action={list.views.deleteAction}
          onConfirm={async () => {
            await save.remove(current)
            change({ ...state, view: null }, true)
          }}
        >
          <p>{list.views.deleteText}</p>
        </AlertDialog>
      )}
    </>
  )
}

/** Requests that save, change and delete views. */
function useSaveView(type: TypeInfo, state: ListState) {
  const { list } = useWords()
  const toasts = useToasts()
  const cache = useQueryClient()
  const refresh = () => cache.invalidateQueries({ queryKey: viewsQuery(type.uid).queryKey })
  const definition = { query: storedQuery(state), columns: [...(state.columns ?? [])] }
  const tagged = ({ revision }: View) => ({ 'if-match': `"${revision}"` })
  const reported = async (work: () => Promise<unknown>) => {
    try {
      await work()
    } catch (error) {
      toasts.say(error instanceof Error ? error.message : String(error), { kind: 'wrong' })
    }
    await refresh()
  }
  return {
    create: async (name: string, visibility: Visibility, roles: readonly number[]) => {
      const { data } = await request('POST', '/views', { body: { type: type.uid, name, ...definition, visibility, roles: [...roles] } })
      await refresh()
      return data.id
    },
    update: (view: View) =>
      reported(async () => {
        await request('PATCH', '/views/{id}', { path: { id: view.id }, headers: tagged(view), body: definition })
        toasts.say(list.views.updated(view.name), { kind: 'good' })
      }),
    remove: (view: View) => reported(() => request('DELETE', '/views/{id}', { path: { id: view.id }, headers: tagged(view) })),
  }
}

interface SaveDialogProps {
  readonly roles: readonly number[]
  readonly onClose: () => void
  readonly onSave: (name: string, visibility: Visibility) => Promise<void>
}

/** Characters of a view's name. */
const longestName = 100

function SaveDialog({ roles, onClose, onSave }: SaveDialogProps): ReactNode {
  const { list, parts } = useWords()
  const [name, setName] = useState('')
  const [visibility, setVisibility] = useState<Visibility>('mine')
  const [error, setError] = useState<string | null>(null)
  const [isBusy, setBusy] = useState(false)
  const save = () => {
    if (name.trim() === '' || isBusy) return
    setBusy(true)
    onSave(name.trim(), visibility)
      .catch((failure: unknown) =>
        setError(failure instanceof ApiFailure && failure.status === 403 ? list.views.notShared : (failure as Error).message),
      )
      .finally(() => setBusy(false))
  }
  const choices = (['mine', 'roles', 'everybody'] as const).filter((one) => one !== 'roles' || roles.length > 0)
  return (
    <Dialog
      isOpen
      isKept
      size="small"
      title={list.views.saveTitle}
      onClose={onClose}
      footer={
        <>
          <Button onPress={onClose}>{parts.cancel}</Button>
          <Button kind="main" isDisabled={name.trim() === ''} isBusy={isBusy} onPress={save}>
            {list.views.saveAction}
          </Button>
        </>
      }
    >
      <form
        className={styles.question}
        onSubmit={(event) => {
          event.preventDefault()
          save()
        }}
      >
        <Field label={list.views.name} required error={error ?? undefined} description={list.views.contents}>
          {(control) => <TextInput {...control} autoFocus maxLength={longestName} value={name} onChange={setName} />}
        </Field>
        <Field label={list.views.sharing}>
          {(control) => (
            <Select
              {...control}
              value={visibility}
              onChange={setVisibility}
              choices={choices.map((value) => ({ value, label: list.views.visibilities[value] }))}
            />
          )}
        </Field>
      </form>
    </Dialog>
  )
}
