// The map: every photo and every prototype in a plane, on a canvas, by pointer or by keyboard.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { ClassMap, get, thumbnail } from "./api";
import { useShared } from "./store";
import { IconButton } from "./icons";

const LABELS = 60;   // names drawn at once
const LABEL_HEIGHT = 16;
const LABEL_GAP = 9;  // from the middle of the mark to its name
const REACH = 14;    // distance in pixels within which the pointer selects a point
const MOST_ZOOM = 40;
const TIP_WIDE = 168;   // of the box that shows the photo under the pointer, as studio.css has it
const TIP_HIGH = 192;
const TIP_NARROW = 160;
const MARGIN = 0.86; // of the canvas at first; what is left keeps names off its edges

interface View { scale: number; x: number; y: number }  // the middle of the canvas, in units of the map
interface Label { name: string; left: number; top: number; wide: number }
interface Spot { index: number; photo: boolean }         // a prototype, or a photo

// Fetched when the map is shown, and again when there is a newer one.
function useMap(): ClassMap | null {
  const { state } = useShared();
  const [map, setMap] = useState<ClassMap | null>(null);
  useEffect(() => {
    let live = true;
    get<ClassMap>("/api/map").then((answer) => { if (live) setMap(answer.classes.length ? answer : null); }).catch(() => { /* told elsewhere */ });
    return () => { live = false; };
  }, [state?.id, state?.map]);
  return map;
}

// Half the width that shows nearly all photos; a few outliers do not make the rest small.
function extent(map: ClassMap): number {
  const far = map.photos.x.map((x, i) => Math.max(Math.abs(x), Math.abs(map.photos.y[i] ?? 0))).sort((a, b) => a - b);
  return Math.max(map.units, far[Math.floor(0.98 * (far.length - 1))] ?? 0);
}

// Neighbouring classes get colours that are far apart.
const colour = (index: number, dark: boolean) => `hsl(${(index * 137.5) % 360} ${dark ? "60% 62%" : "55% 42%"})`;

class Painter {
  private readonly width: number;
  private readonly height: number;
  private readonly unit: number;  // pixels per unit of the map
  constructor(readonly map: ClassMap, readonly canvas: HTMLCanvasElement, readonly view: View, reach: number) {
    this.width = canvas.clientWidth;
    this.height = canvas.clientHeight;
    this.unit = (view.scale * MARGIN * Math.min(this.width, this.height)) / 2 / reach;
  }

  place(x: number, y: number): [number, number] {
    return [this.width / 2 + (x - this.view.x) * this.unit, this.height / 2 - (y - this.view.y) * this.unit];
  }
  spotPlace({ index, photo }: Spot): [number, number] {
    const points = photo ? this.map.photos : this.map.prototypes;
    return this.place(points.x[index] ?? 0, points.y[index] ?? 0);
  }
  moved(pixels: number): number { return pixels / this.unit; }
  // In units of the map, to the right and down.
  fromMiddle(x: number, y: number): [number, number] { return [(x - this.width / 2) / this.unit, (y - this.height / 2) / this.unit]; }
  // A box of that size beside a place, inside the canvas.
  beside([x, y]: [number, number], wide: number, high: number): { left: string; top: string } {
    const left = Math.min(this.width - wide - 4, Math.max(4, x - wide / 2));
    const top = y + 14 + high > this.height ? Math.max(4, y - 14 - high) : y + 14;
    return { left: `${left}px`, top: `${top}px` };
  }

  nearest(x: number, y: number): Spot | null {
    let best: Spot | null = null;
    let distance = REACH / this.unit;
    // In units of the map; photos count as a little farther than prototypes.
    const [mx, my] = [(x - this.width / 2) / this.unit + this.view.x, (this.height / 2 - y) / this.unit + this.view.y];
    for (const photo of [false, true]) {
      const points = photo ? this.map.photos : this.map.prototypes;
      for (let index = 0; index < points.x.length; ++index) {
        const far = Math.max(Math.abs((points.x[index] ?? 0) - mx), Math.abs((points.y[index] ?? 0) - my)) + (photo ? 3 / this.unit : 0);
        if (far < distance) { distance = far; best = { index, photo }; }
      }
    }
    return best;
  }

