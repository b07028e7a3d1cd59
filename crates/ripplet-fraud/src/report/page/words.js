// How values are written.

const EMPTY = '–';
const DAY = 86400e6;

const brief = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });

const FORMS = {
  share: (value) => value.toFixed(3),
  probability: (value) => (value >= 0.001 || value === 0 ? value.toFixed(3) : '< 0.001'),
  number: (value) => (Number.isInteger(value) || Math.abs(value) >= 1000 ? grouped.format(value) : value.toPrecision(3)),
  nats: (value) => value.toFixed(2).replace('-', '−'),
  odds: (value) => {
    const often = 1 / value;
    if (often < 1.05) return 'always';
    if (often < 1.5) return `${Math.round(10 / often)} in 10`;
    if (often >= 1e9) return '< 1 in 1 bn';
    const unit = often < 10 ? 1 : 10 ** (Math.floor(Math.log10(often)) - 1);
    return `1 in ${grouped.format(Math.round(often / unit) * unit)}`;
  },
  count: (value) => grouped.format(value),
  change: (value) => (value > 0 ? '+' : value < 0 ? '−' : '') + Math.abs(value * 100).toFixed(0) + ' %',
};

function written(value, form) {
  return value === null || value === undefined ? EMPTY : (FORMS[form] ?? FORMS.number)(value);
}

/** How much of a time is written: its day, and its minute, second, millisecond, microsecond. */
const LENGTHS = [10, 16, 19, 23, 26];

/** The place in `LENGTHS` of the coarsest that says all of a time in microseconds. */
function precisionOf(micros) {
  if (micros === null || micros === undefined) return 0;
  const place = [DAY, 60e6, 1e6, 1e3].findIndex((unit) => micros % unit === 0);
  return place < 0 ? LENGTHS.length - 1 : place;
}

/** A time in microseconds as RFC 3339 has it, to the microsecond, without the zone; UTC. */
function instantText(micros) {
  const millis = Math.floor(micros / 1000);
  return new Date(millis).toISOString().slice(0, -1) + String(micros - 1000 * millis).padStart(3, '0');
}

/** A time in microseconds with all that it has, or as finely as `least` says if that is finer; UTC. */
function moment(micros, least = 0) {
  if (micros === null || micros === undefined) return EMPTY;
  return instantText(micros).slice(0, LENGTHS[Math.max(least, precisionOf(micros))]).replace('T', ' ');
}

/** A time in full for a file: to the second at least. */
function savedMoment(micros) {
  if (micros === null || micros === undefined) return '';
  return `${instantText(micros).slice(0, LENGTHS[Math.max(2, precisionOf(micros))])}Z`;
}

/** Smallest units of an amount as money, to the last digit; they are a number or, where that is not exact, a text. */
function money(units) {
  if (units === null || units === undefined) return EMPTY;
  const digits = String(units).padStart(doc.decimals + 1, '0');
  const whole = digits.slice(0, digits.length - doc.decimals).replace(/\B(?=(\d{3})+$)/g, ',');
  return doc.decimals ? `${whole}.${digits.slice(digits.length - doc.decimals)}` : whole;
}

/** The same as tables have it. */
function plainMoney(units) {
  return units === null || units === undefined ? '' : money(units).replaceAll(',', '');
}

/** The last instant of a window, whose `until` is the first behind it: where that is midnight, the day before. */
function lastOf(until) {
  return until % DAY === 0 ? moment(until - DAY) : moment(until);
}

function rangeOf(window) {
  return `${moment(window.from)} to ${lastOf(window.until)}`;
}

function kindOf(kind) {
  return doc.kinds[kind] ?? 'entity';
}

/** Whether ids alone may name two entities. */
function hasKinds() {
  return doc.kinds.length > 1;
}

/** Windows by their places, both ends included, as their dates. */
function windowsText({ from, until }) {
  const [first, last] = [from, until].map((window) => doc.windows[window]);
  return from === until ? `window of ${rangeOf(first)}` : `windows ending ${lastOf(first.until)} to ${lastOf(last.until)}`;
}

/** The number of a window as tables and folders have it. */
function numberOf(window) {
  return String(window).padStart(4, '0');
}

/** The mark of a cluster that chance explains. */
function noiseBadge() {
  return make('span', { class: 'standing', title: doc.chance.meaning }, 'noise');
}

function badge(event) {
  const known = doc.events[event];
  return make('span', { class: `badge event-${known.key}`, title: known.rule }, known.name);
}

/** The least score that a member has: no tie beyond chance, and the least strength, 2⁻¹⁶. */
const LEAST_SCORE = -16 * Math.LN2;

/** A member's score from 0 for the least there is to 1 for that of an entity known bad (0) and above: the same in every run. */
function placeOfScore(score) {
  return score === null ? 0 : Math.max(0, Math.min(1, 1 - score / LEAST_SCORE));
}

/** A bar for a share of one, and its number. */
function meter(share, text) {
  const bar = make('span', { class: 'bar', 'aria-hidden': 'true' }, make('span', {}));
  bar.firstChild.style.width = `${Math.max(0, Math.min(1, share ?? 0)) * 100}%`;
  return make('span', { class: 'meter' }, bar, make('span', { class: 'figure' }, text));
}

/** Says something to those who hear the page. */
function announce(text) {
  byId('spoken').textContent = text;
}
