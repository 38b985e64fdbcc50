/** What every child gets of the host's environment (contracts 3): what programs need to run at all, and nothing that holds secrets. */
const POSIX_BASICS = [
  "PATH",
  "HOME",
  "LOGNAME",
  "USER",
  "SHELL",
  "TERM",
  "LANG",
  "LANGUAGE",
  "LC_ALL",
  "LC_CTYPE",
  "LC_MESSAGES",
  "LC_COLLATE",
  "LC_NUMERIC",
  "LC_TIME",
  "TZ",
  "TMPDIR",
];
const WINDOWS_BASICS = [
  "APPDATA",
  "COMSPEC",
  "HOMEDRIVE",
  "HOMEPATH",
  "LOCALAPPDATA",
  "NUMBER_OF_PROCESSORS",
  "OS",
  "PATH",
  "PATHEXT",
  "PROCESSOR_ARCHITECTURE",
  "PROGRAMDATA",
  "PROGRAMFILES",
  "PROGRAMFILES(X86)",
  "PROGRAMW6432",
  "PUBLIC",
  "SYSTEMDRIVE",
  "SYSTEMROOT",
  "TEMP",
  "TMP",
  "TZ",
  "USERDOMAIN",
  "USERNAME",
  "USERPROFILE",
  "WINDIR",
];

/** The host's environment, as `process.env`. */
export type HostEnv = Readonly<Record<string, string | undefined>>;

/** The whole environment of a child: safe basics, then the names in `inherit`, then `env`. Names are matched without case on Windows. */
export function childEnvironment(
  host: HostEnv,
  inherit: readonly string[],
  env: Readonly<Record<string, string>>,
  platform: NodeJS.Platform = process.platform,
): Record<string, string> {
  const windows = platform === "win32";
  const out: Record<string, string> = Object.create(null) as Record<string, string>;
  const set = (name: string, value: string): void => {
    if (windows) for (const known of Object.keys(out)) if (known.toUpperCase() === name.toUpperCase()) delete out[known];
    out[name] = value;
  };
  for (const name of [...(windows ? WINDOWS_BASICS : POSIX_BASICS), ...inherit]) {
    const key = windows ? Object.keys(host).find((k) => k.toUpperCase() === name.toUpperCase()) : name;
    const value = key !== undefined && Object.hasOwn(host, key) ? host[key] : undefined;
    // A value that begins like this is a shell function exported by bash, not data.
    if (key !== undefined && value !== undefined && !value.startsWith("()")) set(key, value);
  }
  for (const [name, value] of Object.entries(env)) set(name, value);
  return out;
}
