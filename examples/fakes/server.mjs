// What the stand-ins for model APIs share: a small JSON server, refusals in words, and the demands on schemas.
import http from "node:http";

/** A request that the real API is known to refuse. */
export class Refusal extends Error {
  constructor(param, message, status = 400) {
    super(message);
    this.param = param;
    this.status = status;
  }
}

/** Refuses a request unless something holds. */
export function must(holds, param, message) {
  if (!holds) throw new Refusal(param, `${param}: ${message}`);
}

export const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

/** Serves JSON at any free port on loopback: `read` checks a request, `answer` answers the accepted ones, `refuse` words a {@link Refusal}. */
export async function startFake({ base, read, answer, refuse }) {
  const requests = [];
  const server = http.createServer(async (request, response) => {
    const reply = (status, body) => response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(body));
    let text = "";
    for await (const chunk of request) text += chunk;
    try {
      const body = parse(text);
      read(request, body);
      requests.push(body);
      reply(200, answer(body, requests.length));
    } catch (error) {
      const refusal = error instanceof Refusal ? error : new Refusal("server", String(error), 500);
      reply(refusal.status, refuse(refusal));
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = () => new Promise((resolve) => server.close(resolve).closeAllConnections());
  return { url: `http://127.0.0.1:${server.address().port}${base}`, requests, close };
}

function parse(text) {
  let body;
  try {
    body = JSON.parse(text);
  } catch {
    throw new Refusal("body", "the body is not JSON");
  }
  must(isObject(body), "body", "an object is needed");
  return body;
}

/** The root of a tool's parameters: an object with properties, and nothing that says "either". */
export function checkRoot(schema, at) {
  must(isObject(schema) && schema.type === "object" && isObject(schema.properties), at, "the root is an object with properties");
  for (const keyword of ["oneOf", "anyOf", "allOf", "enum", "not"]) must(!Object.hasOwn(schema, keyword), at, `${keyword} is not taken at the root`);
  checkSchema(schema, at);
}

/** What is refused in any place of a schema: lists that do not say of what, and objects or branches that are none. */
export function checkSchema(schema, at) {
  if (typeof schema === "boolean") return;
  must(isObject(schema), at, "a schema is an object");
  const types = [schema.type].flat();
  if (types.includes("array")) must(isObject(schema.items), at, "an array says what its items are");
  for (const key of ["properties", "$defs"]) for (const [name, inner] of Object.entries(schema[key] ?? {})) checkSchema(inner, `${at}.${key}.${name}`);
  for (const key of ["items", "additionalProperties", "not"]) if (schema[key] !== undefined) checkSchema(schema[key], `${at}.${key}`);
  for (const key of ["anyOf", "oneOf", "allOf"]) for (const [index, inner] of (schema[key] ?? []).entries()) checkSchema(inner, `${at}.${key}[${index}]`);
}
