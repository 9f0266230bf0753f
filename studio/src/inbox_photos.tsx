// The photos of one group as tiles: choose them by click, Shift and click, or by dragging the mouse across them.
import { useRef, useState } from "preact/hooks";
import { thumbnail } from "./api";
import { InboxPhoto, percent } from "./inbox_api";
import { useWindow } from "./virtual";

const TILE = 104;
const DRAG = 6;  // pixels from which a press is a drag

interface Band { left: number; top: number; right: number; bottom: number }
interface Properties { photos: InboxPhoto[]; suggestion: string; chosen: Set<string>; choose: (chosen: Set<string>) => void }

export function PhotoTiles({ photos, suggestion, chosen, choose }: Properties) {
  const box = useRef<HTMLDivElement>(null);
  const [columns, setColumns] = useState(4);
  const [band, setBand] = useState<Band | null>(null);
  const last = useRef(-1);  // tile that was clicked before, where a range begins
  const dragged = useRef(false);
  const rows = Math.ceil(photos.length / columns);
  const window_ = useWindow(box, rows, TILE, 2);
  const fitting = Math.max(2, Math.floor(window_.width / TILE));
  if (window_.width && fitting !== columns) setColumns(fitting);

  const click = (index: number, id: string, range: boolean) => {
    if (dragged.current) return;
    const next = new Set(chosen);
    if (range && last.current >= 0) {
      for (let i = Math.min(last.current, index); i <= Math.max(last.current, index); ++i) {
        const photo = photos[i];
        if (photo) next.add(photo.id);
      }
    } else if (!next.delete(id)) {
      next.add(id);
    }
    last.current = index;
    choose(next);
  };
  const place = (event: PointerEvent) => {
    const element = box.current as HTMLElement;
    const { left, top } = element.getBoundingClientRect();
    return { x: event.clientX - left, y: event.clientY - top + element.scrollTop };
  };
  const press = (event: PointerEvent) => {
    dragged.current = false;
    const element = box.current;
    if (!element || event.pointerType !== "mouse" || event.button !== 0) return;
    const from = place(event);
    if (from.x >= element.clientWidth) return;  // the scroll bar
    const kept = event.ctrlKey || event.metaKey || event.shiftKey ? chosen : new Set<string>();
    const move = (moved: PointerEvent) => {
      const to = place(moved);
      if (!dragged.current && Math.hypot(to.x - from.x, to.y - from.y) < DRAG) return;
      dragged.current = true;
      const { top, bottom } = element.getBoundingClientRect();
      if (moved.clientY > bottom - 20) element.scrollTop += 20;
      if (moved.clientY < top + 20) element.scrollTop -= 20;
      const area = { left: Math.min(from.x, to.x), right: Math.max(from.x, to.x), top: Math.min(from.y, to.y), bottom: Math.max(from.y, to.y) };
      const next = new Set(kept);
      for (let row = Math.max(0, Math.floor(area.top / TILE)); row <= Math.floor(area.bottom / TILE); ++row) {
        for (let column = Math.max(0, Math.floor(area.left / TILE)); column <= Math.min(columns - 1, Math.floor(area.right / TILE)); ++column) {
          const photo = photos[row * columns + column];
          if (photo) next.add(photo.id);
        }
      }
      setBand(area);
      choose(next);
    };
    const end = () => {
      setBand(null);
      window.removeEventListener("pointermove", move);
      window.removeEventListener("pointerup", end);
      window.removeEventListener("pointercancel", end);
    };
    window.addEventListener("pointermove", move);
    window.addEventListener("pointerup", end);
    window.addEventListener("pointercancel", end);
  };

  const tiles = [];
  for (let i = window_.first * columns; i < Math.min(window_.last * columns, photos.length); ++i) {
    const photo = photos[i];
    if (!photo) continue;
    const sure = suggestion ? `, ${percent(photo.sure)} ${suggestion}` : "";
    const label = `${photo.name}${sure}${photo.doubtful ? ", doubtful" : ""}`;
    tiles.push(
      <li key={photo.id} class="tile-box" style={{ transform: `translate(${(i % columns) * TILE}px, ${Math.floor(i / columns) * TILE}px)` }}>
        <button type="button" class={photo.doubtful ? "tile inbox-keys doubtful" : "tile inbox-keys"} aria-pressed={chosen.has(photo.id)} title={label} aria-label={label}
                data-photo={photo.id} onClick={(event) => click(i, photo.id, event.shiftKey)}>
          <img src={thumbnail(photo.id)} alt="" width="92" height="92" decoding="async" draggable={false} />
          {photo.doubtful && <span class="inbox-doubt" aria-hidden="true">{percent(photo.sure)}</span>}
        </button>
      </li>);
  }
  return (
    <div class="scroll inbox-tiles" ref={box} tabIndex={0} role="group" aria-label="Photos of the group" onPointerDown={press}>
      <ul class="virtual" style={{ height: `${rows * TILE}px` }} aria-label="Photos">{tiles}</ul>
      {band && <div class="inbox-band" style={{ left: `${band.left}px`, top: `${band.top}px`, width: `${band.right - band.left}px`, height: `${band.bottom - band.top}px` }} />}
    </div>
  );
}
