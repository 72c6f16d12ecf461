// Where files come from: a drop, the picker, the clipboard, an address. Whatever it is, it becomes a Blob, which the worker reads
// in slices and which is never copied whole.

import { bytes, name, share, size } from './text.ts';

export interface Source {
  name: string;
  blob: Blob;
  /** What a link to it names: its address, relative to the page where that is possible. */
  address?: string;
  /** Of bytes that somebody has dumped, what they are to be read as: `as=pushbuffer;class=C6C0`. Other files say so themselves. */
  decode?: string;
  /** Of what lies in a file: which member it is. The blob and the address are then that file's. */
  member?: Member;
}

/** A member of a file. */
interface Member {
  /** The names from the outside in, with `!/` between. */
  path: string;
  /** The file. */
  of: Source;
}

/** A file of the person's own. */
export function fromFile(file: File): Source {
  return { name: file.name, blob: file };
}

/** The file that a source is, or lies in. */
export function outermost(source: Source): Source {
  return source.member?.of ?? source;
}

/** The path of a member of a source, in the file that this one lies in. */
export function pathIn({ member }: Source, path: string): string {
  return member ? `${member.path}!/${path}` : path;
}

/** The member of that path, in the file that `source` is or lies in. Where it has only a number, its name says of what. */
export function memberOf(source: Source, path: string): Source {
  const of = outermost(source);
  const names = [of.name, ...path.split('!/')];
  const last = names.findLastIndex((one, at) => at === 0 || !/^\d+$/.test(one));
  const numbers = names.slice(last + 1).join('!/');
  const name = numbers ? `${numbers} of ${names[last]}` : (names[last] ?? path);
  return { ...of, name, member: { path, of } };
}

/** The files of a drop or a paste. */
export function fromTransfer(transfer: DataTransfer | null): Source[] {
  return [...(transfer?.files ?? [])].map(fromFile);
}

/** Whether something that is dragged has files. */
export function hasFiles(transfer: DataTransfer | null): boolean {
  return transfer?.types.includes('Files') ?? false;
}

/** The bytes that a text of hexadecimal digits stands for, `48 8b 05` or `0x48, 0x8b`; null if it is no such text. */
export function fromDigits(text: string): Source | null {
  const bytes = new Uint8Array(text.length >> 1);
  let digits = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text[i] ?? '';
    if (' \n\r\t,;{}[]'.includes(c) || (c === '0' && /x/i.test(text[i + 1] ?? '') && digits % 2 === 0 && ++i)) continue;
    const value = Number.parseInt(c, 16);
    if (Number.isNaN(value)) return null;
    bytes[digits >> 1] = ((bytes[digits >> 1] ?? 0) << 4) | value;
    digits += 1;
  }
  if (digits < 16 || digits % 2 !== 0) return null;
  return { name: 'pasted bytes', blob: new Blob([bytes.subarray(0, digits >> 1)]) };
}

/** A file on another site than the page's: it is fetched only if the person asks for it. */
export class OtherSite extends Error {
  override name = 'OtherSite';
  readonly url: string;

  constructor(address: URL) {
    super(`${address.origin} is another site than this page's`);
    this.url = address.href;
  }
}

/** The address that `url` stands for, the file's name in it, and how a link names it. */
function locate(url: string): { address: URL; name: string; link: string } {
  try {
    const address = new URL(url, document.baseURI);
    if (!/^https?:$/.test(address.protocol)) throw new Error('of another kind');
    const page = new URL('.', document.baseURI).href;
    const link = address.href.startsWith(page) ? address.href.slice(page.length) : address.href;
    return { address, name: decodeURIComponent(address.pathname.split('/').at(-1) ?? '') || address.href, link };
  } catch {
    throw new Error(`${url} is no address of a file: http or https, or relative to this page`);
  }
}

export interface Fetching {
  signal?: AbortSignal | undefined;
  /** Whether the person has asked for a file of another site. */
  isAsked?: boolean;
  /** Is told how far it has come. */
  said?: (text: string) => void;
}

/** The file at `url`. */
export async function fromUrl(url: string, { signal, isAsked, said }: Fetching = {}): Promise<Source> {
  const { address, name: file, link } = locate(url);
  const isOther = address.origin !== location.origin;
  if (isOther && !isAsked) throw new OtherSite(address);
  const where = isOther ? address.href : address.pathname;
  const blocked = watchPolicy();
  let response: Response;
  try {
    response = await fetch(address, { signal: signal ?? null, credentials: isOther ? 'omit' : 'same-origin' });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Error(`${where} cannot be fetched: ${whyNot(address, isOther, await blocked.seen())}`);
  } finally {
    blocked.end();
  }
  if (!response.ok)
    throw new Error(`${where} cannot be fetched: the server says ${response.status} ${response.statusText}`.trim());
  try {
    return { name: file, blob: await counted(response, said).blob(), address: link };
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Error(`${where} cannot be fetched: the connection broke off`);
  }
}

function whyNot(address: URL, isOther: boolean, isForbidden: boolean): string {
  if (isForbidden) {
    return `the content security policy of this page does not let it talk to ${address.origin}. Whoever hosts the page can allow it (connect-src); or save the file and open it from there`;
  }
  if (!isOther) return 'no connection';
  return `no connection, or ${address.host} does not let other sites read it (CORS). Save the file and open it from there`;
}

/** Hears whether the page's policy forbids what is being fetched; the browser says so after the fetch has failed. */
function watchPolicy(): { seen: () => Promise<boolean>; end: () => void } {
  let isForbidden = false;
  const hear = (event: SecurityPolicyViolationEvent) => {
    if (event.effectiveDirective === 'connect-src') isForbidden = true;
  };
  document.addEventListener('securitypolicyviolation', hear);
  return {
    seen: async () => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      return isForbidden;
    },
    end: () => document.removeEventListener('securitypolicyviolation', hear),
  };
}

/** The response, saying how much of it has come. The browser keeps the bytes where it likes. */
function counted(response: Response, said: Fetching['said']): Response {
  if (!response.body || !said) return response;
  const total = Number(response.headers.get('content-length') ?? 0);
  let done = 0;
  const count = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      done += chunk.byteLength;
      said(total >= done ? `${share(done, total)} of ${size(total)}` : bytes(done));
      controller.enqueue(chunk);
    },
  });
  return new Response(response.body.pipeThrough(count));
}

/** Says why a file cannot be read before anything else is tried: a folder, or a file that is gone or locked. */
export async function probe({ name: file, blob }: Source): Promise<void> {
  try {
    await blob.slice(0, 1).arrayBuffer();
  } catch {
    throw new Error(`${name(file)} cannot be read: a folder, or a file that is gone, changed or locked`);
  }
}
