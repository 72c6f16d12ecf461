// What this browser remembers between visits: how the page is set up, and where files were left. It stays in this browser; a
// browser that keeps nothing (a private window, a page in a frame of another site) is as good.

const PREFIX = 'kernel-scope.';
/** Files whose places are remembered; the one left longest ago is forgotten first. */
const PLACES = 200;

/** What was stored under `key`, if it passes `is`; else `fallback`. Other pages of the site may have written anything there. */
export function stored<T>(key: string, fallback: T, is: (value: unknown) => value is T): T {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(PREFIX + key) ?? 'null');
    return is(value) ? value : fallback;
  } catch {
    return fallback;
  }
}

export function store(key: string, value: unknown): void {
  try {
    localStorage.setItem(PREFIX + key, JSON.stringify(value));
  } catch {
    // Nothing is kept here, or there is no room: the next visit begins afresh.
  }
}

/** Where a file was left, as an address has it (place.ts), by the file's digest. */
type Places = [digest: string, place: string][];

function isPlaces(value: unknown): value is Places {
  return (
    Array.isArray(value) && value.every((one) => Array.isArray(one) && one.every((word) => typeof word === 'string'))
  );
}

const places = (): Places => stored('places', [], isPlaces);

export function placeOf(digest: string): string | null {
  return places().find(([of]) => of === digest)?.[1] ?? null;
}

export function keepPlace(digest: string, place: string): void {
  const others = places().filter(([of]) => of !== digest);
  store('places', [[digest, place], ...others].slice(0, PLACES));
}

/** Forgets where files were left. Says how many they were. */
export function forgetPlaces(): number {
  const many = places().length;
  store('places', []);
  return many;
}
