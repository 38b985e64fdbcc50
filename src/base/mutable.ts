/**
 * A type whose members can still be set. For objects of the hot path that get their optional members one by one: a spread of a
 * conditional object costs many times as much.
 */
export type Mutable<T> = { -readonly [K in keyof T]: T[K] };
