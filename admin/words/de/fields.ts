// German texts: fields.
import type { fields as en } from '../en/fields.js'

const kinds = {
  ...{ paragraph: 'Absatz', quote: 'Zitat', codeBlock: 'Code', ordered: 'Nummerierte Liste', unordered: 'Liste', other: 'Anderes' },
  ...{ 'heading-1': 'Überschrift 1', 'heading-2': 'Überschrift 2', 'heading-3': 'Überschrift 3' },
  ...{ 'heading-4': 'Überschrift 4', 'heading-5': 'Überschrift 5', 'heading-6': 'Überschrift 6' },
}

export const fields = {
  blocks: {
    kinds,
    flags: { bold: 'Fett', italic: 'Kursiv', underline: 'Unterstrichen', strikethrough: 'Durchgestrichen', code: 'Code' },
    toolbar: 'Formatierung',
    kind: 'Art des Textes',
    codeLanguage: 'Sprache des Codes',
    placeholder: 'Schreiben Sie, oder tippen Sie / für Überschriften, Listen und Bilder',
    insert: 'Einfügen',
    keysHint: 'Alt+F10 führt zur Werkzeugleiste. In Listen und Code verlassen Sie den Text mit Escape und dann Tab.',
    link: 'Link',
    linkAddress: 'Adresse',
    linkText: 'Text',
    linkWrong: 'Bitte geben Sie eine Webadresse, eine E-Mail-Adresse oder einen Pfad ein, der mit einem Schrägstrich beginnt.',
    linkMake: 'Link hinzufügen',
    linkChange: 'Link ändern',
    linkRemove: 'Link entfernen',
    linkVisit: 'Öffnen',
    image: 'Bild',
    imageInsert: 'Bilder einfügen',
    imageRemove: 'Bild entfernen',
    alternativeText: 'Alternativtext',
    caption: 'Bildunterschrift',
    close: 'Schließen',
    undo: 'Rückgängig',
    redo: 'Wiederholen',
    views: {
      unknown: (kind) => `Inhalt der Art „${kind}“ kann hier nicht bearbeitet werden. Er bleibt, wie er ist.`,
      missingAlternative: 'Kein Alternativtext',
    },
  },
} satisfies typeof en
