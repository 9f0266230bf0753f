// What the data says about itself: the map of classes, pairs that are confused, findings with a fix at a click.
import { useEffect, useRef, useState } from "preact/hooks";
import { Analysis, change, Confused, Finding, get, thumbnail } from "./api";
import { attempt, notify, useShared } from "./store";
import { Icon } from "./icons";

const SIZE = 640;
const LABELS = 60;  // names drawn at once; more would cover one another

// Fetched when it is looked at, and again when there is a newer one.
export function useAnalysis(visible: boolean): Analysis | null {
  const { state } = useShared();
  const [analysis, setAnalysis] = useState<Analysis | null>(null);
  useEffect(() => {
    if (!visible || !state) return;
    let live = true;
    get<Analysis>("/api/analysis").then((answer) => { if (live) setAnalysis(answer); }).catch(() => { /* told elsewhere */ });
    return () => { live = false; };
  }, [visible, state?.folder, state?.analysis_current, state?.revision]);
  return analysis;
}

export function ClassMapView({ analysis, open }: { analysis: Analysis | null; open: (name: string) => void }) {
  const [zoom, setZoom] = useState({ scale: 1, x: 0, y: 0 });
  const drag = useRef<{ x: number; y: number } | null>(null);
  const map = analysis?.map;
  if (!map) return <p class="dim">The map is drawn once there is a model.</p>;
  const place = (x: number, y: number) => ({
    x: SIZE / 2 + (x * 0.44 * SIZE + zoom.x) * zoom.scale,
    y: SIZE / 2 - (y * 0.44 * SIZE - zoom.y) * zoom.scale,
  });
  const points = map.points.map(([name, x, y, photos]) => ({ name, photos, ...place(x, y) }))
    .filter(({ x, y }) => x > 0 && y > 0 && x < SIZE && y < SIZE);
  // A name is drawn where no other name stands.
  const taken: { x: number; y: number }[] = [];
  const named = new Set<string>();
  for (const point of points) {
    if (named.size >= LABELS || taken.some(({ x, y }) => Math.abs(x - point.x) < 92 && Math.abs(y - point.y) < 16)) continue;
    taken.push(point);
    named.add(point.name);
  }
  const step = (factor: number) => setZoom((old) => ({ ...old, scale: Math.min(40, Math.max(1, old.scale * factor)), ...(old.scale * factor <= 1 ? { x: 0, y: 0 } : {}) }));
  return (
    <div>
      <div class="row">
        <p class="dim grow">Near means alike to the backbone. {Math.round(100 * map.shown)} % of the differences lie in this plane.</p>
        <button type="button" class="icon" aria-label="Zoom in" onClick={() => step(1.6)}><Icon name="plus" /></button>
        <button type="button" class="icon" aria-label="Zoom out" onClick={() => step(1 / 1.6)}><Icon name="minus" /></button>
      </div>
      <svg class="map" viewBox={`0 0 ${SIZE} ${SIZE}`} role="group" aria-label={`Map of ${map.points.length} classes`}
           onPointerDown={(event) => { drag.current = { x: event.clientX, y: event.clientY }; }}
           onPointerUp={() => { drag.current = null; }} onPointerLeave={() => { drag.current = null; }}
           onPointerMove={(event) => {
             if (!drag.current) return;
             const move = { x: event.clientX - drag.current.x, y: event.clientY - drag.current.y };
             drag.current = { x: event.clientX, y: event.clientY };
             setZoom((old) => ({ ...old, x: old.x + move.x / old.scale, y: old.y + move.y / old.scale }));
           }}>
        {points.map(({ name, photos, x, y }) => (
          <g key={name} class="point" tabIndex={points.length <= 100 ? 0 : -1} role="button" aria-label={`${name}, ${photos} photos: open`}
             onClick={() => open(name)} onKeyDown={(event) => { if (event.key === "Enter" || event.key === " ") open(name); }}>
            <title>{name}</title>
            <circle cx={x} cy={y} r="14" class="halo" />
            <circle cx={x} cy={y} r={Math.min(9, 3 + Math.sqrt(photos))} />
            {named.has(name) && <text x={x} y={y - 10} text-anchor="middle">{name}</text>}
          </g>
        ))}
      </svg>
    </div>
  );
}

