// What the report holds, as rows. The layout is `document.rs`'s: columns, and numbers of entities. Parts of a
// window and of a cluster are unpacked when they are opened.

const doc = JSON.parse(document.getElementById('data').textContent);
doc.entities = unpacked(doc.entities);

/** The columns of a window's clusters, of its search, and of its known bad. */
const listedIn = memoized((window) => unpacked(doc.windows[window].listed));
const searchIn = memoized((window) => unpacked(doc.windows[window].search));
const knownOf = memoized((window) => unpacked(doc.windows[window].known));

/** Members and edges of a detail, by its number. */
const evidenceOf = memoized((number) => unpacked(doc.details[number].evidence));

const STANDINGS = ['', 'known bad', 'trusted'];
const KNOWN_BAD = 1;

/** The clusters of a window, as rows; made once. */
const rowsOf = memoized((window) => {
  const listed = listedIn(window);
  return listed.id.map((id, at) => ({
    window,
    at,
    id,
    rank: listed.rank[at],
    score: listed.score[at],
    chance: listed.chance[at],
    why: listed.why[at],
    // A known bad member is evidence of another kind than what chance judges.
    noise: listed.chance[at] > doc.windows[window].noise && listed.known[at] === 0,
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
const historyOf = memoized((id) => (windowsOfClusters().get(id) ?? []).map((window) => clusterIn(window, id)));

/** The members and transactions of a cluster, from the nearest window that has them; null where none does. */
function detailOf(row) {
  const having = historyOf(row.id).filter((other) => other.detail >= 0);
  if (having.length === 0) return null;
  const far = (other) => Math.abs(other.window - row.window);
  const nearest = having.reduce((best, other) => (far(other) < far(best) ? other : best));
  return expanded(nearest.detail);
}

const expanded = memoized((number) => {
  const { window, transactions: newest } = doc.details[number];
  const { members, edges, explanation, members_total, edges_total } = evidenceOf(number);
  const newestOf = newest ? unpacked(newest) : [];
  const rows = members.entity.map((entity, at) => ({
    at,
    entity,
    name: doc.entities.id[entity],
    kind: doc.entities.kind[entity],
    outside: members.outside[at] === 1,
    score: members.score[at],
    share: members.share[at],
    probability: members.entity_score[at]?.[0] ?? null,
    place: members.entity_score[at]?.[1] ?? null,
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
    newest: newestOf[at] ?? [],
    pairs: edges.pairs?.[at] ?? [],
  }));
  const transactions = edgeRows.flatMap((edge) =>
    edge.newest.map(([seconds, amount], place) => ({ key: `${edge.at}-${place}`, edge, time: instant(seconds), amount })),
  );
  return { number, window, rows, edges: edgeRows, transactions, explanation, members_total, edges_total };
});

/** The clusters of a window that have members whose id contains a text, with the number of the first such member. */
function clustersWith(window, text) {
  const found = new Map();
  const matching = new Set();
  namesInLowerCase().forEach((name, entity) => {
    if (name.includes(text)) matching.add(entity);
  });
  if (matching.size === 0) return found;
  for (const row of rowsOf(window)) {
    if (row.detail < 0) continue;
    const { members } = evidenceOf(row.detail);
    const at = members.entity.findIndex((entity, place) => matching.has(entity) && !members.outside[place]);
    if (at >= 0) found.set(row.id, members.entity[at]);
  }
  return found;
}

/** The six bits of a character of a set of entities, which `search.rs` writes. */
const bitsOf = new Map([...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'].map((digit, bits) => [digit, bits]));

/** The cluster of each member that can be searched in a window. */
const membersIn = memoized((window) => {
  const { cluster, members } = searchIn(window);
  return new Map(members.flatMap((entities, at) => entities.map((entity) => [entity, cluster[at]])));
});

/** Where who has transactions in a window is: a cluster's id, or null for no cluster; undefined of all others. */
function placeIn(window, entity) {
  const cluster = membersIn(window).get(entity);
  if (cluster !== undefined) return cluster;
  const bits = bitsOf.get(searchIn(window).others[Math.floor(entity / 6)]) ?? 0;
  return (bits >> (entity % 6)) & 1 ? null : undefined;
}

/** Windows of which not all entities can be searched, newest first. */
const partlySearched = memoized(() => doc.windows.map((_, window) => window).filter((window) => doc.windows[window].unsearched > 0).reverse());

/** How much of a window cannot be searched, with its name. */
function leftOutOf(window) {
  const { unsearched, entities } = doc.windows[window];
  return `${grouped.format(unsearched)} of ${counted(entities, 'entity', 'entities')} of the window of ${rangeOf(doc.windows[window])}`;
}

/** Where each that was known bad in a window is in its list. */
const knownIn = memoized((window) => new Map(knownOf(window).entity.map((entity, at) => [entity, at])));

/** Where a known bad entity without a cluster is, by the number in the list. */
const PLACES = ['in no cluster', 'no transactions in this window', 'in no transaction so far'];

/** The first entities whose id contains a text, those whose id it is first, and how many there are. */
function entitiesWith(text, most) {
  const names = namesInLowerCase();
  const all = names.map((_, entity) => entity).filter((entity) => names[entity].includes(text));
  all.sort((a, b) => (names[b] === text) - (names[a] === text) || a - b);
  return { first: all.slice(0, most), count: all.length };
}

/** Where an entity is from the last window that has it to the first: neighbouring windows alike are one stretch. */
function stretchesOf(entity) {
  const has = (window) => knownIn(window).has(entity) || placeIn(window, entity) !== undefined;
  const windows = doc.windows.map((_, window) => window).filter(has);
  const stretches = [];
  for (let window = windows.at(-1); window >= windows[0]; window -= 1) {
    const { cluster, place } = whereaboutsIn(window, entity);
    const last = stretches.at(-1);
    if (last && last.cluster === cluster && last.place === place) last.from = window;
    else stretches.push({ from: window, until: window, cluster, place });
  }
  return stretches;
}

/** The cluster of an entity in a window; without one, a word on where it is. */
function whereaboutsIn(window, entity) {
  const found = placeIn(window, entity);
  // The list of known bad also has those for whom the search had no room.
  const known = knownOf(window);
  const at = knownIn(window).get(entity);
  const cluster = found ?? known.cluster[at] ?? null;
  if (cluster !== null) return { cluster, place: null };
  if (found === null) return { cluster, place: PLACES[0] };
  if (at !== undefined) return { cluster, place: PLACES[known.place[at]] };
  return { cluster, place: doc.windows[window].unsearched > 0 ? 'not in the search of this file' : PLACES[1] };
}

/** Since when an entity was known bad, or in which windows; null if it never was. */
function knownSince(entity) {
  const windows = doc.windows.map((_, window) => window).filter((window) => knownIn(window).has(entity));
  if (windows.length === 0) return null;
  const [from, until] = [windows[0], windows.at(-1)];
  const since = knownOf(until).since[knownIn(until).get(entity)];
  if (since !== null) return `known bad since ${moment(since)}${until < doc.windows.length - 1 ? ` (${windowsText({ from, until })})` : ''}`;
  return windows.length === doc.windows.length ? 'known bad' : `known bad in the ${windowsText({ from, until })}`;
}

/** Entries of the list of known bad that hold at the end of no window, each with the reason. */
const unheldEntries = memoized(() => {
  const { entity, from, until } = doc.unheld;
  const ends = doc.windows.map((window) => window.until - 1);
  const reasonOf = (at) => {
    const [first, end] = [from[at], until[at]];
    const holds = (instant) => (first === null || first <= instant) && (end === null || instant < end);
    if (ends.some(holds)) return null;
    if (first !== null && end !== null && end <= first) return `never known bad: its end (${moment(end)}) is not after its beginning (${moment(first)})`;
    if (first !== null && first > ends.at(-1)) return `known bad only from ${moment(first)} on, after the last window`;
    if (end !== null && end <= ends[0]) return `known bad only until ${moment(end)}, before the first window ends`;
    return `known bad only from ${moment(first)} to ${moment(end)}, when no window ends`;
  };
  return entity.map((number, at) => ({ entity: number, from: from[at], reason: reasonOf(at) })).filter(({ reason }) => reason !== null);
});

/** Why an entity on the list of known bad is so in no window, if that is so. */
const unheldReasons = memoized(() => new Map(unheldEntries().map(({ entity, reason }) => [entity, reason])));

/** The windows that list each cluster, ascending. */
const windowsOfClusters = memoized(() => {
  const all = (stretches) => {
    const windows = [];
    for (let at = 0; at < stretches.length; at += 2) {
      for (let window = stretches[at]; window <= stretches[at + 1]; window += 1) windows.push(window);
    }
    return windows;
  };
  return new Map(doc.clusters.id.map((id, at) => [id, all(doc.clusters.windows[at])]));
});

/** Clusters of any window whose id contains a text, newest first; before them that whose id it is. */
function clustersNamed(text) {
  const all = [...windowsOfClusters()].filter(([id]) => id.toLowerCase().includes(text));
  const exact = ([id]) => id.toLowerCase() === text;
  all.sort((a, b) => exact(b) - exact(a) || b[1].at(-1) - a[1].at(-1) || collator.compare(a[0], b[0]));
  return all.map(([id, windows]) => ({ id, exact: exact([id]), stretches: stretchesOfWindows(windows) }));
}

/** Ascending windows as stretches, the newest first. */
function stretchesOfWindows(windows) {
  const stretches = [];
  for (const window of [...windows].reverse()) {
    const last = stretches.at(-1);
    if (last && last.from === window + 1) last.from = window;
    else stretches.push({ from: window, until: window });
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
