// The photos of one class: look, select, move to another class, remove.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { change, ClassPage, get, largePhoto, PhotoEntry, PhotoPage, thumbnail } from "./api";
import { Dialog, FieldError } from "./dialog";
import { ACCEPT, add, picked } from "./files";
import { Icon } from "./icons";
import { attempt, done, notify, useShared, wrongWith } from "./store";
import { view } from "./viewer";
import { Part, usePages, useWindow } from "./virtual";

const TILE = 104;
const PAGE = 120;

// Asks for the class to move photos to; suggests names while one types. `move` resolves to what is wrong with the name.
function MoveTo({ move, from }: { move: (to: string) => Promise<string>; from: string }) {
  const [name, setName] = useState("");
  const [names, setNames] = useState<string[]>([]);
  const [wrong, setWrong] = useState("");
  useEffect(() => {
    let live = true;
    get<ClassPage>("/api/classes", { limit: 20, search: name, sort: "name" })
      .then((page) => { if (live) setNames(page.classes.map((entry) => entry.name).filter((other) => other !== from)); })
      .catch(() => { /* the list stays as it is */ });
    return () => { live = false; };
  }, [name]);
  return (
    <form onSubmit={(event) => { event.preventDefault(); if (name.trim()) void move(name.trim()).then(setWrong); }}>
      <div class="row">
        <input aria-label="Class to move to" list="move-names" placeholder="Move to class…" value={name} aria-invalid={wrong !== ""} aria-describedby="move-wrong"
               onInput={(event) => { setName(event.currentTarget.value); setWrong(""); }} />
        <datalist id="move-names">{names.map((other) => <option key={other} value={other} />)}</datalist>
        <button type="submit" disabled={!name.trim()}>Move</button>
      </div>
      <FieldError id="move-wrong" text={wrong} />
    </form>
  );
}

const plural = (photos: number) => (photos === 1 ? "1 photo" : `${photos} photos`);

