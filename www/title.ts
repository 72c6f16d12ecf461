// The page's heading.

export function title(version: string): string {
  return `Kernelscope ${version}`.trim();
}
