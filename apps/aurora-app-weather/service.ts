import { BusinessError } from "../common/business-error.ts";
import { fetchForecast, findPlace, type Forecast, type OpenMeteoOptions, type Place } from "./open-meteo.ts";
import { condition, report, type Language } from "./texts.ts";
import type { Weather } from "./weather.ts";

/** Where to ask, and the language of the texts. */
export interface WeatherOptions extends OpenMeteoOptions {
  readonly language: Language;
}

/** Finds the city and returns its weather for today and the days after. Throws BusinessError: CITY_NOT_FOUND or WEATHER_PROVIDER_…. */
export async function getWeather(city: string, days: number, options: WeatherOptions, signal?: AbortSignal): Promise<Weather> {
  const name = city.trim();
  const place = await findPlace(name, options.language, options, signal);
  if (!place) throw new BusinessError("CITY_NOT_FOUND", `No city named "${name}" was found.`, { retryable: false });
  return toWeather(place, await fetchForecast(place, days, options, signal), options.language);
}

function toWeather(place: Place, forecast: Forecast, language: Language): Weather {
  const { current, daily } = forecast;
  const weather = {
    city: place.name,
    ...(place.admin1 === undefined ? {} : { region: place.admin1 }),
    ...(place.country === undefined ? {} : { country: place.country }),
    latitude: place.latitude,
    longitude: place.longitude,
    timezone: forecast.timezone,
    current: {
      time: current.time,
      condition: condition(current.weather_code, language),
      temperature: current.temperature_2m,
      apparent_temperature: current.apparent_temperature,
      humidity: current.relative_humidity_2m,
      wind_speed: current.wind_speed_10m,
    },
    days: daily.time.map((date, day) => ({
      date,
      condition: condition(daily.weather_code[day] ?? null, language),
      temperature_min: daily.temperature_2m_min[day] ?? null,
      temperature_max: daily.temperature_2m_max[day] ?? null,
      precipitation_probability: daily.precipitation_probability_max[day] ?? null,
      precipitation_sum: daily.precipitation_sum[day] ?? null,
      wind_speed_max: daily.wind_speed_10m_max[day] ?? null,
    })),
  };
  return { ...weather, report: report(weather, language) };
}
