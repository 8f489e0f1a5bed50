// Permitted addresses of webhooks. Every resolved address is checked on connection, because names may resolve to a private network.

import { type LookupAddress, lookup } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import ipaddr from 'ipaddr.js'
import { openQueue } from '../../../foundation/runtime/queues.js'

/** Permitted private addresses: all, none, or these hosts, addresses and networks (`10.0.0.0/8`). */
export type PrivateAddresses = boolean | readonly string[]

export interface AddressRules {
  /** Returns why the host of a URL is refused before it is resolved; null if it is not. */
  refusalOf(host: string): string | null
  /** Resolves a name for a connection. Fails if any of its addresses is refused. */
  readonly lookup: LookupFunction
}

type Address = ipaddr.IPv4 | ipaddr.IPv6

export function openAddressRules(allowed: PrivateAddresses, limits: ResolveLimits): AddressRules {
  const networks = allowed === true || allowed === false ? [] : allowed.flatMap((entry) => networkOf(entry) ?? [])
  const hosts = new Set(allowed === true || allowed === false ? [] : allowed.map((entry) => entry.toLowerCase()))
  const resolve = openResolve(limits)

  function refusal(host: string, address: string): string | null {
    if (allowed === true || hosts.has(host.toLowerCase())) return null
    const parsed = ipaddr.process(withoutZone(address))
    if (isPublic(parsed) || networks.some((network) => isWithin(parsed, network))) return null
    return `${host} leads to ${host === address ? 'a private address' : `the private address ${address}`} (webhooks.allowPrivateAddresses)`
  }

  return {
    refusalOf: (host) => {
      const name = host.replace(/^\[|\]$/g, '')
      if (isIP(withoutZone(name)) !== 0) return refusal(name, name)
      return /^(?:.+\.)?localhost\.?$/i.test(name) ? refusal(name, '127.0.0.1') : null
    },
    lookup: (host, options, callback) => {
      resolve(host).then(
        (found) => {
          const addresses = found.filter(({ family }) => !options.family || options.family === family || options.family === `IPv${family}`)
          const refused = found.map(({ address }) => refusal(host, address)).find((why) => why !== null)
          const [first] = addresses
          if (refused !== undefined || first === undefined) {
            const error = Object.assign(new Error(refused ?? `${host} has no address`), {
              code: refused === undefined ? 'ENOTFOUND' : refusedCode,
            })
            callback(error, '')
          } else if (options.all === true) callback(null, [...addresses])
          else callback(null, first.address, first.family)
        },
        (error: NodeJS.ErrnoException) => callback(error, ''),
      )
    },
  }
}

/** Error code of a refused address. */
export const refusedCode = 'ERR_PRIVATE_ADDRESS'

const withoutZone = (address: string): string => address.split('%')[0]!

/** The range of global unicast addresses in IPv6. */
const publicIpv6 = ipaddr.IPv6.parseCIDR('2000::/3')

/** True for addresses of the public internet. */
function isPublic(address: Address): boolean {
  if (address.kind() === 'ipv4') return address.range() === 'unicast'
  const ipv6 = address as ipaddr.IPv6
  // A NAT64 address embeds the IPv4 address that it leads to.
  if (ipv6.range() === 'rfc6052') return isPublic(new ipaddr.IPv4(ipv6.toByteArray().slice(12)))
  return ipv6.range() === 'unicast' && ipv6.match(publicIpv6)
}

type Network = readonly [Address, number]

/** Parses an address or network of the configuration; null for a name. */
function networkOf(entry: string): readonly Network[] | null {
  if (isIP(entry) !== 0) {
    const address = ipaddr.process(entry)
    return [[address, address.kind() === 'ipv4' ? 32 : 128]]
  }
  return ipaddr.isValidCIDR(entry) ? [ipaddr.parseCIDR(entry)] : null
}

const isWithin = (address: Address, [network, bits]: Network): boolean =>
  address.kind() === network.kind() && address.match(network as ipaddr.IPv4 & ipaddr.IPv6, bits)

/** Resolves a name. Rejects after a timeout; the name then fails until the system call ends. */
type Resolve = (name: string) => Promise<readonly LookupAddress[]>

/** Concurrent lookups of names that are not known to be slow; these have one more. Each lookup occupies one of Node's four threads. */
const maxQuickLookups = 2

export interface ResolveLimits {
  /** Time limit for a whole request, in milliseconds. */
  readonly webhookTimeout: number
}

/** The part of the time of a request for the resolution of the name. */
const lookupShare = 0.6

function openResolve({ webhookTimeout }: ResolveLimits): Resolve {
  const timeoutMs = Math.round(webhookTimeout * lookupShare)
  const quick = openQueue(maxQuickLookups, Number.POSITIVE_INFINITY, '')
  const slow = openQueue(1, Number.POSITIVE_INFINITY, '')
  /** Names whose last lookup timed out. */
  const late = new Set<string>()
  const underWay = new Map<string, ReturnType<Resolve>>()

  /** Queues a lookup. It occupies its slot until the system call ends, even after a timeout. */
  function begin(name: string): ReturnType<Resolve> {
    return new Promise((resolve, reject) => {
      const look = async (): Promise<void> => {
        const timer = setTimeout(() => {
          late.add(name)
          reject(new Error(`${name} was not resolved within ${timeoutMs} milliseconds`))
        }, timeoutMs).unref()
        const begun = performance.now()
        await lookUp(name).then(resolve, reject)
        clearTimeout(timer)
        if (performance.now() - begun < timeoutMs) late.delete(name)
        underWay.delete(name)
      }
      void (late.has(name) ? slow : quick).run(look)
    })
  }

  return (name) => {
    const resolving = underWay.get(name) ?? begin(name)
    underWay.set(name, resolving)
    return resolving
  }
}

const lookUp: Resolve = (name) =>
  new Promise((resolve, reject) => {
    lookup(name, { all: true, order: 'verbatim' }, (error, addresses) => (error === null ? resolve(addresses) : reject(error)))
  })
