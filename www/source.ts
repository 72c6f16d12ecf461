// Where files come from: a drop, the picker, the page's own origin. Whatever it is, it becomes a Blob, which the worker reads
// in slices and which is never copied whole.

export interface Source {
  name: string;
  blob: Blob;
}

/** A file of the person's own. */
export function fromFile(file: File): Source {
  return { name: file.name, blob: file };
}

/** The files of a drop or a paste. */
export function fromTransfer(transfer: DataTransfer | null): Source[] {
  return [...(transfer?.files ?? [])].map(fromFile);
}

/** Whether something that is dragged has files. */
export function hasFiles(transfer: DataTransfer | null): boolean {
  return transfer?.types.includes('Files') ?? false;
}

/** The address that `url` stands for, and the file's name in it. */
function locate(url: string): [URL, string] {
  try {
    const address = new URL(url, document.baseURI);
    return [address, decodeURIComponent(address.pathname.split('/').at(-1) ?? '') || address.href];
  } catch {
    throw new Error(`${url} is no address of a file`);
  }
}

/** The file at `url`, on the page's own origin: the content security policy allows no other. */
export async function fromUrl(url: string, signal?: AbortSignal): Promise<Source> {
  const [address, name] = locate(url);
  if (address.origin !== location.origin) {
    throw new Error(`${address.origin} is another site than this page's: save the file and open it from there`);
  }
  let response: Response;
  try {
    response = await fetch(address, { signal: signal ?? null });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Error(`${address.pathname} cannot be fetched: no connection, or the page's policy forbids it`);
  }
  if (!response.ok)
    throw new Error(
      `${address.pathname} cannot be fetched: the server says ${response.status} ${response.statusText}`.trim(),
    );
  return { name, blob: await response.blob() };
}

/** Says why a file cannot be read before anything else is tried: a folder, or a file that is gone or locked. */
export async function probe({ name, blob }: Source): Promise<void> {
  try {
    await blob.slice(0, 1).arrayBuffer();
  } catch {
    throw new Error(`${name} cannot be read: a folder, or a file that is gone, changed or locked`);
  }
}
