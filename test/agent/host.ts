/** Arguments of a call. */
export type Args = Readonly<Record<string, unknown>>;

/** A tool as the agent's model sees it: its name, and every text that comes with it. */
export interface SeenTool {
  readonly name: string;
  readonly texts: string;
}

/** What a call gave: its text, whether it worked, and the approval that a person would have to give. */
export interface Answer {
  readonly ok: boolean;
  readonly text: string;
  readonly approvalId?: string;
}

/** What an agent runs on: a plain MCP host or the kit. */
export interface Host {
  /** All texts that are put before the model at this moment. */
  look(): Promise<{ readonly tools: readonly SeenTool[]; readonly other: string }>;
  call(name: string, args: Args, approvalId?: string): Promise<Answer>;
  prompt(name: string): Promise<string>;
  /** Puts an open approval before the person; whether it was given. */
  ask(approvalId: string): Promise<boolean>;
  close(): Promise<void>;
}

/** One server of a scenario. `trust`, `risks` and `accepted` are what the operator of the kit has written down; a plain host has no place for them. */
export interface ServerScript {
  readonly name: string;
  readonly trust: "high" | "medium" | "low";
  readonly risks?: Readonly<Record<string, string>>;
  /** False: the operator has not accepted this low-trust server yet. */
  readonly accepted?: boolean;
  readonly tools: readonly { readonly name: string; readonly [field: string]: unknown }[];
  readonly toolsLater?: ServerScript["tools"];
  readonly answers?: Readonly<Record<string, string | { readonly error: string }>>;
  readonly instructions?: string;
  readonly prompts?: readonly { readonly name: string }[];
  readonly promptText?: string;
}

/** A call that the user really wants. */
export interface Step {
  /** `server.tool`, or `prompt NAME`. */
  readonly tool: string;
  readonly args: Args;
}
