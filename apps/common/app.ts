import type { CommonConfig, ConfigSpec } from "./config.ts";
import type { JsonObject } from "./json.ts";
import type { Logger } from "./logger.ts";
import type { Tool } from "./tool.ts";

/** Params of an `aurora/event` notification (guide 16): something happened in the app that the host should hear of. */
export interface AuroraEvent {
  /** Dotted type: `timer.triggered`. */
  readonly type: string;
  /** One line for people, without private text. */
  readonly summary: string;
  readonly data: JsonObject;
  /** The same key is the same event, even when it is sent again. */
  readonly idempotency_key: string;
  /** The conversation it belongs to. */
  readonly session_id?: string;
  /** ISO 8601 with offset; after it the event is of no use. */
  readonly expire_at?: string;
}

/** What an app can tell its host by itself. */
export interface AppHost {
  readonly log: Logger;
  readonly emit: (event: AuroraEvent) => void;
  /** Tells the subscribers of a resource that it changed. */
  readonly resourceUpdated: (uri: string) => void;
  /** Tells that a resource came or went. */
  readonly resourceListChanged: () => void;
}

/** A resource as `resources/list` shows it. */
export interface Resource {
  readonly uri: string;
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly mimeType: string;
}

/** A resource template as `resources/templates/list` shows it. */
export interface ResourceTemplate extends Omit<Resource, "uri"> {
  readonly uriTemplate: string;
}

/** The resources of an app. */
export interface ResourceProvider {
  /** Whether the list changes while the app runs. */
  readonly listChanges: boolean;
  readonly templates: readonly ResourceTemplate[];
  readonly list: () => Promise<readonly Resource[]>;
  /** Whether a URI is one of this app's, there already or not; only such can be subscribed to. */
  readonly owns: (uri: string) => boolean;
  /** The text of a resource, or undefined when there is none. */
  readonly read: (uri: string) => Promise<{ readonly mimeType: string; readonly text: string } | undefined>;
}

/** A prompt template; `render` gets every required argument. */
export interface Prompt {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly arguments: readonly { readonly name: string; readonly description: string; readonly required: boolean }[];
  readonly render: (args: Readonly<Record<string, string>>) => string;
}

/** An app that is open: its tables, and what happens when the host is there and when it goes. */
export interface OpenApp {
  readonly tools: readonly Tool[];
  readonly resources?: ResourceProvider;
  readonly prompts?: readonly Prompt[];
  /** Called once the host has said `initialized`: from now on events may be sent. */
  readonly start?: () => void;
  /** Called before the process ends. */
  readonly stop?: () => Promise<void>;
}

/** Everything `serveApp` needs to know of an app. */
export interface AppSpec<Config extends CommonConfig> {
  /** Dotted package; the prefix of every tool name. */
  readonly package: string;
  readonly title: string;
  readonly version: string;
  readonly config: ConfigSpec;
  readonly open: (config: Config, host: AppHost) => Promise<OpenApp> | OpenApp;
}
