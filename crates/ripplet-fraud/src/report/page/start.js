// What is chosen, how it changes, and the beginning.

const state = {
  window: doc.windows.length - 1,
  list: 'clusters',
  entity: null,
  cluster: null,
  vertex: null,
  edge: null,
  tab: 'members',
  query: '',
  event: null,
  least: 0,
  withoutNoise: false,
  matches: null,
  results: [],
  pair: null,
};

let printing = false;

function chooseWindow(window) {
  const { list } = state;
  state.window = window;
  showWindow();
  showRanking();
  const same = state.cluster !== null && clusterIn(window, state.cluster);
  chooseCluster(same ? state.cluster : (tables.ranking.rows[tables.ranking.order[0]]?.id ?? null));
  if (list === 'entities') chooseList('entities');
  announce(`Window ${rangeOf(doc.windows[window])}, ${counted(doc.windows[window].clusters, 'cluster')}`);
}

function chooseCluster(id, window = state.window) {
  if (window !== state.window) {
    state.window = window;
    showWindow();
    showRanking();
  }
  byId('remark').hidden = true;
  if (state.list === 'entities') chooseList('clusters');
  const row = id === null ? null : clusterIn(state.window, id);
  state.cluster = row?.id ?? null;
  state.vertex = null;
  tables.ranking.select(state.cluster);
  showEvidence(row);
  const match = row ? state.matches?.get(row.id) : undefined;
  const found = match !== undefined && graph.detail?.rows.find(({ entity }) => entity === match);
  chooseVertex(found ? found.at : null);
  showTab(state.tab);
  drawTimeline();
}

function chooseVertex(at) {
  state.vertex = at;
  state.edge = null;
  const vertex = at === null ? null : graph.detail?.rows[at];
  tables.members.select(at === null ? null : String(at));
  showEdges();
  markVertex();
  const line = byId('vertex-line');
  if (vertex) {
    const standing = STANDINGS[vertex.standing];
    const words = [
      kindOf(vertex.kind) + ' ',
      idText(vertex.name),
      standing ? `, ${standing}` : '',
      vertex.probability === null ? '' : `, score ${written(vertex.probability, 'probability')} (rank ${grouped.format(vertex.place)})`,
      vertex.score === null ? '' : `, ${doc.has_scores ? 'suspicion' : 'score'} ${written(vertex.score, doc.member_score.form)}`,
      vertex.share === null ? '' : `, ${(vertex.share * 100).toFixed(1)} % of weight to known bad`,
      !vertex.distance ? '' : `, ${counted(vertex.distance, 'edge')} from a seed`,
    ];
    line.replaceChildren(...words);
  } else {
    line.replaceChildren();
  }
  rememberPlace();
}

/** Says what the drawing does not show, until something else is chosen or searched. */
function remark(text) {
  byId('remark').textContent = text;
  byId('remark').hidden = false;
  byId('vertex-line').textContent = text;
  if (state.cluster === null) byId('no-cluster').textContent = text;
  announce(text);
}

/** Marks who paid and who was paid, and lists these transactions; who is chosen stays so. */
function chooseEdge(edge) {
  markEdge(edge);
  showTransactions();
}

function markEdge(edge) {
  state.edge = edge;
  markVertex();
}

/** Figures of the chosen window. */
function showWindow() {
  const window = doc.windows[state.window];
  byId('range').textContent = rangeOf(window);
  const last = doc.windows.length - 1;
  byId('which').textContent = `Window ${numberOf(state.window)}${last > 0 ? ` of ${numberOf(0)} to ${numberOf(last)}` : ''}`;
  const unseen = window.known_unseen ? `, ${grouped.format(window.known_unseen)} of them in no transaction so far` : '';
  const figures = [
    ['Clusters', window.clusters, 'that were found in this window'],
    ['Members', window.members, 'of all clusters'],
    ['Known bad', window.known_bad + window.known_unseen, `on the list when this window ended${unseen}`],
    ['Entities', window.entities, 'with transactions in this window'],
    ['Transactions', window.transactions, 'in this window'],
  ];
  const entries = figures.map(([name, value, what]) =>
    make('div', { title: `${grouped.format(value)} ${what}` }, make('dt', {}, name), make('dd', {}, value >= 1e5 ? brief.format(value) : grouped.format(value))),
  );
  byId('figures').replaceChildren(...entries);
  byId('before').disabled = state.window === 0;
  byId('after').disabled = state.window === doc.windows.length - 1;
  drawLegend();
  warnOfScores();
}

