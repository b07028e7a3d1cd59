// What is chosen, how it changes, and the beginning.

const doc = JSON.parse(byId('data').textContent);
const state = { community: null, opened: null, member: null };

function titleOf(community, at) {
  const names = community.members.slice(0, 3).join(', ');
  return `${names}${community.size > 3 ? ', …' : ''}: ${counted(community.size, 'member')} (community ${community.name}, ${placeOf(at)})`;
}

/** The place of a community by its size. */
function placeOf(at) {
  return `no. ${grouped.format(at + 1)} by size`;
}

/** Shows all communities. */
function showAll() {
  state.opened = null;
  state.member = null;
  const nodes = doc.communities.map((community, at) => {
    const [x, y, r] = community.circle;
    return { x, y, r, hue: community.hue, names: community.members, title: titleOf(community, at) };
  });
  byId('back').hidden = true;
  byId('shown').textContent = 'All communities';
  byId('shown-note').textContent = doc.communities.length === 0 ? 'The graph has no communities.' : 'Area: members. Width of lines: weight of edges. Click a circle to open it.';
  showScene({ nodes, lines: doc.links, grows: true });
  chooseCommunity(state.community);
}

/** Opens a community down to its members. */
function openCommunity(at) {
  const community = doc.communities[at];
  Object.assign(state, { community: at, opened: at, member: null });
  const degrees = new Array(community.members.length).fill(0);
  community.edges.forEach(([a, b]) => {
    degrees[a] += 1;
    degrees[b] += 1;
  });
  const nodes = community.members.map((name, member) => {
    const [x, y] = community.places[member];
    return { x, y, r: 1, hue: community.hue, names: [name], title: `${name}: ${counted(degrees[member], 'line')}` };
  });
  byId('back').hidden = false;
  byId('shown').replaceChildren('Community ', make('bdi', {}, community.name));
  const notes = [counted(community.size, 'member')];
  if (nodes.length < community.size) notes.push(`${grouped.format(nodes.length)} with the most edges inside are drawn`);
  if (community.edges.length < community.pairs) notes.push(`${grouped.format(community.edges.length)} of ${grouped.format(community.pairs)} edges between them`);
  byId('shown-note').textContent = notes.join('; ') + '.';
  showScene({ nodes, lines: community.edges, grows: false });
  markInList(at);
  showDetail(at);
  sayLine();
  rememberPlace();
}

/** Chooses a community of the picture; nothing where `at` is null. */
function chooseCommunity(at) {
  if (state.opened !== null && at !== state.opened) {
    state.community = at;
    showAll();
    return;
  }
  state.community = at;
  markInList(at);
  if (state.opened === null) markInScene(at);
  showDetail(at);
  sayLine();
  rememberPlace();
}

function chooseMember(at) {
  state.member = at;
  markInScene(at);
  sayLine();
}

function sayLine() {
  const line = byId('line');
  const { community, opened, member } = state;
  if (opened !== null && member !== null) {
    const beside = scene.beside[member].size;
    line.replaceChildren(idText(doc.communities[opened].members[member]), `, ${counted(beside, 'line')} in this drawing`);
  } else if (opened === null && community !== null) {
    line.replaceChildren(titleOf(doc.communities[community], community));
  } else {
    line.replaceChildren();
  }
}

/** The address leads back to what is chosen. */
function rememberPlace() {
  const place = new URLSearchParams();
  if (state.community !== null) place.set('community', doc.communities[state.community].name);
  if (state.opened !== null) place.set('open', 'yes');
  history.replaceState(null, '', `#${place}`);
}

function goTo(address) {
  const place = new URLSearchParams(address);
  const at = doc.communities.findIndex(({ name }) => name === place.get('community'));
  if (at < 0) return;
  state.community = at;
  if (place.get('open') === 'yes') openCommunity(at);
  else chooseCommunity(at);
}

function clickedInScene(event) {
  const node = event.target.closest('[data-at]');
  const at = node ? Number(node.dataset.at) : null;
  if (state.opened !== null) chooseMember(at);
  else if (at === null) chooseCommunity(null);
  else openCommunity(at);
}

function back() {
  if (state.opened !== null && state.member !== null) chooseMember(null);
  else if (state.opened !== null) showAll();
  else chooseCommunity(null);
}

function stepInScene(by) {
  const count = scene.nodes.length;
  const here = scene.chosen;
  const next = here === null ? 0 : (here + by + count) % count;
  if (state.opened !== null) chooseMember(next);
  else chooseCommunity(next);
}

function listenToDrawing() {
  const host = byId('drawing');
  scene.view = new PanAndZoom(host, { changed: placeScene, clicked: clickedInScene, size: roomOfScene });
  host.onkeydown = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || scene.nodes.length === 0) return;
    const step = { n: 1, p: -1 }[event.key];
    if (step !== undefined) stepInScene(step);
    else if (!scene.view.pressed(event.key)) return;
    event.preventDefault();
    event.stopPropagation();
  };
  byId('zoom-in').onclick = () => scene.view.zoom(1.4);
  byId('zoom-out').onclick = () => scene.view.zoom(1 / 1.4);
  byId('zoom-fit').onclick = () => scene.view.fit();
  new ResizeObserver(() => {
    measureScene();
    placeScene();
  }).observe(host);
}

function listenToKeys() {
  document.addEventListener('keydown', (event) => {
    const typing = event.target.closest('input');
    if (event.ctrlKey || event.metaKey || event.altKey || byId('keys').open) return;
    if (typing && event.key !== 'Escape') return;
    const choose = (by) => {
      const next = listedBeside(by);
      if (next !== null) chooseCommunity(next);
    };
    const acts = {
      '/': () => byId('search').focus(),
      j: () => choose(1),
      k: () => choose(-1),
      g: () => byId('drawing').focus(),
      '?': () => byId('keys').showModal(),
      Escape: () => (typing ? event.target.blur() : back()),
      Enter: () => state.community !== null && state.opened === null && openCommunity(state.community),
    };
    // A button has its own Enter.
    if (!Object.hasOwn(acts, event.key) || (event.key === 'Enter' && event.target.closest('button'))) return;
    event.preventDefault();
    acts[event.key]();
  });
}

function start() {
  const address = location.hash.slice(1);
  byId('title').textContent = doc.title;
  byId('headline').textContent = doc.headline;
  byId('notes').replaceChildren(...doc.notes.map((note) => make('li', {}, note)));
  byId('back').onclick = showAll;
  byId('open-keys').onclick = () => byId('keys').showModal();
  listenToTheme(byId('theme'));
  makeList();
  listenToDrawing();
  showAll();
  goTo(address);
  listenToKeys();
  document.body.dataset.ready = 'yes';
}

start();
