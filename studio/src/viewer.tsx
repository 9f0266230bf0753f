// Photos at full size, one at a time: arrow keys walk, wheel and pinch zoom, dragging moves.
import { useEffect, useRef, useState } from "preact/hooks";
import { Dialog } from "./dialog";
import { IconButton } from "./icons";
import { current, update, useShared } from "./store";

export interface ViewedPhoto { address: string; caption: string }
export interface Viewed { total: number; index: number; load: (index: number) => Promise<ViewedPhoto | undefined> }

const MOST_ZOOM = 12;
const STEP = 1.5;

export const view = (viewed: Viewed | null) => update({ viewed });
export const viewAll = (photos: ViewedPhoto[], index: number) => view({ total: photos.length, index, load: async (at) => photos[at] });

interface Place { scale: number; x: number; y: number }  // x, y: how far the middle of the photo is from that of the stage, in pixels
const WHOLE: Place = { scale: 1, x: 0, y: 0 };

// What is under the point (x, y), measured from the middle of the stage, stays there.
export function zoomed({ scale, x, y }: Place, factor: number, [px, py]: [number, number]): Place {
  const next = Math.min(MOST_ZOOM, Math.max(1, scale * factor));
  if (next === 1) return WHOLE;
  const by = next / scale;
  return { scale: next, x: px - (px - x) * by, y: py - (py - y) * by };
}

// Pointers on the stage and where they are; two of them pinch.
function usePlace(stage: { current: HTMLElement | null }) {
  const [place, setPlace] = useState<Place>(WHOLE);
  const pointers = useRef(new Map<number, [number, number]>());
  const middle = (x: number, y: number): [number, number] => {
    const box = stage.current?.getBoundingClientRect();
    return box ? [x - box.left - box.width / 2, y - box.top - box.height / 2] : [0, 0];
  };
  useEffect(() => {
    const element = stage.current;
    if (!element) return;
    const wheel = (event: WheelEvent) => {
      event.preventDefault();
      setPlace((old) => zoomed(old, Math.exp(-event.deltaY / 300), middle(event.clientX, event.clientY)));
    };
    element.addEventListener("wheel", wheel, { passive: false });  // a passive one could not keep the page from scrolling
    return () => element.removeEventListener("wheel", wheel);
  }, []);
  const down = (event: PointerEvent) => {
    pointers.current.set(event.pointerId, [event.clientX, event.clientY]);
    (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
  };
  const up = (event: PointerEvent) => { pointers.current.delete(event.pointerId); };
  const move = (event: PointerEvent) => {
    const before = pointers.current.get(event.pointerId);
    if (!before) return;
    const now: [number, number] = [event.clientX, event.clientY];
    const other = [...pointers.current].find(([id]) => id !== event.pointerId)?.[1];
    pointers.current.set(event.pointerId, now);
    if (!other) {
      setPlace((old) => (old.scale === 1 ? old : { ...old, x: old.x + now[0] - before[0], y: old.y + now[1] - before[1] }));
      return;
    }
    const apart = (point: [number, number]) => Math.max(1, Math.hypot(point[0] - other[0], point[1] - other[1]));
    setPlace((old) => zoomed(old, apart(now) / apart(before), middle((now[0] + other[0]) / 2, (now[1] + other[1]) / 2)));
  };
  return { place, setPlace, down, up, move };
}

function Stage({ viewed }: { viewed: Viewed }) {
  const [index, setIndex] = useState(viewed.index);
  const [photo, setPhoto] = useState<ViewedPhoto | undefined>();
  const [unshown, setUnshown] = useState(false);
  const stage = useRef<HTMLDivElement>(null);
  const { place, setPlace, down, up, move } = usePlace(stage);
  useEffect(() => {
    let live = true;
    setUnshown(false);
    setPlace(WHOLE);
    viewed.load(index).then((loaded) => { if (live) setPhoto(loaded); }).catch(() => { if (live) setPhoto(undefined); });
    return () => { live = false; };
  }, [viewed, index]);
  useEffect(() => stage.current?.focus(), []);
  const walk = (by: number) => setIndex((old) => Math.min(viewed.total - 1, Math.max(0, old + by)));
  const zoom = (factor: number) => setPlace((old) => zoomed(old, factor, [0, 0]));
  const keys = (event: KeyboardEvent) => {
    if (event.key === "ArrowLeft") walk(-1);
    else if (event.key === "ArrowRight") walk(1);
    else if (event.key === "+" || event.key === "=") zoom(STEP);
    else if (event.key === "-") zoom(1 / STEP);
    else if (event.key === "0") setPlace(WHOLE);
    else return;
    event.preventDefault();
  };
  const caption = photo?.caption ?? "";
  return (
    <div class="viewer" onKeyDown={keys}>
      <div ref={stage} class="stage" tabIndex={0} role="group" aria-label={`${caption}. Arrow keys show the photos before and after, plus and minus zoom.`} data-zoom={place.scale.toFixed(2)}
           onPointerDown={down} onPointerMove={move} onPointerUp={up} onPointerCancel={up} onDblClick={() => setPlace(place.scale > 1 ? WHOLE : { ...WHOLE, scale: 3 })}>
        {photo && !unshown && <img src={photo.address} alt={caption} draggable={false} onError={() => setUnshown(true)}
                                   style={{ transform: `translate(${place.x}px, ${place.y}px) scale(${place.scale})` }} />}
        {unshown && <p class="dim">This photo cannot be shown.</p>}
      </div>
      <div class="row">
        <IconButton icon="left" label="Photo before" disabled={index === 0} onClick={() => walk(-1)} />
        <IconButton icon="right" label="Photo after" disabled={index >= viewed.total - 1} onClick={() => walk(1)} />
        <p class="grow viewer-caption" aria-live="polite">{caption}{viewed.total > 1 && <span class="dim"> {index + 1} of {viewed.total}</span>}</p>
        <IconButton icon="minus" label="Zoom out" disabled={place.scale === 1} onClick={() => zoom(1 / STEP)} />
        <IconButton icon="plus" label="Zoom in" disabled={place.scale === MOST_ZOOM} onClick={() => zoom(STEP)} />
      </div>
    </div>
  );
}

export function Viewer() {
  const { viewed } = useShared();
  if (!viewed) return null;
  return <Dialog title="Photo" kind="viewing" close={() => { if (current().viewed) view(null); }}><Stage viewed={viewed} /></Dialog>;
}