export function ClassView({ name, close, renamed }: { name: string; close: () => void; renamed: (to: string) => void }) {
  const { state } = useShared();
  const box = useRef<HTMLDivElement>(null);
  const input = useRef<HTMLInputElement>(null);
  const [total, setTotal] = useState(0);
  const [chosen, setChosen] = useState<Set<string>>(new Set());
  const [title, setTitle] = useState(name);
  const [wrong, setWrong] = useState("");
  const [columns, setColumns] = useState(4);
  const [here, setHere] = useState(0);  // the photo that Tab reaches; arrow keys go on from there
  const follow = useRef(false);         // whether the focus goes there
  const window_ = useWindow(box, Math.ceil(total / columns), TILE, 2);
  useEffect(() => { if (window_.width) setColumns(Math.max(2, Math.floor(window_.width / TILE))); }, [window_.width]);
  const load = async (offset: number, limit: number) => {
    const page = await get<PhotoPage>("/api/photos", { class: name, offset, limit });
    return { total: page.total, gone: page.gone, entries: page.photos };
  };
  const taken = (part: Part<PhotoEntry>) => {
    setTotal(part.total);
    if (part.gone) close();
  };
  const { at } = usePages<PhotoEntry>(`${state?.id} ${name}`, state?.revision, window_.first * columns, window_.last * columns, PAGE, load, taken);
  useLayoutEffect(() => {
    if (!follow.current) return;
    const tile = box.current?.querySelector<HTMLElement>(`[data-place="${here}"]`);
    if (!tile) return;
    follow.current = false;
    tile.focus();
  });
  const toggle = (id: string) => setChosen((old) => {
    const next = new Set(old);
    if (!next.delete(id)) next.add(id);
    return next;
  });
  const go = (to: number) => {
    const place = Math.min(total - 1, Math.max(0, to));
    const element = box.current;
    const top = Math.floor(place / columns) * TILE;
    if (element && top < element.scrollTop) element.scrollTop = top;
    if (element && top + TILE > element.scrollTop + element.clientHeight) element.scrollTop = top + TILE - element.clientHeight;
    follow.current = true;
    setHere(place);
  };
  const enlarge = (index: number) => view({ total, index, load: async (place) => {
    const photo = (await load(place, 1)).entries[0];
    return photo && { address: largePhoto(photo.id), caption: photo.name };
  } });
  const keys = (event: KeyboardEvent) => {
    if (!(event.target as HTMLElement).dataset.place) return;  // a tick has its own keys
    const steps: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns };
    const step = steps[event.key];
    const photo = at(here);
    if (step !== undefined) go(here + step);
    else if (event.key === "Home") go(0);
    else if (event.key === "End") go(total - 1);
    else if (event.key === " " && photo) toggle(photo.id);
    else return;
    event.preventDefault();
  };
  const ids = [...chosen];
  const removePhotos = () => attempt(async () => {
    const made = await change("remove", { photos: ids });
    setChosen(new Set());
    notify(`Removed ${plural(ids.length)} from ${name}.`, { done: done(made) });
  });
  const move = (to: string) => wrongWith(async () => {
    const made = await change("move", { photos: ids, to });
    setChosen(new Set());
    notify(`Moved ${plural(ids.length)} to ${to}.`, { done: done(made) });
  });
  const removeClass = () => attempt(async () => {
    const made = await change("remove_class", { name });
    close();
    notify(`Removed ${name}.`, { done: done(made) });
  });
  const rename = (event: Event) => {
    event.preventDefault();
    const to = title.trim();
    if (to && to !== name) void wrongWith(async () => { await change("rename_class", { name, to }); renamed(to); }).then(setWrong);
  };
  const first = window_.first * columns;
  const last = Math.min(window_.last * columns, total);
  const stop = here >= first && here < last ? here : first;  // one that is drawn
  const tiles = [];
  for (let i = first; i < last; ++i) {
    const photo = at(i);
    const style = { transform: `translate(${(i % columns) * TILE}px, ${Math.floor(i / columns) * TILE}px)` };
    if (!photo) continue;
    const label = photo.error ? `${photo.name}: ${photo.error}` : photo.name;
    tiles.push(
      <li key={photo.id} class={chosen.has(photo.id) ? "tile-box chosen" : "tile-box"} style={style}>
        <button type="button" class={photo.error ? "tile broken" : "tile"} title={label} aria-label={chosen.has(photo.id) ? `${label}, chosen` : label} data-photo={photo.id} data-place={i}
                tabIndex={i === stop ? 0 : -1} aria-describedby="tile-keys" onFocus={() => setHere(i)} onClick={() => enlarge(i)}>
          <img src={thumbnail(photo.id)} alt="" width="92" height="92" decoding="async" />
        </button>
        <button type="button" class="tile-check" aria-pressed={chosen.has(photo.id)} aria-label={`Choose ${photo.name}`} title="Choose" tabIndex={-1} onClick={() => toggle(photo.id)}>
          <Icon name="check" />
        </button>
      </li>);
  }
  return (
    <Dialog title={name} close={close} kind="wide">
      <div class="row wrap">
        <form class="row" onSubmit={rename}>
          <input aria-label="Name of the class" value={title} maxLength={100} aria-invalid={wrong !== ""} aria-describedby="rename-wrong"
                 onInput={(event) => { setTitle(event.currentTarget.value); setWrong(""); }} />
          <button type="submit" disabled={!title.trim() || title.trim() === name}>Rename</button>
        </form>
        <input ref={input} type="file" accept={ACCEPT} multiple hidden
               onChange={(event) => { void add(new Map([[name, picked(event.currentTarget.files).map(({ file }) => file)]])); }} />
        <button type="button" onClick={() => input.current?.click()}>Add photos…</button>
        <button type="button" class="danger" onClick={() => void removeClass()}>Remove class</button>
      </div>
      <FieldError id="rename-wrong" text={wrong} />
      <p class="dim" aria-live="polite">{ids.length ? `${ids.length} of ${total} chosen` : `${plural(total)}. Click one to enlarge it; tick its corner to move or remove it.`}</p>
      <p id="tile-keys" class="hidden">Arrow keys go through the photos, Enter enlarges one, Space chooses it.</p>
      <div class="scroll photo-scroll" ref={box} role="group" aria-label={`Photos of ${name}`}>
        <ul class="virtual" style={{ height: `${Math.ceil(total / columns) * TILE}px` }} aria-label="Photos" onKeyDown={keys}>{tiles}</ul>
      </div>
      {ids.length > 0 && (
        <div class="row wrap">
          <MoveTo move={move} from={name} />
          <button type="button" class="danger" onClick={() => void removePhotos()}>Remove chosen</button>
          <button type="button" onClick={() => setChosen(new Set())}>Choose none</button>
        </div>
      )}
    </Dialog>
  );
}
