// What the report holds, as rows. The layout is `document.rs`'s: columns, and numbers of entities.

const doc = JSON.parse(document.getElementById('data').textContent);

const STANDINGS = ['', 'known bad', 'trusted'];
const KNOWN_BAD = 1;

/** The clusters of a window, as rows; made once. */
const rowsOf = memoized((window) => {
  const { listed } = doc.windows[window];
  return listed.id.map((id, at) => ({
    window,
    at,
    id,
    rank: listed.rank[at],
    score: listed.score[at],
    chance: listed.chance[at],
    why: listed.why[at],
    noise: listed.chance[at] > doc.windows[window].noise,
    size: listed.size[at],
    known: listed.known[at],
    event: listed.event[at],
    born: listed.born[at],
    parents: listed.parents[at],
    scores: listed.scores.map((column) => column[at]),
    detail: listed.detail[at],
  }));
});

/** Where each cluster of a window is among its rows. */
const placesOf = memoized((window) => new Map(rowsOf(window).map((row) => [row.id, row.at])));

function clusterIn(window, id) {
  const at = placesOf(window).get(id);
  return at === undefined ? null : rowsOf(window)[at];
}

/** A cluster in each window that lists it, from the first. */
const historyOf = memoized((id) =>
  doc.windows.map((_, window) => clusterIn(window, id)).filter((row) => row !== null),
);

/** The members and transactions of a cluster, from the nearest window that has them; null where none does. */
function detailOf(row) {
  const having = historyOf(row.id).filter((other) => other.detail >= 0);
  if (having.length === 0) return null;
  const far = (other) => Math.abs(other.window - row.window);
  const nearest = having.reduce((best, other) => (far(other) < far(best) ? other : best));
  return expanded(nearest.detail);
}

const expanded = memoized((number) => {
  const { members, edges, window, members_total, edges_total } = doc.details[number];
  const rows = members.entity.map((entity, at) => ({
    at,
    entity,
    name: doc.entities.id[entity],
    kind: doc.entities.kind[entity],
    outside: members.outside[at] === 1,
    score: members.score[at],
    share: members.share[at],
    distance: members.distance[at],
    standing: members.standing[at],
  }));
  const { from } = doc.windows[window];
  const instant = (seconds) => (seconds === null ? null : from + Math.round(seconds * 1e6));
  const edgeRows = edges.source.map((source, at) => ({
    at,
    source: rows[source],
    target: rows[edges.target[at]],
    count: edges.count[at],
    amount: edges.amount[at],
    weight: edges.weight[at],
    first: instant(edges.first[at]),
    last: instant(edges.last[at]),
    newest: edges.newest[at] ?? [],
  }));
  const transactions = edgeRows.flatMap((edge) =>
    edge.newest.map(([seconds, amount], place) => ({ key: `${edge.at}-${place}`, edge, time: instant(seconds), amount })),
  );
  return { number, window, rows, edges: edgeRows, transactions, members_total, edges_total };
});

/** The clusters of a window that have members whose id contains a text, with the first such member. */
function clustersWith(window, text) {
  const found = new Map();
  const matching = new Set();
  namesInLowerCase().forEach((name, entity) => {
    if (name.includes(text)) matching.add(entity);
  });
  if (matching.size === 0) return found;
  for (const row of rowsOf(window)) {
    if (row.detail < 0) continue;
    const { members } = doc.details[row.detail];
    const at = members.entity.findIndex((entity, place) => matching.has(entity) && !members.outside[place]);
    if (at >= 0) found.set(row.id, doc.entities.id[members.entity[at]]);
  }
  return found;
}

const namesInLowerCase = memoized(() => doc.entities.id.map((name) => name.toLowerCase()));

function memoized(make) {
  const made = new Map();
  return (key) => {
    if (!made.has(key)) made.set(key, make(key));
    return made.get(key);
  };
}
