// The map: every photo and every prototype in a plane, on a canvas, by pointer or by keyboard.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { ClassMap, get, thumbnail } from "./api";
import { useShared } from "./store";
import { Icon } from "./icons";

const LABELS = 60;   // names drawn at once; more would cover one another
const REACH = 14;    // distance in pixels within which the pointer selects a point
const MOST_ZOOM = 40;
const MARGIN = 0.9;  // of the canvas at first

interface View { scale: number; x: number; y: number }  // the middle of the canvas, in units of the map
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

  // A name is drawn only where it covers no other name.
  private drawPrototypes(context: CanvasRenderingContext2D, style: CSSStyleDeclaration, dark: boolean) {
    const { map } = this;
    const taken: [number, number][] = [];
    context.textAlign = "center";
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
    for (const { name, at: [x, y] } of seen) {
      if (taken.length >= LABELS || taken.some(([a, b]) => Math.abs(a - x) < 92 && Math.abs(b - y) < 18)) continue;
      taken.push([x, y]);
      context.strokeStyle = style.backgroundColor;
      context.fillStyle = style.color;
      context.strokeText(name, x, y - 9);
      context.fillText(name, x, y - 9);
    }
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

const ARROWS: Record<string, [number, number]> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

export function ClassMapView({ open }: { open: (name: string) => void }) {
  const map = useMap();
  const canvas = useRef<HTMLCanvasElement>(null);
  const drag = useRef<{ x: number; y: number; moved: number } | null>(null);
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
  if (!map) return <p class="dim">The map is drawn once there is a model.</p>;

  const zoom = (factor: number) => setView((old) => {
    const scale = Math.min(MOST_ZOOM, Math.max(1, old.scale * factor));
    return scale === 1 ? { scale, x: 0, y: 0 } : { ...old, scale };
  });
  const classOf = (spot: Spot) => (spot.photo ? map.photos.class[spot.index] : spot.index) ?? 0;
  const said = chosen ? `${map.classes[classOf(chosen)]}, ${map.counts[classOf(chosen)]} photos` : "";
  const at = (event: PointerEvent): [number, number] => {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const move = (event: PointerEvent) => {
    if (!painter) return;
    if (!drag.current) { setChosen(painter.nearest(...at(event))); return; }
    const [dx, dy] = [event.clientX - drag.current.x, event.clientY - drag.current.y];
    drag.current = { x: event.clientX, y: event.clientY, moved: drag.current.moved + Math.abs(dx) + Math.abs(dy) };
    setView((old) => ({ ...old, x: old.x - painter.moved(dx), y: old.y + painter.moved(dy) }));
  };
  const release = (event: PointerEvent) => {
    const spot = drag.current && drag.current.moved < 5 ? painter?.nearest(...at(event)) : null;
    drag.current = null;
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
        <button type="button" class="icon" aria-label="Zoom in" onClick={() => zoom(1.6)}><Icon name="plus" /></button>
        <button type="button" class="icon" aria-label="Zoom out" onClick={() => zoom(1 / 1.6)}><Icon name="minus" /></button>
      </div>
      <div class="map-box">
        <canvas ref={canvas} class="map" tabIndex={0} role="application" data-classes={map.classes.length} data-photos={map.photos.x.length}
                aria-label={`Map of ${map.classes.length} classes. Arrow keys go from class to class, Enter opens one.`}
                onPointerDown={(event) => { drag.current = { x: event.clientX, y: event.clientY, moved: 0 }; event.currentTarget.setPointerCapture(event.pointerId); }}
                onPointerMove={move} onPointerUp={release} onPointerCancel={() => { drag.current = null; }}
                onPointerLeave={() => { if (!drag.current) setChosen(null); }} onKeyDown={keys} />
        {place && <div class="map-ring" style={{ left: `${place[0]}px`, top: `${place[1]}px` }} aria-hidden="true" />}
        {chosen && place && (
          <div class="map-tip" style={{ left: `${place[0]}px`, top: `${place[1]}px` }} aria-hidden="true">
            {chosen.photo && <img src={thumbnail(map.photos.id[chosen.index] ?? "")} alt="" width="64" height="64" />}
            <span>{map.classes[classOf(chosen)]}</span>
          </div>
        )}
      </div>
      <p class="hidden" aria-live="polite">{said}</p>
    </div>
  );
}
