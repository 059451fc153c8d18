/** What every containment level is asked for, and what it answers. */
export interface ContainRequest {
  /** The program and its arguments. */
  argv: readonly string[];
  cwd: string;
  env: Readonly<Record<string, string>>;
  /** The checkout and the io folder: the only places that the agent may write. */
  copyDir: string;
  ioDir: string;
  /** Folders that the agent must read although they lie in a hidden place, such as the objects the copy borrows. */
  expose: readonly string[];
  /** The data folder, key files, credential files: never visible, whatever `argv` names. */
  hide: readonly string[];
}

/** A command that runs in containment. Descriptor 3 may carry the agent's lock. */
export interface ContainedCommand {
  file: string;
  args: string[];
  env: Record<string, string>;
  cwd: string;
}
