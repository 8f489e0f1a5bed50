// In place of register: reads and checks what the code needs, once, before anything else happens.
const { PAYMENTS_SECRET = 'secret', EXAMPLE_CRON = '* * * * *' } = process.env
if (PAYMENTS_SECRET.length < 6) throw new Error('PAYMENTS_SECRET is too short')

export const settings = { paymentsSecret: PAYMENTS_SECRET, expiry: EXAMPLE_CRON, isClosed: () => process.env.EXAMPLE_CLOSED === 'true' }
