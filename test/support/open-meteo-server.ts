import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A local server that speaks the part of Open-Meteo's geocoding and forecast APIs that has to do with cities. */
export interface OpenMeteoServer {
  readonly url: string;
  /** Paths with queries, in the order they came. */
  readonly requests: URL[];
  /** Answers the coming requests in another way; undefined goes back to normal. */
  misbehave(how: ((request: IncomingMessage, response: ServerResponse) => void) | undefined): void;
  close(): Promise<void>;
}

const CITIES: readonly { readonly names: readonly string[]; readonly place: Readonly<Record<string, unknown>> }[] = [
  {
    names: ["上海", "Shanghai"],
    place: {
      id: 1796236,
      name: "上海",
      latitude: 31.22222,
      longitude: 121.45806,
      country: "中国",
      country_code: "CN",
      admin1: "上海市",
      timezone: "Asia/Shanghai",
    },
  },
  {
    names: ["Berlin"],
    place: { id: 2950159, name: "Berlin", latitude: 52.52437, longitude: 13.41053, country: "Deutschland", country_code: "DE", timezone: "Europe/Berlin" },
  },
];
const VARIABLES = new Set([
  "temperature_2m",
  "apparent_temperature",
  "relative_humidity_2m",
  "weather_code",
  "wind_speed_10m",
  "temperature_2m_max",
  "temperature_2m_min",
  "precipitation_probability_max",
  "precipitation_sum",
  "wind_speed_10m_max",
]);

/** Starts the server on a free loopback port. It knows 上海 (Shanghai) and Berlin. */
export async function startOpenMeteoServer(): Promise<OpenMeteoServer> {
  const requests: URL[] = [];
  let misbehaviour: ((request: IncomingMessage, response: ServerResponse) => void) | undefined;
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "/", "http://localhost");
    requests.push(url);
    if (misbehaviour) return misbehaviour(request, response);
    const [status, body] = answer(url);
    response.writeHead(status, { "content-type": "application/json; charset=utf-8" }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    misbehave: (how) => {
      misbehaviour = how;
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function answer(url: URL): [number, unknown] {
  if (url.pathname === "/v1/search") return search(url.searchParams);
  if (url.pathname === "/v1/forecast") return forecast(url.searchParams);
  return [404, { error: true, reason: "Not Found" }];
}

function search(query: URLSearchParams): [number, unknown] {
  const name = query.get("name") ?? "";
  const found = CITIES.filter((city) => city.names.some((known) => known.toLowerCase() === name.toLowerCase()));
  // The real API leaves `results` out when there are none.
  return [200, { ...(found.length > 0 ? { results: found.map((city) => city.place) } : {}), generationtime_ms: 0.5 }];
}

function forecast(query: URLSearchParams): [number, unknown] {
  const latitude = Number(query.get("latitude") ?? NaN);
  const longitude = Number(query.get("longitude") ?? NaN);
  const days = Number(query.get("forecast_days") ?? 7);
  if (!(Math.abs(latitude) <= 90)) return [400, { error: true, reason: "Latitude must be in range of -90 to 90°." }];
  if (!Number.isInteger(days) || days < 0 || days > 16) return [400, { error: true, reason: "Forecast days is invalid. Allowed range 0 to 16." }];
  const wanted = (key: string): string[] => (query.get(key) ?? "").split(",").filter(Boolean);
  const unknown = [...wanted("current"), ...wanted("daily")].find((name) => !VARIABLES.has(name));
  if (unknown !== undefined) return [400, { error: true, reason: `Data corrupted at path ''. Cannot initialize from invalid String value ${unknown}.` }];
  const time = Array.from({ length: days }, (_, day) => new Date(Date.UTC(2026, 5, 17 + day)).toISOString().slice(0, 10));
  const value = (name: string, day: number): number | null =>
    name === "weather_code" ? ([0, 61, 95][day % 3] ?? 0) : name === "precipitation_probability_max" && day === 1 ? null : 20 + day;
  return [
    200,
    {
      latitude,
      longitude,
      generationtime_ms: 0.1,
      utc_offset_seconds: 28_800,
      timezone: latitude < 40 ? "Asia/Shanghai" : "Europe/Berlin",
      timezone_abbreviation: "GMT+8",
      elevation: 12,
      current: { time: "2026-06-17T14:30", interval: 900, ...Object.fromEntries(wanted("current").map((name) => [name, name === "weather_code" ? 2 : 25.5])) },
      daily: { time, ...Object.fromEntries(wanted("daily").map((name) => [name, time.map((_, day) => value(name, day))])) },
    },
  ];
}
