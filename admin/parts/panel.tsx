// Sheets from the side; a window in another position.
export { Panel } from './dialog.js'
