/** The middle of some numbers. */
export function median(numbers) {
  return percentile(numbers, 0.5);
}

/** The value that a share of the numbers does not exceed. */
export function percentile(numbers, share) {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}

/** Milliseconds that an action took, and what it gave. */
export async function timed(action) {
  const start = performance.now();
  const value = await action();
  return { ms: performance.now() - start, value };
}

/**
 * Lets subjects take turns, the order reversed every other round, and drops the first round, which warms up. Gives each subject's
 * values, round by round. So a busy moment of the machine meets all of them.
 */
export async function inTurns(rounds, subjects) {
  const values = new Map([...subjects.keys()].map((name) => [name, []]));
  for (let round = 0; round <= rounds; round += 1) {
    const order = [...subjects];
    if (round % 2 === 1) order.reverse();
    for (const [name, measure] of order) {
      const value = await measure();
      if (round > 0) values.get(name).push(value);
    }
  }
  return values;
}

/** Median of ours and of the floor such that their quotient is the median of the rounds' own quotients. */
export function paired(floors, ours) {
  const ratio = median(ours.map((value, round) => value / floors[round]));
  const floor = median(floors);
  return { floor, ours: floor * ratio };
}

/** Milliseconds per call of `count` calls one after the other: the median. */
export async function sequentialP50(count, call) {
  const times = [];
  for (let i = 0; i < count; i += 1) {
    const start = performance.now();
    await call(i);
    times.push(performance.now() - start);
  }
  return median(times);
}

/** Calls until the engine has compiled what calls run through: a host that has been up for a minute is what is measured. */
export async function warmUp(call) {
  await throughput(4000, 16, call);
}

/** Calls a second with `width` in flight. */
export async function throughput(count, width, call) {
  let next = 0;
  const worker = async () => {
    while (next < count) await call((next += 1));
  };
  const { ms } = await timed(() => Promise.all(Array.from({ length: width }, worker)));
  return (count / ms) * 1000;
}
