// Moving a drawing: by dragging, pinching, the wheel, and keys.

/**
 * The view of a drawing in its host element: an offset of the drawing's middle from the host's middle in
 * pixels, and a zoom, 1 where all is seen.
 *
 * `changed` is called after each change, `clicked` with the event of a click that was no drag.
 */
class PanAndZoom {
  constructor(host, { changed, clicked, farthest = 0.3, nearest = 24, size = null }) {
    Object.assign(this, { host, changed, farthest, nearest });
    this.size = size ?? (() => ({ width: host.clientWidth || 600, height: host.clientHeight || 400 }));
    this.view = { x: 0, y: 0, zoom: 1 };
    this.listen(clicked);
  }

  moveTo({ x, y, zoom }) {
    const { width, height } = this.size();
    // Something of the drawing stays in view.
    const most = { x: (width / 2) * (1 + zoom), y: (height / 2) * (1 + zoom) };
    const within = (value, bound) => Math.max(-bound, Math.min(bound, value));
    this.view = { x: within(x, most.x), y: within(y, most.y), zoom };
    this.changed();
  }

  fit() {
    this.moveTo({ x: 0, y: 0, zoom: 1 });
  }

  pan(x, y) {
    this.moveTo({ ...this.view, x: this.view.x + x, y: this.view.y + y });
  }

  /** Zooms; what is at a point of the drawing stays there. */
  zoom(factor, at) {
    const { width, height } = this.size();
    const point = at ?? { x: width / 2, y: height / 2 };
    const { x, y, zoom } = this.view;
    const next = Math.max(this.farthest, Math.min(this.nearest, zoom * factor));
    const from = { x: point.x - width / 2 - x, y: point.y - height / 2 - y };
    this.moveTo({ x: x - from.x * (next / zoom - 1), y: y - from.y * (next / zoom - 1), zoom: next });
  }

  /** Acts on a key that moves the drawing; whether it was one. */
  pressed(key) {
    const step = 40;
    const acts = {
      ArrowLeft: () => this.pan(step, 0),
      ArrowRight: () => this.pan(-step, 0),
      ArrowUp: () => this.pan(0, step),
      ArrowDown: () => this.pan(0, -step),
      '+': () => this.zoom(1.4),
      '=': () => this.zoom(1.4),
      '-': () => this.zoom(1 / 1.4),
      0: () => this.fit(),
    };
    if (!Object.hasOwn(acts, key)) return false;
    acts[key]();
    return true;
  }

  listen(clicked) {
    const { host } = this;
    const pointers = new Map();
    let moved = 0;
    const inside = (event) => {
      const box = host.getBoundingClientRect();
      return { x: event.clientX - box.left, y: event.clientY - box.top };
    };
    host.onpointerdown = (event) => {
      if (event.button !== 0) return;
      pointers.set(event.pointerId, inside(event));
      moved = 0;
    };
    host.onpointermove = (event) => {
      const before = pointers.get(event.pointerId);
      if (before === undefined) return;
      const now = inside(event);
      moved += Math.abs(now.x - before.x) + Math.abs(now.y - before.y);
      if (moved < 4) return;
      // Only now: a click's target would be the drawing.
      if (!host.hasPointerCapture(event.pointerId)) host.setPointerCapture(event.pointerId);
      host.classList.add('moving');
      const [other] = [...pointers].filter(([id]) => id !== event.pointerId).map(([, point]) => point);
      if (other) {
        const apart = (point) => Math.hypot(point.x - other.x, point.y - other.y) || 1;
        this.zoom(apart(now) / apart(before), { x: (now.x + other.x) / 2, y: (now.y + other.y) / 2 });
      } else {
        this.pan(now.x - before.x, now.y - before.y);
      }
      pointers.set(event.pointerId, now);
    };
    const ended = (event) => {
      pointers.delete(event.pointerId);
      if (pointers.size === 0) host.classList.remove('moving');
    };
    host.onpointerup = ended;
    host.onpointercancel = ended;
    host.onclick = (event) => {
      if (moved < 4) clicked(event);
    };
    host.addEventListener(
      'wheel',
      (event) => {
        event.preventDefault();
        const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 20 : 1;
        this.zoom(Math.exp(-event.deltaY * lines * 0.0016), inside(event));
      },
      { passive: false },
    );
  }
}