const SENTENCES: Record<string, (finding: Finding) => string> = {
  mislabelled: ({ name, other }) => `In ${name}, looks like ${other}`,
  duplicate: ({ name, other }) => `The same picture twice: ${name} and ${other || name}`,
  "near-duplicate": ({ name, other }) => `Nearly the same picture twice: ${name}${other && other !== name ? ` and ${other}` : ""}`,
  outlier: ({ name }) => `In ${name}, unlike every other photo`,
};

function Shot({ id, open }: { id: string; open: () => void }) {
  return <button type="button" class="shot" aria-label="Open its class" onClick={open}><img src={thumbnail(id)} alt="" width="64" height="64" loading="lazy" /></button>;
}

function FindingRow({ finding, open }: { finding: Finding; open: (name: string) => void }) {
  const sentence = SENTENCES[finding.kind]?.(finding) ?? `${finding.kind}: ${finding.name}`;
  const { photo, other, name } = finding;
  const relabel = () => attempt(async () => {
    await change("move", { photos: [photo], to: other });
    notify(`Moved to ${other}.`, { undo: true });
  });
  const remove = () => attempt(async () => {
    await change("remove", { photos: [photo] });
    notify("Removed the photo.", { undo: true });
  });
  return (
    <li class="finding">
      {photo && <Shot id={photo} open={() => open(name)} />}
      {finding.other_photo && <Shot id={finding.other_photo} open={() => open(other || name)} />}
      <span class="grow">{sentence}</span>
      <span class="buttons">
        {finding.kind === "mislabelled" && other && <button type="button" onClick={() => void relabel()}>Move to {other}</button>}
        {photo && <button type="button" onClick={() => void remove()}>Remove</button>}
      </span>
    </li>
  );
}

function ConfusedRow({ pair, open }: { pair: Confused; open: (name: string) => void }) {
  return (
    <li class="finding">
      {pair.photos.slice(0, 2).map((id) => <Shot key={id} id={id} open={() => open(pair.name)} />)}
      <span class="grow">{pair.count} of {pair.of} {pair.of === 1 ? "photo" : "photos"} of <strong>{pair.name}</strong> {pair.count === 1 ? "looks" : "look"} more like <strong>{pair.taken_for}</strong></span>
      <button type="button" onClick={() => open(pair.name)}>Look</button>
    </li>
  );
}

export function Findings({ analysis, open }: { analysis: Analysis | null; open: (name: string) => void }) {
  const [shown, setShown] = useState(20);
  if (!analysis) return <p class="dim">Looking…</p>;
  const findings = analysis.findings ?? [];
  const confused = analysis.confused ?? [];
  const remove = (id: string) => attempt(async () => {
    await change("remove", { photos: [id] });
    notify("Removed the photo.", { undo: true });
  });
  return (
    <div class="findings">
      {analysis.broken.length > 0 && (
        <section aria-label="Photos that cannot be read">
          <h2 class="sub">Photos that cannot be read</h2>
          <ul>
            {analysis.broken.slice(0, 50).map(({ photo, reason, name }) => (
              <li key={photo} class="finding">
                <span class="grow"><strong>{name}</strong>: {reason}</span>
                <button type="button" onClick={() => void remove(photo)}>Remove</button>
              </li>
            ))}
          </ul>
        </section>
      )}
      <section aria-label="What may be wrong">
        <h2 class="sub">What may be wrong</h2>
        {findings.length === 0
          ? <p class="dim">{analysis.findings ? "Nothing was found." : "This is looked at once there is a model."}</p>
          : <ul>{findings.slice(0, shown).map((finding) => <FindingRow key={`${finding.kind} ${finding.photo} ${finding.other_photo} ${finding.name}`} finding={finding} open={open} />)}</ul>}
        {findings.length > shown && <button type="button" onClick={() => setShown(shown + 50)}>Show more ({findings.length - shown})</button>}
      </section>
      <section aria-label="Confused classes">
        <h2 class="sub">Confused classes</h2>
        <p class="dim">Judged by the other photos of each class, without the model.</p>
        {confused.length === 0
          ? <p class="dim">None.</p>
          : <ul>{confused.slice(0, shown).map((pair) => <ConfusedRow key={`${pair.name} ${pair.taken_for}`} pair={pair} open={open} />)}</ul>}
      </section>
    </div>
  );
}
