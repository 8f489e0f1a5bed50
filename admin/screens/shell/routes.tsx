// The screens by their addresses. Each is loaded with its first visit.
import { lazy, type ReactNode } from 'react'
import { Redirect, Route, Switch } from 'wouter'
import { addresses, newDocument, patterns } from '../../addresses.js'
import { ScreenBoundary } from './screen-boundary.js'
import type { Start } from './type-names.js'

const HomeScreen = lazy(() => import('../home/home-screen.js'))
const ListScreen = lazy(() => import('../list/list-screen.js'))
const EditorScreen = lazy(() => import('../editor/editor-screen.js'))
const CompareScreen = lazy(() => import('../editor/compare-screen.js'))

/** The screen of the address. */
export function Routes({ start }: { readonly start: Start }): ReactNode {
  return (
    <Switch>
      <Route path={patterns.home}>
        <ScreenBoundary key="home">
          <HomeScreen start={start} />
        </ScreenBoundary>
      </Route>
      <Route path={patterns.list}>
        {({ type }) => (
          <ScreenBoundary key={type}>
            <TypeScreen type={type} start={start} />
          </ScreenBoundary>
        )}
      </Route>
      <Route path={patterns.document}>
        {({ type, document }) => (
          <ScreenBoundary key={`${type} editor`}>
            <EditorScreen type={type} document={document === newDocument ? null : document} />
          </ScreenBoundary>
        )}
      </Route>
      <Route path={patterns.compare}>
        {({ type, document }) => (
          <ScreenBoundary key={`${type} ${document} compare`}>
            <CompareScreen type={type} document={document} />
          </ScreenBoundary>
        )}
      </Route>
      <Route>
        <Redirect to={addresses.home()} replace />
      </Route>
    </Switch>
  )
}

/** The list of a collection type; the document of a single type. */
function TypeScreen({ type, start }: { readonly type: string; readonly start: Start }): ReactNode {
  const known = start.types.find(({ uid }) => uid === type)
  return known?.kind === 'singleType' ? <EditorScreen type={type} document={known.documentId} /> : <ListScreen type={type} />
}
