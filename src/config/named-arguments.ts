/** A part of an argument that has a name of its own. */
export interface NamedPart {
  /** All in front of the value. */
  readonly start: string;
  readonly name: string;
  readonly value: string;
}

/** A named value inside an argument: docker's `-e NAME=value`, mcp-remote's `--header "Name: value"`. `before` is the argument in front of it. */
export function innerPart(value: string, before: string): NamedPart | null {
  const variable = /^(?:-e|--env)$/.test(before) ? /^(([A-Za-z_]\w*)=)(.+)$/s : /^((?:--env=|-e)([A-Za-z_]\w*)=)(.+)$/s;
  const header = /^(?:-H|--header)$/.test(before) ? /^(([A-Za-z][\w-]*):\s*)(.+)$/s : /^((?:--header=|-H)([A-Za-z][\w-]*):\s*)(.+)$/s;
  return partOf(variable.exec(value)) ?? partOf(header.exec(value));
}

/** The value of an option: `--name=value`, or `value` behind `--name`. */
export function optionPart(value: string, before: string): NamedPart | null {
  const option = partOf(/^((--?[A-Za-z][\w-]*)=)(.+)$/s.exec(value));
  if (option) return option;
  return /^--?[A-Za-z][\w-]*$/.test(before) && !/^-[eH]./.test(before) && !value.startsWith("-") ? { start: "", name: before, value } : null;
}

function partOf(found: RegExpExecArray | null): NamedPart | null {
  return found && { start: found[1]!, name: found[2]!, value: found[3]! };
}
