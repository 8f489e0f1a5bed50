// The frame of every screen: the menu, and the screen of the address.
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { addresses } from '../../addresses.js'
import { startQuery } from '../../server/queries.js'
import { signOut } from '../../server/session.js'
import { Routes } from './routes.js'

/** The page of a signed-in administrator. */
export function Shell(): ReactNode {
  const { data } = useQuery(startQuery())
  if (data === undefined) return null
  return (
    <>
      <nav>
        <ul>
          {data.data.types.map(({ uid, displayName }) => (
            <li key={uid}>
              <Link href={addresses.list(uid)}>{displayName}</Link>
            </li>
          ))}
        </ul>
        <button type="button" onClick={() => void signOut()}>
          Sign out
        </button>
      </nav>
      <main>
        <Routes />
      </main>
    </>
  )
}
