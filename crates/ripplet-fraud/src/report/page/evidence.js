// What speaks for and against the chosen cluster: its scores with their formulas, its members, the
// transactions among them, and its life.

const tables = {};

/** Whether an entity was known bad in some window: without one, columns about them would be empty. */
function knowsBad() {
  return doc.windows.some(({ known_bad }) => known_bad > 0);
}

/** Whether some member has a standing to show. */
function hasStandings() {
  return knowsBad() || doc.has_standings;
}

function makeEvidence() {
  const shown = { standing: hasStandings(), probability: doc.has_scores, share: knowsBad(), distance: knowsBad() };
  tables.members = new LongTable({
    host: byId('members'),
    label: 'Members of the cluster',
    keyOf: (row) => String(row.at),
    sort: { key: doc.has_scores ? 'probability' : 'score', direction: 'down' },
    chosen: (row) => chooseVertex(row.at),
    empty: 'This file has no members of this cluster.',
    columns: [
      { key: 'id', title: 'Entity', hint: 'Its id in the data', value: ({ name }) => name, cell: ({ name }) => idText(name) },
      { key: 'kind', title: 'Kind', hint: 'What it is', value: ({ kind }) => kindOf(kind), cell: ({ kind }) => kindOf(kind) },
      {
        key: 'member',
        title: 'Member',
        hint: 'Whether it is a member of the cluster',
        hidden: true,
        value: ({ outside }) => (outside ? 'no' : 'yes'),
      },
      {
        key: 'standing',
        title: 'Standing',
        hint: 'What was known of it when the window ended',
        first: 'down',
        value: ({ standing, outside }) => (standing === KNOWN_BAD ? 2 : 0) + (standing > KNOWN_BAD ? 1 : 0) - (outside ? 0.5 : 0),
        cell: standingCell,
      },
      {
        key: 'probability',
        title: 'Score',
        hint: `${SCORE_HINT}; the ranking of clusters is by it`,
        figure: true,
        first: 'down',
        value: ({ probability }) => probability,
        cell: ({ probability }) => (probability === null ? EMPTY : meter(probability, written(probability, 'probability'))),
      },
      {
        key: 'score',
        title: doc.has_scores ? 'Suspicion' : 'Score',
        hint: `${doc.member_score.meaning} ${doc.member_score.formula}`,
        figure: true,
        first: 'down',
        value: ({ score }) => score,
        cell: ({ score }) => (score === null ? EMPTY : meter(placeOfScore(score), written(score, doc.member_score.form))),
      },
      {
        key: 'share',
        title: 'To known bad',
        hint: 'Share of its weight that goes to entities known bad',
        figure: true,
        first: 'down',
        value: ({ share }) => share,
        cell: ({ share }) => (share === null ? EMPTY : meter(share, written(share, 'share'))),
      },
      {
        key: 'distance',
        title: 'Seed distance',
        hint: 'Edges on a shortest path to an entity known bad',
        figure: true,
        value: ({ distance }) => distance,
        cell: ({ distance }) => written(distance, 'count'),
      },
    ].filter(({ key }) => shown[key] !== false),
  });
  const end = (of) => (row) => {
    const vertex = of(row);
    return make('span', { class: vertex.standing === KNOWN_BAD ? 'is-bad' : null }, idText(vertex.name));
  };
  const who = (key, title, hint, of) => [
    { key, title, hint, value: (row) => of(row).name, cell: end(of) },
    {
      key: `${key}_kind`,
      title: 'Kind',
      hint: `${hint}: what it is`,
      hidden: !hasKinds(),
      value: (row) => kindOf(of(row).kind),
      cell: (row) => kindOf(of(row).kind),
    },
  ];
  // The times of a column are written as finely as the finest of them.
  const time = (key, title, hint) => {
    let finest = 0;
    return {
      key,
      title,
      hint,
      figure: true,
      first: 'down',
      prepare: (rows) => {
        finest = rows.reduce((most, row) => Math.max(most, precisionOf(row[key])), 0);
      },
      value: (row) => row[key],
      cell: (row) => moment(row[key], finest),
      saved: (row) => savedMoment(row[key]),
    };
  };
  const pair = (of) => ({
    key: 'columns',
    title: 'Columns',
    hint: 'The columns of the data that link the two',
    value: (row) => pairsText(of(row)),
    cell: (row) => pairsText(of(row)),
  });
  const pairs = (of) => (hasPairs() ? [pair(of)] : []);
  const outside = (of) => ({
    key: 'outside',
    title: 'Outside',
    hint: 'Who of the two is no member of the cluster',
    hidden: !hasOutside(),
    value: (row) => outsideOf(of(row)),
    cell: (row) => outsideOf(of(row)) || EMPTY,
  });
  const figure = (key, title, hint, form) => ({
    key,
    title,
    hint,
    figure: true,
    first: 'down',
    value: (row) => row[key],
    cell: (row) => written(row[key], form),
  });
  const amount = (hint) => ({
    key: 'amount',
    title: 'Amount',
    hint,
    figure: true,
    first: 'down',
    value: (row) => (row.amount === null ? null : Number(row.amount)),
    cell: (row) => money(row.amount),
    saved: (row) => plainMoney(row.amount),
  });
  tables.edges = new LongTable({
    host: byId('edges'),
    label: 'Who paid whom among the members',
    keyOf: (row) => String(row.at),
    sort: { key: 'weight', direction: 'down' },
    chosen: chooseEdge,
    opened: () => showTab('transactions'),
    empty: 'There are no transactions to show.',
    columns: [
      ...who('source', 'From', 'Who paid', ({ source }) => source),
      ...who('target', 'To', 'Who was paid', ({ target }) => target),
      ...pairs((edge) => edge),
      figure('count', 'Transactions', 'How many from the one to the other in the window', 'count'),
      amount('Their sum'),
      figure('weight', 'Weight', 'What label propagation counts for the two, whichever paid', 'number'),
      time('first', 'First', 'When the first was'),
      time('last', 'Last', 'When the last was'),
      outside((edge) => edge),
    ],
  });
  tables.transactions = new LongTable({
    host: byId('transactions'),
    label: 'Single transactions',
    keyOf: ({ key }) => key,
    sort: { key: 'time', direction: 'down' },
    chosen: ({ edge }) => markEdge(edge),
    empty: 'This file has no single transactions here; the transactions.parquet of the window has them.',
    columns: [
      time('time', 'Time', 'When it was, UTC'),
      ...who('source', 'From', 'Who paid', ({ edge }) => edge.source),
      ...who('target', 'To', 'Who was paid', ({ edge }) => edge.target),
      ...pairs(({ edge }) => edge),
      amount('How much it was'),
      outside(({ edge }) => edge),
    ],
  });
}

