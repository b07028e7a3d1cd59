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

/** The six bits of a character of a set of entities, which `search.rs` writes. */
const bitsOf = new Map([...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'].map((digit, bits) => [digit, bits]));

/** The cluster of each member that can be searched in a window. */
const membersIn = memoized((window) => {
  const { cluster, members } = doc.windows[window].search;
  return new Map(members.flatMap((entities, at) => entities.map((entity) => [entity, cluster[at]])));
});

/** Where who has transactions in a window is: a cluster's id, or null for no cluster; undefined of all others. */
function placeIn(window, entity) {
  const cluster = membersIn(window).get(entity);
  if (cluster !== undefined) return cluster;
  const bits = bitsOf.get(doc.windows[window].search.others[Math.floor(entity / 6)]) ?? 0;
  return (bits >> (entity % 6)) & 1 ? null : undefined;
}

/** Windows of which not all entities can be searched, newest first. */
const partlySearched = memoized(() => doc.windows.map((_, window) => window).filter((window) => doc.windows[window].search.left_out > 0).reverse());

/** How much of a window cannot be searched, with its name. */
function leftOutOf(window) {
  const { search, entities } = doc.windows[window];
  return `${grouped.format(search.left_out)} of ${grouped.format(entities)} of window ${grouped.format(window + 1)} (${rangeOf(doc.windows[window])})`;
}

/** Where each that was known bad in a window is in its list. */
const knownIn = memoized((window) => new Map(doc.windows[window].known.entity.map((entity, at) => [entity, at])));

/** Where a known bad entity without a cluster is, by the number in the list. */
const PLACES = ['in no cluster', 'no transactions in this window', 'in no transaction so far'];

/** The first entities whose id contains a text, those whose id it is first, and how many there are. */
function entitiesWith(text, most) {
  const names = namesInLowerCase();
  const all = names.map((_, entity) => entity).filter((entity) => names[entity].includes(text));
  all.sort((a, b) => (names[b] === text) - (names[a] === text) || a - b);
  return { first: all.slice(0, most), count: all.length };
}

/** Where an entity is in each window that has it, newest first: neighbouring windows alike are one stretch. */
function stretchesOf(entity) {
  const stretches = [];
  for (let window = doc.windows.length - 1; window >= 0; window -= 1) {
    const at = knownIn(window).get(entity);
    const known = at !== undefined;
    const found = placeIn(window, entity);
    if (found === undefined && !known) continue;
    // The list of known bad also has those for whom the search had no room.
    const list = doc.windows[window].known;
    const cluster = found ?? (known ? list.cluster[at] : null);
    const place = cluster === null ? PLACES[found === null || !known ? 0 : list.place[at]] : null;
    const last = stretches.at(-1);
    const same = last && last.from === window + 1 && last.cluster === cluster && last.place === place && last.known === known;
    if (same) last.from = window;
    else stretches.push({ from: window, until: window, cluster, place, known });
  }
  return stretches;
}

const namesInLowerCase = memoized(() => doc.entities.id.map((name) => name.toLowerCase()));

function memoized(make) {
  const made = new Map();
  return (key) => {
    if (!made.has(key)) made.set(key, make(key));
    return made.get(key);
  };
}
