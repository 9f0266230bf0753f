// The photos of one class: look, select, move to another class, remove.
import { useEffect, useRef, useState } from "preact/hooks";
import { change, ClassPage, get, PhotoEntry, PhotoPage, thumbnail } from "./api";
import { Dialog } from "./dialog";
import { ACCEPT, add, picked } from "./files";
import { attempt, done, notify, useShared } from "./store";
import { Part, usePages, useWindow } from "./virtual";

const TILE = 104;
const PAGE = 120;

// Asks for the class to move photos to; suggests names while one types.
export function MoveTo({ move, from }: { move: (to: string) => void; from: string }) {
  const [name, setName] = useState("");
  const [names, setNames] = useState<string[]>([]);
  useEffect(() => {
    let live = true;
    get<ClassPage>("/api/classes", { limit: 20, search: name, sort: "name" })
      .then((page) => { if (live) setNames(page.classes.map((entry) => entry.name).filter((other) => other !== from)); })
      .catch(() => { /* the list stays as it is */ });
    return () => { live = false; };
  }, [name]);
  return (
    <form class="row" onSubmit={(event) => { event.preventDefault(); if (name.trim()) move(name.trim()); }}>
      <input aria-label="Class to move to" list="move-names" placeholder="Move to class…" value={name} onInput={(event) => setName(event.currentTarget.value)} />
      <datalist id="move-names">{names.map((other) => <option key={other} value={other} />)}</datalist>
      <button type="submit" disabled={!name.trim()}>Move</button>
    </form>
  );
}

export function ClassView({ name, close, renamed }: { name: string; close: () => void; renamed: (to: string) => void }) {
  const { state } = useShared();
  const box = useRef<HTMLDivElement>(null);
  const input = useRef<HTMLInputElement>(null);
  const [total, setTotal] = useState(0);
  const [chosen, setChosen] = useState<Set<string>>(new Set());
  const [title, setTitle] = useState(name);
  const [columns, setColumns] = useState(4);
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
  const toggle = (id: string) => setChosen((old) => {
    const next = new Set(old);
    if (!next.delete(id)) next.add(id);
    return next;
  });
  const ids = [...chosen];
  const removePhotos = () => attempt(async () => {
    const made = await change("remove", { photos: ids });
    setChosen(new Set());
    notify(`Removed ${ids.length === 1 ? "1 photo" : `${ids.length} photos`} from ${name}.`, { done: done(made) });
  });
  const move = (to: string) => attempt(async () => {
    const made = await change("move", { photos: ids, to });
    setChosen(new Set());
    notify(`Moved ${ids.length === 1 ? "1 photo" : `${ids.length} photos`} to ${to}.`, { done: done(made) });
  });
  const removeClass = () => attempt(async () => {
    const made = await change("remove_class", { name });
    close();
    notify(`Removed ${name}.`, { done: done(made) });
  });
  const rename = (event: Event) => {
    event.preventDefault();
    const to = title.trim();
    if (to && to !== name) void attempt(async () => { await change("rename_class", { name, to }); renamed(to); });
  };
  const tiles = [];
  for (let i = window_.first * columns; i < Math.min(window_.last * columns, total); ++i) {
    const photo = at(i);
    const style = { transform: `translate(${(i % columns) * TILE}px, ${Math.floor(i / columns) * TILE}px)` };
    if (!photo) continue;
    const label = photo.error ? `${photo.name}: ${photo.error}` : photo.name;
    tiles.push(
      <li key={photo.id} class="tile-box" style={style}>
        <button type="button" class={photo.error ? "tile broken" : "tile"} aria-pressed={chosen.has(photo.id)} title={label} aria-label={label} data-photo={photo.id}
                onClick={() => toggle(photo.id)}>
          <img src={thumbnail(photo.id)} alt="" width="92" height="92" decoding="async" />
        </button>
      </li>);
  }
  return (
    <Dialog title={name} close={close} wide>
      <div class="row wrap">
        <form class="row" onSubmit={rename}>
          <input aria-label="Name of the class" value={title} maxLength={100} onInput={(event) => setTitle(event.currentTarget.value)} />
          <button type="submit" disabled={!title.trim() || title.trim() === name}>Rename</button>
        </form>
        <input ref={input} type="file" accept={ACCEPT} multiple hidden
               onChange={(event) => { void add(new Map([[name, picked(event.currentTarget.files).map(({ file }) => file)]])); }} />
        <button type="button" onClick={() => input.current?.click()}>Add photos…</button>
        <button type="button" class="danger" onClick={() => void removeClass()}>Remove class</button>
      </div>
      <p class="dim" aria-live="polite">{ids.length ? `${ids.length} of ${total} chosen` : `${total} photos; choose some to move or remove them`}</p>
      <div class="scroll photo-scroll" ref={box} tabIndex={0} role="group" aria-label={`Photos of ${name}`}>
        <ul class="virtual" style={{ height: `${Math.ceil(total / columns) * TILE}px` }} aria-label="Photos">{tiles}</ul>
      </div>
      {ids.length > 0 && (
        <div class="row wrap">
          <MoveTo move={(to) => void move(to)} from={name} />
          <button type="button" class="danger" onClick={() => void removePhotos()}>Remove chosen</button>
          <button type="button" onClick={() => setChosen(new Set())}>Choose none</button>
        </div>
      )}
    </Dialog>
  );
}