/** Whether some cluster has entities outside of it listed beside its members. */
function hasOutside() {
  return doc.has_outside;
}

/** Who of an edge's ends is no member. */
function outsideOf({ source, target }) {
  if (source.outside && target.outside) return 'both';
  return source.outside ? 'payer' : target.outside ? 'payee' : '';
}

function standingCell({ standing, outside }) {
  const words = STANDINGS[standing];
  const badges = [];
  if (words) badges.push(make('span', { class: `standing standing-${standing}` }, words));
  if (outside) badges.push(make('span', { class: 'standing', title: 'Not a member: listed because members deal with it' }, 'outside'));
  return badges.length ? make('span', {}, ...badges) : EMPTY;
}

/** A column of the scores that a run defines. */
function scoreColumn({ key, name, meaning, formula, form }, at) {
  return {
    key,
    title: name,
    hint: `${meaning} ${formula}`,
    figure: true,
    first: 'down',
    value: ({ scores }) => scores[at],
    cell: ({ scores }) => written(scores[at], form),
  };
}

function showEvidence(row) {
  const detail = row && detailOf(row);
  byId('detail').classList.toggle('without', !row);
  byId('no-cluster').hidden = Boolean(row);
  byId('no-cluster').textContent = 'Choose a cluster on the left.';
  if (!row) {
    showGraph(null);
    tables.members.show([]);
    return;
  }
  const window = doc.windows[row.window];
  byId('cluster-id').replaceChildren(idText(row.id));
  byId('cluster-line').replaceChildren(
    row.noise ? noiseBadge() : badge(row.event),
    `Rank ${grouped.format(row.rank)} of ${grouped.format(window.clusters)} · ${counted(row.size, 'member')}, ${grouped.format(row.known)} known bad · first seen ${lastOf(row.born)}`,
  );
  byId('why').textContent = row.why;
  byId('detail').classList.toggle('noise', row.noise);
  showReasons(row, detail);
  showGraph(detail);
  drawKinds();
  const gone = detail === null;
  byId('no-detail').hidden = !gone;
  byId('graph-box').hidden = gone;
  showScores(row);
  showHistory(row);
  const members = detail?.rows ?? [];
  tables.members.show(members);
  countMembers(row, members);
  byId('list-note').textContent = detail ? whatIsListed(detail) : '';
}

