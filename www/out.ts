// What leaves the page: to the clipboard, or as a file that the browser saves. Nothing is sent anywhere.

import { message } from './client.ts';

/** Copies text, or what will be text: the clipboard is asked at once, while the browser still knows that a person wanted it. What comes
 * back says in words how it went. */
export async function copyText(text: string | Promise<string>, what: string): Promise<string> {
  try {
    // Pages that are not served securely have no clipboard.
    if (!navigator.clipboard) throw new Error('this page may not use the clipboard: serve it from https or localhost');
    if (typeof text === 'string') await navigator.clipboard.writeText(text);
    else {
      const type = 'text/plain';
      await navigator.clipboard.write([new ClipboardItem({ [type]: text.then((made) => new Blob([made], { type })) })]);
    }
    return `${what} copied`;
  } catch (error) {
    return `not copied: ${message(error)}`;
  }
}

/** Has the browser save `blob` under that name, of which only what is usual in names of files stays. */
export function save(blob: Blob, name: string): void {
  const link = document.createElement('a');
  const url = URL.createObjectURL(blob);
  link.href = url;
  link.download = fileName(name);
  link.click();
  // The browser has taken hold of the blob when the click returns; the address may go a little later.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** `name` as a name of a file: no folders, no marks that turn or hide. */
export function fileName(name: string): string {
  const plain = name.replaceAll(/[^\p{L}\p{N}._+@ -]+/gu, '_').replace(/^\.+/, '');
  return plain.slice(-120) || 'kernelscope';
}
