// Octavo and Strapi as a handover talks to them, by a token that may do everything.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { launch, temporaryFolder } from '../../bench/launch.mjs'
import { goldenProject } from '../../bench/servers.mjs'

/** The key of a token with full access. */
export const fullKey = /** @type {string} */ (JSON.parse(readFileSync(join(goldenProject, 'tokens.json'), 'utf8')).full)

/** @typedef {import('./handover-reads.mjs').Answer} Answer */

/**
 * @typedef {object} Started
 * @property {string} name
 * @property {(method: string, path: string, data?: object) => Promise<Answer>} ask
 * @property {(path: string, form: FormData) => Promise<Answer>} send
 * @property {(paths: readonly string[]) => Promise<Answer[]>} answers
 * @property {() => Promise<void>} stop
 */

/**
 * @param {string} name
 * @param {string[]} command
 * @param {string | undefined} workingFolder
 * @param {Record<string, string>} environment
 * @returns {Promise<Started>}
 */
export async function start(name, command, workingFolder, environment) {
  const server = await launch({ name, command, folder: temporaryFolder(), workingFolder, environment, patience: 180_000 })
  const authorization = `Bearer ${fullKey}`
  /**
   * @param {string} path
   * @param {RequestInit} request
   * @returns {Promise<Answer>}
   */
  const fetched = async (path, request) => {
    const answer = await fetch(server.origin + path, request)
    const text = await answer.text()
    return { status: answer.status, body: text === '' ? null : JSON.parse(text) }
  }
  /** @type {Started['ask']} */
  const ask = (method, path, data) => {
    const headers = { authorization, ...(data === undefined ? {} : { 'content-type': 'application/json' }) }
    return fetched(path, { method, headers, ...(data === undefined ? {} : { body: JSON.stringify({ data }) }) })
  }
  const answers = async (/** @type {readonly string[]} */ paths) => {
    const all = []
    for (const path of paths) all.push(await ask('GET', path))
    return all
  }
  return {
    name,
    ask,
    send: (path, body) => fetched(path, { method: 'POST', headers: { authorization }, body }),
    answers,
    stop: server.stop,
  }
}