/** Why the chosen cluster has its rank, and the path to the nearest known bad. */
function showReasons(row, detail) {
  const explanation = detail?.window === row.window ? detail.explanation : null;
  const has = explanation !== null && doc.has_scores;
  byId('cluster-reasons').hidden = !has;
  byId('tab-path').hidden = !has;
  if (!has && state.tab === 'path') state.tab = 'members';
  byId('cluster-reasons').replaceChildren(...(has ? [reasonsList(explanation)] : []));
  byId('path').replaceChildren(...(has ? pathElements(explanation, row.window) : []));
}

/** Writes how many members are listed, and how many others beside them. */
function countMembers({ size }, rows) {
  const outside = rows.filter((vertex) => vertex.outside).length;
  const listed = rows.length - outside;
  const count = listed === size ? grouped.format(size) : `${grouped.format(listed)} of ${grouped.format(size)}`;
  const others = outside ? ` + ${grouped.format(outside)} outside` : '';
  byId('tab-members').replaceChildren('Members ', make('small', {}, count + others));
}

/** Writes how many rows of how many a tab has, and, if these are all, how many are with entities outside. */
function countTab(name, title, edges, all) {
  const rows = edges.length;
  const beside = edges.filter((edge) => outsideOf(edge)).length;
  const split = beside ? `${grouped.format(rows - beside)} + ${grouped.format(beside)} with entities outside` : grouped.format(rows);
  const count = rows < all ? `${grouped.format(rows)} of ${grouped.format(all)}` : split;
  byId(`tab-${name}`).replaceChildren(`${title} `, make('small', {}, count));
}

/** Those of the chosen vertex, or all. */
function showEdges() {
  const all = graph.detail?.edges ?? [];
  const own = ({ source, target }) => source.at === state.vertex || target.at === state.vertex;
  const rows = state.vertex === null ? all : all.filter(own);
  tables.edges.key = null;
  tables.edges.show(rows);
  countTab('edges', 'Who paid whom', rows, graph.detail?.edges_total ?? 0);
  showTransactions();
}

/** Whether a row of the data links more than two entities. */
function hasPairs() {
  return doc.pairs.length > 1;
}

/** The pairs of columns that an edge is of. */
function pairsText({ pairs }) {
  return pairs.map((pair) => doc.pairs[pair]).join(', ');
}

const ALL_PAIRS = -1;

/** Offers the pairs of columns that link these edges, as each has a transaction once; returns those of the chosen one. */
function edgesOfPair(edges) {
  if (!hasPairs()) return edges;
  const linking = doc.pairs.map((_, pair) => pair).filter((pair) => edges.some(({ pairs }) => pairs.includes(pair)));
  const here = state.pair === ALL_PAIRS || linking.includes(state.pair) ? state.pair : (linking[0] ?? ALL_PAIRS);
  const option = (pair, text) => make('option', { value: pair, selected: pair === here }, text);
  byId('pair').replaceChildren(
    ...linking.map((pair) => option(pair, doc.pairs[pair])),
    option(ALL_PAIRS, 'all columns: a transaction once for each pair'),
  );
  return here === ALL_PAIRS ? edges : edges.filter(({ pairs }) => pairs.includes(here));
}

/** Those of the chosen edge, or of all edges that are listed. */
function showTransactions() {
  const edges = new Set(edgesOfPair(state.edge ? [state.edge] : tables.edges.rows));
  const rows = (graph.detail?.transactions ?? []).filter(({ edge }) => edges.has(edge));
  tables.transactions.key = null;
  tables.transactions.show(rows);
  const all = [...edges].reduce((sum, { count }) => sum + (count ?? 0), 0);
  countTab('transactions', 'Transactions', rows.map(({ edge }) => edge), Math.max(all, rows.length));
}

