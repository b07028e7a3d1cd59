// Figures of the chosen community.

const brief = new Intl.NumberFormat('en', { maximumSignificantDigits: 6 });

/** The share of what leaves a community in all that its members have; nothing where they have no edges. */
function conductance({ inner, outer }) {
  const all = 2 * inner + outer;
  return all > 0 ? outer / all : null;
}

function showDetail(at) {
  const host = byId('detail');
  if (at === null) {
    host.replaceChildren();
    return;
  }
  const community = doc.communities[at];
  const share = conductance(community);
  const facts = [
    ['By size', `no. ${grouped.format(at + 1)}`],
    ['Members', grouped.format(community.size)],
    ['Weight within', brief.format(community.inner)],
    ['Weight to others', brief.format(community.outer)],
    ['Leaves it', share === null ? '–' : `${(100 * share).toFixed(1)} %`],
  ];
  const members = community.members.slice(0, 12).map((name) => make('li', {}, idText(name), ' '));
  const open = make('button', { type: 'button', id: 'open', onclick: () => openCommunity(at) }, 'Open (Enter)');
  host.replaceChildren(
    make('h2', {}, 'Community ', make('bdi', {}, community.name)),
    make('dl', {}, ...facts.flatMap(([name, value]) => [make('dt', {}, name), make('dd', {}, value)])),
    make('ul', { class: 'members', 'aria-label': 'Leading members' }, ...members),
    ...(state.opened === at ? [] : [open]),
  );
}
