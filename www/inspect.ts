// What some bytes are as numbers and characters. Pure.

import { count, hex } from './text.ts';

export interface Reading {
  name: string;
  value: string;
}

/** The readings of the first bytes of `bytes`, little-endian. */
export function inspect(bytes: Uint8Array): Reading[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const whole = (name: string, unsigned: bigint, signed: bigint): Reading => ({
    name,
    value: `${hex(unsigned.toString())} · ${count(unsigned.toString())}${signed < 0n ? ` · ${signed}` : ''}`,
  });
  const out: Reading[] = [];
  if (view.byteLength >= 1) out.push(whole('8 bits', BigInt(view.getUint8(0)), BigInt(view.getInt8(0))));
  if (view.byteLength >= 2) out.push(whole('16 bits', BigInt(view.getUint16(0, true)), BigInt(view.getInt16(0, true))));
  if (view.byteLength >= 4) out.push(whole('32 bits', BigInt(view.getUint32(0, true)), BigInt(view.getInt32(0, true))));
  if (view.byteLength >= 8) out.push(whole('64 bits', view.getBigUint64(0, true), view.getBigInt64(0, true)));
  if (view.byteLength >= 4) out.push({ name: 'float', value: float(view.getFloat32(0, true), 7) });
  if (view.byteLength >= 8) out.push({ name: 'double', value: float(view.getFloat64(0, true), 15) });
  return out;
}

function float(value: number, digits: number): string {
  return Number.isFinite(value) ? String(Number(value.toPrecision(digits))) : String(value);
}
