// What the build makes of an import.

declare module '*?url' {
  const url: string;
  export default url;
}