function whatIsListed({ rows, edges, members_total, edges_total }) {
  const members = rows.filter(({ outside }) => !outside).length;
  const notes = [];
  if (members < members_total) notes.push(`${grouped.format(members)} of ${counted(members_total, 'member')}`);
  if (edges.length < edges_total) notes.push(`${grouped.format(edges.length)} of ${counted(edges_total, 'edge')}, the heaviest`);
  return notes.length ? `This file has ${notes.join(' and ')}; the tables of the run have all members, and all edges among them.` : '';
}

/** Each score of a cluster: its definition, its value, and the share of the window's other clusters that are below it. */
function scoresOf(row) {
  const all = rowsOf(row.window);
  const score = (definition, of) => {
    const value = of(row);
    const known = all.map(of).filter((other) => other !== null);
    const below = known.filter((other) => other < value).length;
    return { ...definition, value, below: value === null || known.length < 2 ? null : below / (known.length - 1) };
  };
  return [
    score(doc.score, (other) => other.score),
    ...doc.scores.map((definition, at) => score(definition, ({ scores }) => scores[at])),
    score(doc.chance, ({ chance }) => chance),
  ];
}

/** How a score compares with those of the window's other clusters. */
function comparedText({ form, below }) {
  if (below === null) return 'Nothing to compare with';
  // A low chance is the suspicious one.
  const word = form === 'odds' ? 'More likely by chance than' : 'Above';
  return `${word} ${Math.round(below * 100)} % of this window’s clusters`;
}

/** Each score: its value, how it compares, what it means, and its formula. */
function showScores(row) {
  const entry = (score) => {
    const { name, meaning, formula, form, value, below } = score;
    return make(
      'div',
      { class: 'score' },
      make('dt', {}, name),
      make(
        'dd',
        {},
        make('span', { class: 'value' }, written(value, form)),
        below === null ? null : meter(below, ''),
        make('span', { class: 'compared' }, comparedText(score)),
        make('span', { class: 'meaning' }, meaning),
        make('code', {}, formula),
      ),
    );
  };
  byId('scores').replaceChildren(make('dl', {}, ...scoresOf(row).map(entry)));
}

function showHistory(row) {
  const rows = [...historyOf(row.id)].reverse();
  const cells = (other) => [
    make('td', {}, make('button', { type: 'button', class: 'link', onclick: () => chooseWindow(other.window) }, rangeOf(doc.windows[other.window]))),
    make('td', {}, badge(other.event)),
    make('td', { class: 'figures' }, grouped.format(other.rank)),
    make('td', { class: 'figures' }, written(other.score, doc.score.form)),
    make('td', { class: 'figures' }, grouped.format(other.size)),
    make('td', { class: 'figures' }, grouped.format(other.known)),
    make('td', {}, ...parentsOf(other)),
  ];
  const lines = rows.map((other) => make('tr', { 'aria-current': other.window === row.window ? 'true' : null }, ...cells(other)));
  const head = ['Window', 'Event', 'Rank', 'Score', 'Members', 'Known bad', 'From'];
  const figures = new Set(['Rank', 'Score', 'Members', 'Known bad']);
  byId('history').replaceChildren(
    make('p', { class: 'rule' }, doc.overlap_rule),
    make(
      'table',
      {},
      make('thead', {}, make('tr', {}, ...head.map((title) => make('th', { scope: 'col', class: figures.has(title) ? 'figures' : null }, title)))),
      make('tbody', {}, ...lines),
    ),
  );
}

/** Where a cluster came from, each a way there. */
function parentsOf({ window, parents }) {
  if (parents.length === 0) return [EMPTY];
  return parents.flatMap((id, at) => {
    const there = window > 0 && clusterIn(window - 1, id);
    const link = there
      ? make('button', { type: 'button', class: 'link', onclick: () => chooseCluster(id, window - 1) }, id)
      : make('span', {}, id);
    return at === 0 ? [link] : [', ', link];
  });
}

function showTab(name) {
  state.tab = name;
  for (const tab of ['members', 'edges', 'transactions', 'path', 'scores', 'history']) {
    const chosen = tab === name;
    byId(`tab-${tab}`).setAttribute('aria-selected', chosen);
    byId(`tab-${tab}`).tabIndex = chosen ? 0 : -1;
    byId(tab).hidden = !chosen && !printing;
  }
  byId('pair').hidden = name !== 'transactions' || !hasPairs();
  tables[name]?.draw(true);
}

