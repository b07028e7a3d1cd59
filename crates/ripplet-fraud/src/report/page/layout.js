// Where the vertices of a cluster are drawn. The same cluster gets the same picture every time: nothing is
// left to chance. Method: Fruchterman and Reingold, Graph Drawing by Force-directed Placement, 1991, with
// a pull to the middle that keeps parts together which no edge joins.

/** More cannot be told apart, and take long: pairs are looked at in every step. */
const DRAWN_VERTICES = 250;
const DRAWN_EDGES = 1000;
const STEPS = 260;
/** The angle between two leaves of a sunflower: begins with all places different. */
const GOLDEN = Math.PI * (3 - Math.sqrt(5));

/** What of a cluster is drawn: what is known bad first, then by score; and the heaviest edges among these. */
function drawable(detail) {
  const first = (a, b) =>
    (b.standing === KNOWN_BAD) - (a.standing === KNOWN_BAD) ||
    a.outside - b.outside ||
    (b.score ?? -1) - (a.score ?? -1) ||
    a.at - b.at;
  const vertices = [...detail.rows].sort(first).slice(0, DRAWN_VERTICES);
  const shown = new Set(vertices);
  const among = detail.edges.filter(({ source, target }) => shown.has(source) && shown.has(target));
  const heavy = (a, b) => b.weight - a.weight || a.at - b.at;
  return { vertices, edges: [...among].sort(heavy).slice(0, DRAWN_EDGES) };
}

/** Places `{x, y}` of the vertices, in a unit of about one edge. */
function laidOut({ vertices, edges }) {
  const count = vertices.length;
  const placeOf = new Map(vertices.map((vertex, at) => [vertex, at]));
  // Who paid does not matter here: a pair pulls once.
  const ends = edges.map(({ source, target }) => [placeOf.get(source), placeOf.get(target)].sort((a, b) => a - b));
  const seen = new Set();
  const pairs = ends.filter(([a, b]) => !seen.has(a * count + b) && seen.add(a * count + b));
  const degree = new Array(count).fill(0);
  pairs.forEach(([a, b]) => {
    degree[a] += 1;
    degree[b] += 1;
  });
  // Many edges at both ends would draw a knot. Where many pull, a step is short, or it would overshoot.
  const rate = new Float64Array(count).fill(1);
  pairs.forEach((pair) => {
    const [a, b] = pair;
    pair.push(1 / Math.max(1, Math.sqrt(Math.min(degree[a], degree[b]))));
    rate[a] += pair[2];
    rate[b] += pair[2];
  });
  // Those with many edges begin in the middle.
  const inward = vertices.map((_, at) => at).sort((a, b) => degree[b] - degree[a] || a - b);
  const [x, y] = [new Float64Array(count), new Float64Array(count)];
  inward.forEach((at, turn) => {
    const radius = 0.8 * Math.sqrt(turn);
    x[at] = radius * Math.cos(turn * GOLDEN);
    y[at] = radius * Math.sin(turn * GOLDEN);
  });
  const [dx, dy] = [new Float64Array(count), new Float64Array(count)];
  // Parts push one another away by their sizes; so far that all is still seen at once.
  const together = 0.05 + count / 220;
  for (let step = 0; step < STEPS; step += 1) {
    const heat = 0.6 * (1 - step / STEPS) ** 2 + 0.01;
    dx.fill(0);
    dy.fill(0);
    for (let a = 0; a < count; a += 1) {
      for (let b = a + 1; b < count; b += 1) {
        const [across, down] = [x[a] - x[b], y[a] - y[b]];
        const push = 1 / (across * across + down * down + 1e-4);
        dx[a] += across * push;
        dy[a] += down * push;
        dx[b] -= across * push;
        dy[b] -= down * push;
      }
    }
    for (const [a, b, strength] of pairs) {
      const [across, down] = [x[a] - x[b], y[a] - y[b]];
      const pull = strength * Math.sqrt(across * across + down * down);
      dx[a] -= across * pull;
      dy[a] -= down * pull;
      dx[b] += across * pull;
      dy[b] += down * pull;
    }
    for (let at = 0; at < count; at += 1) {
      dx[at] -= together * x[at];
      dy[at] -= together * y[at];
      const far = Math.sqrt(dx[at] * dx[at] + dy[at] * dy[at]) || 1;
      const move = Math.min(far / rate[at] / 2, heat) / far;
      x[at] += dx[at] * move;
      y[at] += dy[at] * move;
    }
  }
  return lengthwise(vertices.map((_, at) => ({ x: x[at], y: y[at] })));
}

/** Turned so that the longest way across lies level: that is the way rooms for drawings are long. */
function lengthwise(places) {
  const count = places.length || 1;
  const mean = { x: 0, y: 0 };
  for (const { x, y } of places) {
    mean.x += x / count;
    mean.y += y / count;
  }
  let [across, down, both] = [0, 0, 0];
  for (const { x, y } of places) {
    across += (x - mean.x) ** 2;
    down += (y - mean.y) ** 2;
    both += (x - mean.x) * (y - mean.y);
  }
  const angle = 0.5 * Math.atan2(2 * both, across - down);
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  return places.map(({ x, y }) => ({ x: x * cos + y * sin, y: y * cos - x * sin }));
}