/** The address leads back to what is chosen. */
function rememberPlace() {
  const place = new URLSearchParams();
  place.set('window', numberOf(state.window));
  if (state.list === 'entities' && state.entity !== null) place.set('entity', doc.entities.id[state.entity]);
  else if (state.cluster !== null) place.set('cluster', state.cluster);
  history.replaceState(null, '', `#${place}`);
}

function placeFromAddress() {
  const place = new URLSearchParams(location.hash.slice(1));
  const window = Number(place.get('window') ?? NaN);
  if (Number.isInteger(window) && window >= 0 && window < doc.windows.length) state.window = window;
  state.cluster = place.get('cluster');
  const entity = place.get('entity');
  if (entity !== null) state.entity = scoredIn(state.window).find(({ name }) => name === entity)?.entity ?? null;
}

function listenToKeys() {
  document.addEventListener('keydown', (event) => {
    const typing = event.target.closest('input, select, textarea');
    if (typing || event.ctrlKey || event.metaKey || event.altKey || byId('about').open || byId('keys').open || byId('known').open || byId('check').open) return;
    const acts = {
      '/': () => byId('search').focus(),
      '[': () => chooseWindow(Math.max(0, state.window - 1)),
      ']': () => chooseWindow(Math.min(doc.windows.length - 1, state.window + 1)),
      j: () => listTable().pressed(new KeyboardEvent('keydown', { key: 'ArrowDown' })),
      k: () => listTable().pressed(new KeyboardEvent('keydown', { key: 'ArrowUp' })),
      g: () => byId('graph').focus(),
      '?': () => byId('keys').showModal(),
      Escape: () => chooseVertex(null),
    };
    if (!acts[event.key]) return;
    event.preventDefault();
    acts[event.key]();
  });
}

/** The table of the ranking that is shown. */
function listTable() {
  return state.list === 'entities' ? tables.entities : tables.ranking;
}

function listenToPrinter() {
  const all = () => {
    Object.values(tables).forEach((table) => table.draw(true));
    showTab(state.tab);
  };
  let { view } = graph.motion;
  addEventListener('beforeprint', () => {
    printing = true;
    ({ view } = graph.motion);
    all();
    fitGraph();
  });
  addEventListener('afterprint', () => {
    printing = false;
    all();
    fitGraph();
    graph.motion.moveTo(view);
  });
}

/** All who were known bad when the chosen window ended, and where each is. */
function showKnown() {
  const window = doc.windows[state.window];
  const { entity, cluster, place: places, since, left_out } = knownOf(state.window);
  const row = (number, of) => ({ name: doc.entities.id[number], kind: kindOf(doc.entities.kind[number]), ...of });
  const held = entity.map((number, at) => row(number, { cluster: cluster[at], place: cluster[at] ?? PLACES[places[at]], since: since[at] }));
  const unheld = unheldEntries().map(({ entity: number, from, reason }) => row(number, { cluster: null, place: reason, since: from }));
  const rows = [...held, ...unheld].map((one, at) => ({ at, ...one }));
  tables.known ??= new LongTable({
    host: byId('known-list'),
    label: 'Known bad',
    keyOf: ({ at }) => String(at),
    sort: { key: 'place', direction: 'up' },
    chosen: (row) => {
      if (row.cluster === null || clusterIn(state.window, row.cluster) === null) return;
      byId('known').close();
      chooseCluster(row.cluster);
    },
    empty: 'Nobody was known bad when this window ended.',
    columns: [
      { key: 'id', title: 'Entity', hint: 'Its id in the data', value: ({ name }) => name, cell: ({ name }) => idText(name) },
      { key: 'kind', title: 'Kind', hint: 'What it is', value: ({ kind }) => kind, cell: ({ kind }) => kind },
      { key: 'place', title: 'Where', hint: 'Its cluster, or that it is in none', value: ({ place }) => place, cell: ({ place }) => make('span', { title: place }, place) },
      { key: 'since', title: 'Since', hint: 'Since when it is known, if the list says so', value: (row) => row.since, cell: (row) => moment(row.since) },
    ],
  });
  const inClusters = held.filter((row) => row.cluster !== null).length;
  const all = window.known_bad + window.known_unseen;
  const unseen = window.known_unseen ? ` ${grouped.format(window.known_unseen)} ${window.known_unseen === 1 ? 'is' : 'are'} in no transaction so far.` : '';
  const less = left_out ? ` This file lists ${grouped.format(held.length)} of ${grouped.format(all)}; the window’s known_bad.parquet has all.` : '';
  const among = left_out ? ` of the ${grouped.format(held.length)} listed` : ` of ${grouped.format(all)}`;
  const never = unheld.length ? ` ${counted(unheld.length, 'further entry', 'further entries')} of the list ${unheld.length === 1 ? 'holds' : 'hold'} in no window of this run.` : '';
  const lost = doc.unheld.left_out ? ` ${grouped.format(doc.unheld.left_out)} more that do not hold when the last window ends are not in this file.` : '';
  const where = all === 0 ? 'Nobody was known bad.' : `${grouped.format(inClusters)}${among} ${all === 1 ? 'is' : 'are'} in a cluster.`;
  byId('known-line').textContent = `${rangeOf(window)}: ${where}${unseen}${less}${never}${lost}`;
  byId('known').showModal();
  tables.known.show(rows);
}

