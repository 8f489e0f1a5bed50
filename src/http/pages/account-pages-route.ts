// Serves the pages for users. They are always there, because letters lead to them as long as the settings name no others.
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { Config } from '../../foundation/config/config.js'
import { confirmedPath, newPasswordPath, publicPath } from '../../identity/accounts/own-pages.js'
import { policyOfPage } from '../headers-and-cors.js'
import {
  type AccountPageAddresses,
  confirmed,
  messagePage,
  messagePolicy,
  newPasswordPage,
  newPasswordPolicy,
  type PageMessage,
} from './account-pages.js'
import { assetAddress, assetFolder, sendAsset } from './assets.js'

const [script, style] = ['new-password.js', 'account-pages.css']

/** The parts of the configuration that the pages depend on. */
export type AccountPageConfig = Pick<Config, 'publicUrl' | 'rest' | 'responseHeaders' | 'startPage'>

/** Adds the routes of the pages, their script and their style. */
export function addAccountPages(app: FastifyInstance, config: AccountPageConfig): void {
  const below = publicPath(config.publicUrl)
  const policy = policyOfPage(config, newPasswordPolicy)
  const action = `${below}${config.rest.prefix}/auth/reset-password`
  app.get(newPasswordPath, async (_request, reply) => {
    const html = newPasswordPage(await addressesOf(config), below + (await assetAddress(script)), action)
    return sendPage(reply, policy, html)
  })
  app.get(confirmedPath, (_request, reply) => sendMessage(reply, config, confirmed))
  for (const name of [script, style]) app.get(`${assetFolder}/${name}`, (_request, reply) => sendAsset(reply, name))
}

/** Sends a page that says something. */
export async function sendMessage(reply: FastifyReply, config: AccountPageConfig, message: PageMessage): Promise<FastifyReply> {
  return sendPage(reply, policyOfPage(config, messagePolicy), messagePage(await addressesOf(config), message))
}

async function addressesOf({ publicUrl, startPage }: AccountPageConfig): Promise<AccountPageAddresses> {
  const below = publicPath(publicUrl)
  return { style: below + (await assetAddress(style)), picture: startPage ? `${below}/favicon.svg` : null }
}

const sendPage = (reply: FastifyReply, policy: string, html: string): FastifyReply =>
  reply.type('text/html; charset=utf-8').headers({ 'content-security-policy': policy, 'cache-control': 'no-store' }).send(html)
