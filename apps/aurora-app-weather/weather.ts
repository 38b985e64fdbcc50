/** Weather of a city. Temperatures are in °C, speeds in km/h, precipitation in mm; null where the provider knows nothing. */
export interface Weather {
  /** The place as the provider names it. */
  readonly city: string;
  readonly region?: string;
  readonly country?: string;
  readonly latitude: number;
  readonly longitude: number;
  readonly timezone: string;
  readonly current: {
    /** Local time at the place. */
    readonly time: string;
    readonly condition: string;
    readonly temperature: number | null;
    readonly apparent_temperature: number | null;
    readonly humidity: number | null;
    readonly wind_speed: number | null;
  };
  readonly days: readonly WeatherDay[];
  /** All of it as a short text. */
  readonly report: string;
}

/** Forecast of one day. */
export interface WeatherDay {
  readonly date: string;
  readonly condition: string;
  readonly temperature_min: number | null;
  readonly temperature_max: number | null;
  readonly precipitation_probability: number | null;
  readonly precipitation_sum: number | null;
  readonly wind_speed_max: number | null;
}