function showAbout() {
  const rows = (pairs) => pairs.map(([name, value]) => make('tr', {}, make('th', { scope: 'row' }, name), make('td', {}, value)));
  byId('facts').replaceChildren(make('tbody', {}, ...rows(doc.run.facts)));
  byId('inputs').replaceChildren(make('tbody', {}, ...rows(doc.run.inputs)));
  byId('inputs-title').hidden = doc.run.inputs.length === 0;
  const formula = ({ name, meaning, formula: text }) => make('div', {}, make('dt', {}, name), make('dd', {}, meaning, make('code', {}, text)));
  byId('formulas').replaceChildren(...[doc.score, doc.chance, ...doc.scores].map(formula));
  byId('member-formulas').replaceChildren(...[doc.member_score].map(formula));
  byId('event-rules').replaceChildren(...doc.events.map(({ name, rule }) => make('div', {}, make('dt', {}, name), make('dd', {}, rule))));
  byId('overlap').textContent = doc.overlap_rule;
  const unsearched = partlySearched().map((window) => `Not searched: ${leftOutOf(window)}.`);
  const notes = [...doc.run.notes, ...doc.left_out, ...unsearched].map((note) => make('li', {}, note));
  byId('notes').replaceChildren(...notes);
  byId('notes-title').hidden = notes.length === 0;
  const notice = byId('notice');
  notice.hidden = doc.left_out.length === 0;
  notice.textContent = doc.left_out.join(' ');
}

function start() {
  byId('title').textContent = doc.run.title;
  showAbout();
  byId('open-about').onclick = () => byId('about').showModal();
  byId('open-keys').onclick = () => byId('keys').showModal();
  if (doc.windows.length === 0) {
    byId('empty').hidden = false;
    document.body.classList.add('empty');
    return;
  }
  makeRanking();
  makeEntities();
  makeEvidence();
  placeFromAddress();
  const asked = state.cluster;
  showWindow();
  showRanking();
  listenToTimeline();
  listenToFilters();
  listenToGraph();
  listenToTabs();
  listenToKeys();
  listenToLists();
  listenToTheme(byId('theme'));
  listenToPrinter();
  byId('open-known').onclick = showKnown;
  byId('save').onclick = saveTable;
  byId('before').onclick = () => chooseWindow(state.window - 1);
  byId('after').onclick = () => chooseWindow(state.window + 1);
  // All has its size before what is chosen is brought into view.
  drawTimeline();
  const first = tables.ranking.rows[tables.ranking.order[0]]?.id ?? null;
  chooseCluster(asked !== null && clusterIn(state.window, asked) ? asked : first);
  if (state.entity !== null) chooseList('entities');
  document.body.dataset.ready = 'yes';
}

start();