function listenToTabs() {
  const all = [...byId('tabs').querySelectorAll('[role=tab]')];
  byId('pair').onchange = ({ target }) => {
    state.pair = Number(target.value);
    showTransactions();
  };
  for (const tab of all) tab.onclick = () => showTab(tab.dataset.panel);
  byId('tabs').onkeydown = (event) => {
    const tabs = all.filter((tab) => !tab.hidden);
    const here = tabs.indexOf(document.activeElement);
    const to = { ArrowRight: here + 1, ArrowLeft: here - 1, Home: 0, End: tabs.length - 1 }[event.key];
    if (to === undefined || here < 0) return;
    event.preventDefault();
    const tab = tabs[(to + tabs.length) % tabs.length];
    showTab(tab.dataset.panel);
    tab.focus();
  };
}

/** The columns that the file of a tab has, each with a `key` and its `text(row)`. */
function savedColumns(table) {
  const shown = { standing: (row) => STANDINGS[row.standing] };
  return table.saved.map((column) => ({ key: column.key, text: column.saved ?? shown[column.key] ?? column.value }));
}

const SCORES_SAVED = [
  { key: 'score', text: ({ key }) => key },
  { key: 'value', text: ({ value }) => value },
  { key: 'share_of_clusters_below', text: ({ below }) => below },
  { key: 'meaning', text: ({ meaning }) => meaning },
  { key: 'formula', text: ({ formula }) => formula },
];

/** An entity in a file: its kind and its id. */
const savedEntity = (entity) => (hasKinds() ? `${kindOf(doc.entities.kind[entity])} ${doc.entities.id[entity]}` : doc.entities.id[entity]);

/** The columns of the path in a window. */
function pathSaved(window) {
  const time = (seconds) => (seconds === null ? '' : savedMoment(doc.windows[window].from + Math.round(seconds * 1e6)));
  return [
    { key: 'source', text: ([source]) => savedEntity(source) },
    { key: 'target', text: ([, target]) => savedEntity(target) },
    { key: 'count', text: ([, , count]) => count },
    { key: 'amount', text: ([, , , amount]) => plainMoney(amount) },
    { key: 'first', text: ([, , , , first]) => time(first) },
    { key: 'last', text: ([, , , , , last]) => time(last) },
  ];
}

const HISTORY_SAVED = [
  { key: 'from', text: ({ window }) => savedMoment(doc.windows[window].from) },
  { key: 'until', text: ({ window }) => savedMoment(doc.windows[window].until) },
  { key: 'event', text: ({ event }) => doc.events[event].key },
  { key: 'rank', text: ({ rank }) => rank },
  { key: 'score', text: ({ score }) => score },
  { key: 'size', text: ({ size }) => size },
  { key: 'known_bad', text: ({ known }) => known },
  { key: 'parents', text: ({ parents }) => parents.join(' ') },
];

/** The columns and rows of the tab that is shown. */
function tableOfTab() {
  const row = clusterIn(state.window, state.cluster);
  if (state.tab === 'scores') return { columns: SCORES_SAVED, rows: row ? scoresOf(row) : [] };
  if (state.tab === 'history') return { columns: HISTORY_SAVED, rows: row ? [...historyOf(row.id)].reverse() : [] };
  if (state.tab === 'path') return { columns: pathSaved(state.window), rows: graph.detail?.explanation.flows ?? [] };
  const table = tables[state.tab];
  return { columns: savedColumns(table), rows: table.order.map((at) => table.rows[at]) };
}

/** A field of a file. */
function savedField(value) {
  const text = value === null || value === undefined ? '' : String(value);
  // A spreadsheet runs what begins so as a formula, unless it is a plain number.
  const runs = typeof value === 'string' && /^[=+\-@\t\r]/.test(text) && !/^[+-]?\d+(\.\d+)?$/.test(text);
  const safe = runs ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Saves the tab that is shown as a file. */
function saveTable() {
  const { columns, rows } = tableOfTab();
  const line = (row) => columns.map(({ text }) => savedField(text(row))).join(',');
  const text = [columns.map(({ key }) => key).join(','), ...rows.map(line)].join('\n') + '\n';
  const link = make('a', {
    download: `${state.cluster}-${state.tab}.csv`,
    href: URL.createObjectURL(new Blob([text], { type: 'text/csv' })),
  });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
