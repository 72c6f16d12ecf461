// What the build makes of an import.

declare module '*?url' {
  const url: string;
  export default url;
}

/** Other sites that the page's policy lets it fetch files from; a setting of the build (vite.config.ts). */
declare const __CONNECT__: readonly string[];