  draw() {
    const { canvas, map, width, height } = this;
    const ratio = window.devicePixelRatio || 1;
    if (canvas.width !== Math.round(width * ratio)) canvas.width = Math.round(width * ratio);
    if (canvas.height !== Math.round(height * ratio)) canvas.height = Math.round(height * ratio);
    const context = canvas.getContext("2d");
    if (!context) return;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    const style = getComputedStyle(canvas);
    const dark = style.colorScheme === "dark";
    const side = map.photos.x.length > 4000 ? 2 : map.photos.x.length > 400 ? 3 : 5;
    context.globalAlpha = 0.55;
    let label = -1;
    for (let i = 0; i < map.photos.x.length; ++i) {
      const [x, y] = this.place(map.photos.x[i] ?? 0, map.photos.y[i] ?? 0);
      if (x < 0 || y < 0 || x > width || y > height) continue;
      if (map.photos.class[i] !== label) context.fillStyle = colour(label = map.photos.class[i] ?? 0, dark);
      context.fillRect(x - side / 2, y - side / 2, side, side);
    }
    context.globalAlpha = 1;
    this.drawPrototypes(context, style, dark);
  }

  // Of places above, below, right and left of its mark, a name takes the first that is inside the canvas and covers no other name; one
  // without such a place is left out until there is room.
  private placeNames(context: CanvasRenderingContext2D, seen: { name: string; at: [number, number] }[]): Label[] {
    const placed: Label[] = [];
    for (const { name, at: [x, y] } of seen) {
      if (placed.length >= LABELS) break;
      const wide = context.measureText(name).width + 6;
      const beside: [number, number][] = [[x - wide / 2, y - LABEL_GAP - LABEL_HEIGHT], [x - wide / 2, y + LABEL_GAP],
                                          [x + LABEL_GAP, y - LABEL_HEIGHT / 2], [x - LABEL_GAP - wide, y - LABEL_HEIGHT / 2]];
      const moved = beside.map(([left, top]): Label => ({ name, left: Math.min(this.width - wide - 2, Math.max(2, left)), top: Math.min(this.height - LABEL_HEIGHT - 2, Math.max(2, top)), wide }));
      const free = moved.find((label) => placed.every((other) => label.left + label.wide < other.left || other.left + other.wide < label.left ||
                                                                  label.top + LABEL_HEIGHT < other.top || other.top + LABEL_HEIGHT < label.top));
      if (free) placed.push(free);
    }
    return placed;
  }

  // Returns the names that were drawn, for tests to look at.
  private drawPrototypes(context: CanvasRenderingContext2D, style: CSSStyleDeclaration, dark: boolean) {
    const { map } = this;
    context.textAlign = "left";
    context.textBaseline = "middle";
    context.font = `13px ${style.fontFamily}`;
    context.lineWidth = 4;
    context.lineJoin = "round";
    const seen = map.classes.map((name, index) => ({ name, index, at: this.spotPlace({ index, photo: false }) }))
      .filter(({ at: [x, y] }) => x > 0 && y > 0 && x < this.width && y < this.height);
    for (const { index, at: [x, y] } of seen) {
      context.fillStyle = colour(index, dark);
      context.beginPath();
      context.arc(x, y, seen.length > 300 ? 3 : 6, 0, 2 * Math.PI);
      context.fill();
    }
    const labels = this.placeNames(context, seen);
    for (const { name, left, top } of labels) {
      context.strokeStyle = style.backgroundColor;
      context.fillStyle = style.color;
      context.strokeText(name, left + 3, top + LABEL_HEIGHT / 2);
      context.fillText(name, left + 3, top + LABEL_HEIGHT / 2);
    }
    this.canvas.dataset.labels = JSON.stringify(labels.map(({ left, top, wide }) => [left, top, wide, LABEL_HEIGHT].map(Math.round)));
  }
}

