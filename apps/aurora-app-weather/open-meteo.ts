import { BusinessError } from "../common/business-error.ts";
import { compileCheck } from "../common/check-schema.ts";
import { askJson } from "../common/http-json.ts";
import type { JsonObject } from "../common/json.ts";

/** A place as the geocoding API describes it. */
export interface Place {
  readonly name: string;
  readonly latitude: number;
  readonly longitude: number;
  readonly country?: string;
  readonly admin1?: string;
}

type Series = readonly (number | null)[];

/** The part of a forecast that the app reads. */
export interface Forecast {
  readonly timezone: string;
  readonly current: {
    readonly time: string;
    readonly temperature_2m: number | null;
    readonly apparent_temperature: number | null;
    readonly relative_humidity_2m: number | null;
    readonly weather_code: number | null;
    readonly wind_speed_10m: number | null;
  };
  readonly daily: {
    readonly time: readonly string[];
    readonly weather_code: Series;
    readonly temperature_2m_max: Series;
    readonly temperature_2m_min: Series;
    readonly precipitation_probability_max: Series;
    readonly precipitation_sum: Series;
    readonly wind_speed_10m_max: Series;
  };
}

/** Where the two APIs are and how long one answer may take, in milliseconds. */
export interface OpenMeteoOptions {
  readonly geocodingUrl: string;
  readonly forecastUrl: string;
  readonly timeout: number;
}

const NUMBER = { type: ["number", "null"] };
const CURRENT = ["temperature_2m", "apparent_temperature", "relative_humidity_2m", "weather_code", "wind_speed_10m"];
const DAILY = ["weather_code", "temperature_2m_max", "temperature_2m_min", "precipitation_probability_max", "precipitation_sum", "wind_speed_10m_max"];
const MAX_ANSWER = 1_000_000;

const checkPlaces = compileCheck<{ readonly results?: readonly Place[] }>({
  type: "object",
  properties: {
    results: {
      type: "array",
      items: {
        type: "object",
        properties: {
          name: { type: "string" },
          latitude: { type: "number" },
          longitude: { type: "number" },
          country: { type: "string" },
          admin1: { type: "string" },
        },
        required: ["name", "latitude", "longitude"],
      },
    },
  },
});

const checkForecast = compileCheck<Forecast>({
  type: "object",
  properties: {
    timezone: { type: "string" },
    current: block({ time: { type: "string" } }, CURRENT, NUMBER),
    daily: block({ time: { type: "array", items: { type: "string" }, minItems: 1 } }, DAILY, { type: "array", items: NUMBER }),
  },
  required: ["timezone", "current", "daily"],
});

/** The best place of this name, or undefined when the provider knows none. Throws BusinessError for every fault of the provider. */
export async function findPlace(city: string, language: string, options: OpenMeteoOptions, signal?: AbortSignal): Promise<Place | undefined> {
  const body = await ask(options.geocodingUrl, "v1/search", { name: city, count: "1", language, format: "json" }, options.timeout, signal);
  const checked = checkPlaces(body);
  if (!checked.ok) throw invalid("places");
  return checked.value.results?.[0];
}

/** Weather now and for the next days at a place, in its own time zone. Throws BusinessError for every fault of the provider. */
export async function fetchForecast(place: Place, days: number, options: OpenMeteoOptions, signal?: AbortSignal): Promise<Forecast> {
  const query = {
    latitude: String(place.latitude),
    longitude: String(place.longitude),
    timezone: "auto",
    forecast_days: String(days),
    current: CURRENT.join(","),
    daily: DAILY.join(","),
  };
  const checked = checkForecast(await ask(options.forecastUrl, "v1/forecast", query, options.timeout, signal));
  if (!checked.ok) throw invalid("a forecast");
  return checked.value;
}

async function ask(base: string, path: string, query: Readonly<Record<string, string>>, timeout: number, signal: AbortSignal | undefined): Promise<JsonObject> {
  const url = new URL(path, base.endsWith("/") ? base : `${base}/`);
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  const answer = await askJson({ url, method: "GET", timeout, maxLength: MAX_ANSWER, ...(signal ? { signal } : {}) });
  if (answer.kind === "timeout") throw new BusinessError("WEATHER_PROVIDER_TIMEOUT", "Weather provider timed out.", { retryable: true });
  if (answer.kind === "failed")
    throw new BusinessError("WEATHER_PROVIDER_UNAVAILABLE", `Weather provider cannot be reached (${answer.reason}).`, { retryable: true });
  const { status, body } = answer;
  if (status === 429) throw new BusinessError("WEATHER_PROVIDER_RATE_LIMITED", "Weather provider allows no more requests for now.", { retryable: true });
  if (status >= 500) throw new BusinessError("WEATHER_PROVIDER_UNAVAILABLE", `Weather provider answered with status ${status}.`, { retryable: true });
  if (status !== 200) {
    const reason = typeof body?.["reason"] === "string" ? `: ${body["reason"].slice(0, 200)}` : ".";
    throw new BusinessError("WEATHER_PROVIDER_REJECTED", `Weather provider refused the request with status ${status}${reason}`, { retryable: false });
  }
  if (!body) throw invalid("JSON");
  return body;
}

function invalid(what: string): BusinessError {
  return new BusinessError("WEATHER_PROVIDER_INVALID", `Weather provider sent something else than ${what}.`, { retryable: false });
}

function block(first: JsonObject, names: readonly string[], schema: JsonObject): JsonObject {
  return { type: "object", properties: { ...first, ...Object.fromEntries(names.map((name) => [name, schema])) }, required: [...Object.keys(first), ...names] };
}
