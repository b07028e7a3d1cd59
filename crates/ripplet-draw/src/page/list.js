// The list of communities: says what the picture shows, for those who do not see it, too.

const NAMES_LISTED = 3;
const list = { rows: [], query: '' };

function makeList() {
  list.rows = doc.communities.map(({ name, members, size, hue }, at) => {
    const names = members.slice(0, NAMES_LISTED);
    const swatch = make('span', { class: 'swatch', 'aria-hidden': 'true' });
    swatch.style.setProperty('--hue', String(hue));
    const called = [make('bdi', {}, name), ': '];
    const ids = names.flatMap((name, place) => (place ? [', ', make('bdi', {}, name)] : [make('bdi', {}, name)]));
    const more = size > names.length ? ', …' : '';
    const button = make(
      'button',
      { type: 'button', title: `${name}: ${names.join(', ')}${more}`, onclick: () => chooseCommunity(at), ondblclick: () => openCommunity(at) },
      swatch,
      make('span', { class: 'names' }, ...called, ...ids, more),
      make('span', { class: 'size' }, grouped.format(size)),
    );
    return make('li', { 'data-community': at }, button);
  });
  byId('list').replaceChildren(...list.rows);
  byId('search').oninput = () => filterList(byId('search').value);
  filterList('');
}

function filterList(query) {
  list.query = query.trim().toLowerCase();
  let shown = 0;
  doc.communities.forEach(({ name, members }, at) => {
    const hit = list.query === '' || [name, ...members].some((text) => text.toLowerCase().includes(list.query));
    list.rows[at].hidden = !hit;
    shown += hit ? 1 : 0;
  });
  byId('listed').textContent = list.query === '' ? `${grouped.format(shown)} drawn` : `${grouped.format(shown)} of ${grouped.format(doc.communities.length)}`;
}

function markInList(at) {
  list.rows.forEach((row, other) => row.firstChild.setAttribute('aria-current', String(other === at)));
  if (at !== null) list.rows[at].scrollIntoView({ block: 'nearest' });
}

/** The listed community that is `by` places behind the chosen one. */
function listedBeside(by) {
  const listed = doc.communities.map((_, at) => at).filter((at) => !list.rows[at].hidden);
  if (listed.length === 0) return null;
  const here = listed.indexOf(state.community);
  return listed[here < 0 ? 0 : (here + by + listed.length) % listed.length];
}