// The nearest prototype in a direction; sideways distance counts three times.
function next(painter: Painter, from: number, dx: number, dy: number): number {
  const [x, y] = painter.spotPlace({ index: from, photo: false });
  let best = from;
  let least = Infinity;
  painter.map.classes.forEach((_, index) => {
    const [px, py] = painter.spotPlace({ index, photo: false });
    const along = (px - x) * dx + (py - y) * dy;
    if (index === from || along <= 0) return;
    const cost = along + 3 * Math.abs((px - x) * dy - (py - y) * dx);
    if (cost < least) { least = cost; best = index; }
  });
  return best;
}

// `painter` draws the view as it is on the screen; x and y of the point are in pixels.
function zoomedView(old: View, factor: number, painter: Painter | null, point?: [number, number]): View {
  const scale = Math.min(MOST_ZOOM, Math.max(1, old.scale * factor));
  if (scale === 1) return { scale, x: 0, y: 0 };
  if (!point || !painter) return { ...old, scale };
  const [dx, dy] = painter.fromMiddle(...point);
  const kept = (1 - old.scale / scale) * (painter.view.scale / old.scale);  // it may not have drawn the latest view yet
  return { scale, x: old.x + dx * kept, y: old.y - dy * kept };
}

const ARROWS: Record<string, [number, number]> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

