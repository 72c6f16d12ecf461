// The conversation between the page and its worker.

export type FromWorker = { version: string };
