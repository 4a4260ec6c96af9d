/** How operators write one kind of name in `watchkeeper.yaml`: by id, with the platform before it. */
export interface NameForm {
  /** For people, such as `slack:<team>:<user>`. */
  readonly shown: string;
  /** Matches the whole of it. */
  readonly pattern: RegExp;
}

export interface PlatformNames {
  readonly account: NameForm;
  /** Many people under one name; platforms without groups have none. */
  readonly group?: NameForm;
  /** Channels, and what holds several of them, such as a workspace. */
  readonly channels: readonly NameForm[];
}