export function ClassMapView({ open }: { open: (name: string) => void }) {
  const map = useMap();
  const canvas = useRef<HTMLCanvasElement>(null);
  const pointers = useRef(new Map<number, [number, number]>());  // that are down; two of them pinch
  const travelled = useRef(0);                                   // pixels since the first came down: a click moves hardly
  const [view, setView] = useState<View>({ scale: 1, x: 0, y: 0 });
  const [chosen, setChosen] = useState<Spot | null>(null);
  const [size, setSize] = useState(0);
  const reach = useMemo(() => (map ? extent(map) : 1), [map]);
  const painter = map && canvas.current ? new Painter(map, canvas.current, view, reach) : null;
  useEffect(() => {
    const element = canvas.current;
    if (!element) return;
    const again = () => setSize((count) => count + 1);
    const observer = new ResizeObserver(again);
    observer.observe(element);
    const theme = new MutationObserver(again);
    theme.observe(document.documentElement, { attributes: true });
    return () => { observer.disconnect(); theme.disconnect(); };
  }, [map]);
  useEffect(() => {
    if (!map || !canvas.current) return;
    const frame = requestAnimationFrame(() => { if (canvas.current) new Painter(map, canvas.current, view, reach).draw(); });
    return () => cancelAnimationFrame(frame);
  }, [map, view, size]);
  useEffect(() => setChosen(null), [map]);
  const latest = useRef<Painter | null>(null);
  latest.current = painter;
  useEffect(() => {
    const element = canvas.current;
    if (!element) return;
    const wheel = (event: WheelEvent) => {
      event.preventDefault();
      const box = element.getBoundingClientRect();
      setView((old) => zoomedView(old, Math.exp(-event.deltaY / 300), latest.current, [event.clientX - box.left, event.clientY - box.top]));
    };
    element.addEventListener("wheel", wheel, { passive: false });  // a passive one could not keep the page from scrolling
    return () => element.removeEventListener("wheel", wheel);
  }, [map]);
  if (!map) return <p class="dim">The map is drawn once there is a model.</p>;

  // What is under the point, or in the middle, stays where it is.
  const zoom = (factor: number, point?: [number, number]) => setView((old) => zoomedView(old, factor, painter, point));
  const classOf = (spot: Spot) => (spot.photo ? map.photos.class[spot.index] : spot.index) ?? 0;
  const said = chosen ? `${map.classes[classOf(chosen)]}, ${map.counts[classOf(chosen)]} photos` : "";
  const at = (event: PointerEvent): [number, number] => {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const press = (event: PointerEvent) => {
    if (!pointers.current.size) travelled.current = 0;
    pointers.current.set(event.pointerId, at(event));
    (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
  };
  const move = (event: PointerEvent) => {
    if (!painter) return;
    const before = pointers.current.get(event.pointerId);
    if (!before) { setChosen(painter.nearest(...at(event))); return; }
    const now: [number, number] = at(event);
    const other = [...pointers.current].find(([id]) => id !== event.pointerId)?.[1];
    pointers.current.set(event.pointerId, now);
    const [dx, dy] = [now[0] - before[0], now[1] - before[1]];
    travelled.current += Math.abs(dx) + Math.abs(dy) + (other ? 5 : 0);
    if (other) {
      const apart = (point: [number, number]) => Math.max(1, Math.hypot(point[0] - other[0], point[1] - other[1]));
      zoom(apart(now) / apart(before), [(now[0] + other[0]) / 2, (now[1] + other[1]) / 2]);
    } else {
      setView((old) => ({ ...old, x: old.x - painter.moved(dx), y: old.y + painter.moved(dy) }));
    }
  };
  const release = (event: PointerEvent) => {
    const spot = pointers.current.size === 1 && travelled.current < 5 ? painter?.nearest(...at(event)) : null;
    pointers.current.delete(event.pointerId);
    if (spot) open(map.classes[classOf(spot)] ?? "");
  };
  const keys = (event: KeyboardEvent) => {
    const arrow = ARROWS[event.key];
    if (arrow && painter) setChosen({ index: chosen ? next(painter, classOf(chosen), ...arrow) : 0, photo: false });
    else if (event.key === "Enter" && chosen) open(map.classes[classOf(chosen)] ?? "");
    else if (event.key === "+") zoom(1.6);
    else if (event.key === "-") zoom(1 / 1.6);
    else return;
    event.preventDefault();
  };
  const place = chosen && painter ? painter.spotPlace(chosen) : null;
  return (
    <div>
      <div class="row">
        <p class="dim grow">Near means alike to the backbone. {Math.round(100 * map.shown)} % of the differences between classes lie in this plane.</p>
        <IconButton icon="plus" label="Zoom in" disabled={view.scale === MOST_ZOOM} onClick={() => zoom(1.6)} />
        <IconButton icon="minus" label="Zoom out" disabled={view.scale === 1} onClick={() => zoom(1 / 1.6)} />
      </div>
      <div class="map-box">
        <canvas ref={canvas} class="map" tabIndex={0} role="application" data-classes={map.classes.length} data-photos={map.photos.x.length}
                data-zoom={view.scale.toFixed(2)}
                aria-label={`Map of ${map.classes.length} classes. Arrow keys go from class to class, Enter opens one, plus and minus zoom.`}
                onPointerDown={press}
                onPointerMove={move} onPointerUp={release} onPointerCancel={(event) => { pointers.current.delete(event.pointerId); }}
                onPointerLeave={() => { if (!pointers.current.size) setChosen(null); }} onKeyDown={keys} />
        {place && <div class="map-ring" style={{ left: `${place[0]}px`, top: `${place[1]}px` }} aria-hidden="true" />}
        {chosen && place && (
          <div class="map-tip" style={painter?.beside(place, chosen.photo ? TIP_WIDE : TIP_NARROW, chosen.photo ? TIP_HIGH : 32)} aria-hidden="true">
            {chosen.photo && <img src={thumbnail(map.photos.id[chosen.index] ?? "", 384)} alt="" width="144" height="144" />}
            <span>{map.classes[classOf(chosen)]}</span>
          </div>
        )}
      </div>
      <p class="hidden" aria-live="polite">{said}</p>
    </div>
  );
}
