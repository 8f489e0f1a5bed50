// `octavo webhooks`: webhooks and their deliveries, with arguments and options. Their code is loaded only when they run.
import type { Command } from 'commander'

/** Collects an option that may be given several times. */
const collect = (value: string, before: readonly string[] = []): readonly string[] => [...before, value]

export function addWebhookCommands(program: Command): void {
  const webhooks = program.command('webhooks').description('manage webhooks')
  addDefinitionCommands(webhooks)
  addDeliveryCommands(webhooks)
}

function addDefinitionCommands(webhooks: Command): void {
  webhooks
    .command('list')
    .description('list webhooks (never the values of their headers)')
    .argument('[folder]', 'the project', '.')
    .option('--json', 'print JSON')
    .action(async (folder: string, options) => (await import('../webhooks.js')).listWebhooksCommand(folder, options))
  webhooks
    .command('create')
    .description('create a webhook and print its signing secret')
    .argument('[folder]', 'the project', '.')
    .requiredOption('--name <name>', 'name of the webhook')
    .requiredOption('--url <url>', 'where events are sent')
    .requiredOption('--events <events>', 'entry.create, entry.publish, media.create …, separated by commas, or all')
    .option('--header <header>', 'a header of its requests as "Name: value"; may be given several times', collect)
    .option('--disabled', 'do not send anything yet')
    .action(async (folder: string, options) => (await import('../webhooks.js')).createWebhookCommand(folder, options))
  webhooks
    .command('update')
    .description('change a webhook')
    .argument('<webhook>', 'its name or id')
    .argument('[folder]', 'the project', '.')
    .option('--name <name>', 'new name')
    .option('--url <url>', 'new URL')
    .option('--events <events>', 'the events that it gets from now on, separated by commas, or all')
    .option('--header <header>', 'add or replace a header, as "Name: value"; may be given several times', collect)
    .option('--remove-header <name>', 'remove a header; may be given several times', collect)
    .action(async (webhook: string, folder: string, options) =>
      (await import('../webhooks.js')).updateWebhookCommand(webhook, folder, options),
    )
  const switches = [
    ['enable', 'send events from now on', true],
    ['disable', 'send no events; those that wait count as given up', false],
  ] as const
  for (const [name, description, isEnabled] of switches)
    webhooks
      .command(name)
      .description(description)
      .argument('<webhook>', 'its name or id')
      .argument('[folder]', 'the project', '.')
      .action(async (webhook: string, folder: string) => (await import('../webhooks.js')).switchWebhookCommand(webhook, folder, isEnabled))
  webhooks
    .command('delete')
    .alias('remove')
    .description('delete a webhook with the log of its deliveries')
    .argument('<webhook>', 'its name or id')
    .argument('[folder]', 'the project', '.')
    .action(async (webhook: string, folder: string) => (await import('../webhooks.js')).deleteWebhookCommand(webhook, folder))
  webhooks
    .command('secret')
    .description('print the secret that requests of a webhook are signed with')
    .argument('<webhook>', 'its name or id')
    .argument('[folder]', 'the project', '.')
    .option('--rotate', 'replace it; for a day, requests are signed with the former one too')
    .action(async (webhook: string, folder: string, options) =>
      (await import('../webhooks.js')).webhookSecretCommand(webhook, folder, options),
    )
}

function addDeliveryCommands(webhooks: Command): void {
  webhooks
    .command('trigger')
    .description('send a test event to a webhook now and print the response')
    .argument('<webhook>', 'its name or id')
    .argument('[folder]', 'the project', '.')
    .action(async (webhook: string, folder: string) => (await import('../webhook-deliveries.js')).triggerWebhookCommand(webhook, folder))
  webhooks
    .command('deliveries')
    .description('list attempts to deliver events to a webhook, the latest first')
    .argument('<webhook>', 'its name or id')
    .argument('[folder]', 'the project', '.')
    .option('--waiting', 'list the events that wait for another attempt instead')
    .option('--failed', 'list the events that were given up instead')
    .option('--limit <number>', 'maximum number of lines', '20')
    .option('--json', 'print JSON')
    .action(async (webhook: string, folder: string, options) =>
      (await import('../webhook-deliveries.js')).listDeliveriesCommand(webhook, folder, options),
    )
  webhooks
    .command('resend')
    .description('have events delivered again; a running service sends them')
    .argument('<webhook>', 'its name or id')
    .argument('[folder]', 'the project', '.')
    .option('--failed', 'the events that were given up')
    .option('--after <sequence>', 'all events that it wants after this sequence number')
    .option('--sequence <numbers>', 'the events with these sequence numbers, separated by commas')
    .action(async (webhook: string, folder: string, options) =>
      (await import('../webhook-deliveries.js')).resendCommand(webhook, folder, options),
    )
}
