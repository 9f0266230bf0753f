// The list of classes: search, order, add; photos dropped onto a class go into it.
import { useEffect, useRef, useState } from "preact/hooks";
import { change, ClassEntry, ClassPage, coverStrip, get } from "./api";
import { Camera } from "./camera";
import { FieldError, NameDialog } from "./dialog";
import { ACCEPT, add, dropped, picked } from "./files";
import { rowKeys } from "./keys";
import { attempt, done, notify, useShared, wrongWith } from "./store";
import { usePages, useWindow } from "./virtual";
import { IconButton } from "./icons";

const ROW = 76;
const COVER = 52;  // with the gap after it
const PAGE = 60;

interface RowProperties { entry: ClassEntry | undefined; index: number; total: number; open: (name: string) => void; shoot: (name: string) => void; rename: (name: string) => void }

function ClassRow({ entry, index, total, open, shoot, rename }: RowProperties) {
  const [over, setOver] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const style = { transform: `translateY(${index * ROW}px)`, height: `${ROW}px` };
  if (!entry) return <li class="class-row" style={style} aria-setsize={total} aria-posinset={index + 1}><span class="dim">…</span></li>;
  const { name } = entry;
  const drop = (event: DragEvent) => {
    event.preventDefault();
    event.stopPropagation();
    setOver(false);
    if (!event.dataTransfer) return;
    const moved = event.dataTransfer.getData("application/x-annulus-photos");
    if (moved) {
      void attempt(() => change("move", { photos: JSON.parse(moved), to: name }));
      return;
    }
    void dropped(event.dataTransfer).then((found) => {
      // A folder of folders holds classes of its own, wherever it is dropped: a long list leaves no other place.
      if (found.some(({ path }) => path.length > 1)) window.dispatchEvent(new CustomEvent("annulus-add", { detail: found }));
      else void add(new Map([[name, found.map(({ file }) => file)]]));
    });
  };
  const remove = () => attempt(async () => {
    const made = await change("remove_class", { name });
    notify(`Removed ${name}.`, { done: done(made) });
  });
  return (
    <li class={over ? "class-row over" : "class-row"} style={style} aria-setsize={total} aria-posinset={index + 1} data-class={name}
        onDragOver={(event) => { event.preventDefault(); event.stopPropagation(); setOver(true); }}
        onDragLeave={() => setOver(false)} onDrop={drop}>
      <button type="button" class="class-open" title={name} aria-describedby="row-keys" onClick={() => open(name)} aria-label={`${name}, ${entry.photos} ${entry.photos === 1 ? "photo" : "photos"}: open`}>
        <span class="class-name">{name}</span>
        <span class="dim">{entry.photos === 0 ? "drop photos here" : entry.photos === 1 ? "1 photo" : `${entry.photos} photos`}</span>
      </button>
      <span class="covers" aria-hidden="true" style={{ flexBasis: `${COVER * entry.covers.length}px` }} onClick={() => open(name)}>
        {entry.covers.length > 0 && <img src={coverStrip(entry.covers)} alt="" decoding="async" />}
      </span>
      <span class="row-actions">
        <input ref={input} type="file" accept={ACCEPT} multiple hidden data-testid={`pick ${name}`}
               onChange={(event) => {
                 const found = picked(event.currentTarget.files);
                 event.currentTarget.value = "";
                 void add(new Map([[name, found.map(({ file }) => file)]]));
               }} />
        <IconButton icon="plus" label={`Add photos to ${name}`} tip="Add photos" quiet tabIndex={-1} onClick={() => input.current?.click()} />
        <IconButton icon="camera" label={`Take photos of ${name} by webcam`} tip="Take photos by webcam" quiet tabIndex={-1} onClick={() => shoot(name)} />
        <IconButton icon="pencil" label={`Rename ${name}`} tip="Rename" quiet class="wide-only" tabIndex={-1} onClick={() => rename(name)} />
        <IconButton icon="bin" label={`Remove ${name}`} tip="Remove the class" quiet class="wide-only" tabIndex={-1} onClick={() => void remove()} />
      </span>
    </li>
  );
}

export function Classes({ open }: { open: (name: string) => void }) {
  const { state } = useShared();
  const [search, setSearch] = useState("");
  const [sort, setSort] = useState("newest");
  const [name, setName] = useState("");
  const [wrong, setWrong] = useState("");  // with the name
  const [camera, setCamera] = useState("");
  const [renaming, setRenaming] = useState("");
  const box = useRef<HTMLDivElement>(null);
  const folder = useRef<HTMLInputElement>(null);
  const [total, setTotal] = useState(0);
  const window_ = useWindow(box, total, ROW);
  const load = async (offset: number, limit: number) => {
    const page = await get<ClassPage>("/api/classes", { offset, limit, search, sort });
    return { total: page.total, entries: page.classes };
  };
  const key = JSON.stringify([state?.id, search, sort]);
  const { at } = usePages<ClassEntry>(key, state?.revision, window_.first, window_.last, PAGE, load, (page) => setTotal(page.total));
  useEffect(() => { setCamera(""); setRenaming(""); }, [state?.id]);  // they were about another project
  const addClass = (event: Event) => {
    event.preventDefault();
    const wanted = name.trim();
    if (!wanted) return;
    void wrongWith(async () => {
      await change("add_class", { name: wanted });
      setName("");
      setSearch("");
    }).then(setWrong);
  };
  const rows = [];
  for (let i = window_.first; i < Math.min(window_.last, total); ++i) {
    const entry = at(i);
    rows.push(<ClassRow key={entry?.name ?? `row ${i}`} entry={entry} index={i} total={total} open={open} shoot={setCamera} rename={setRenaming} />);
  }
  return (
    <section class="pane classes" aria-labelledby="classes-title">
      <div class="pane-head">
        <h2 id="classes-title">Classes <span class="dim">{state?.classes ?? ""}</span></h2>
        <form class="row" onSubmit={addClass}>
          <input aria-label="Name of a new class" placeholder="New class…" value={name} maxLength={100}
                 aria-invalid={wrong !== ""} aria-describedby="class-wrong" onInput={(event) => { setName(event.currentTarget.value); setWrong(""); }} />
          <button type="submit" class="primary" disabled={!name.trim()}>Add class</button>
        </form>
        <FieldError id="class-wrong" text={wrong} />
        <div class="row">
          <input type="search" aria-label="Find classes" placeholder="Find…" value={search} onInput={(event) => setSearch(event.currentTarget.value)} />
          <select aria-label="Order of classes" value={sort} onChange={(event) => setSort(event.currentTarget.value)}>
            <option value="newest">Newest first</option>
            <option value="name">By name</option>
            <option value="fewest">Fewest photos first</option>
          </select>
          <input ref={folder} type="file" hidden multiple data-testid="pick folder" {...{ webkitdirectory: true }}
                 onChange={(event) => {
                   const found = picked(event.currentTarget.files);
                   event.currentTarget.value = "";
                   window.dispatchEvent(new CustomEvent("annulus-add", { detail: found }));
                 }} />
          <button type="button" onClick={() => folder.current?.click()}>Add folder…</button>
        </div>
      </div>
      <p id="row-keys" class="hidden">Left and right arrow keys reach the buttons of a class, up and down the other classes.</p>
      <div id="class-list" class="scroll" ref={box} tabIndex={0} role="group" aria-label="List of classes">
        {state && total === 0 && (
          <div class="empty">
            {search ? <p>No class is named like that.</p> : <>
              <p class="big">Drop a folder of photos here</p>
              <p class="dim">Each folder inside it becomes a class. Or name a class above and add photos to it.</p>
            </>}
          </div>
        )}
        <ul class="virtual" style={{ height: `${total * ROW}px` }} aria-label="Classes" onKeyDown={rowKeys}>{rows}</ul>
      </div>
      {camera && <Camera title={`Webcam: ${camera}`} close={() => setCamera("")} take={(photo) => void add(new Map([[camera, [photo]]]))} />}
      {renaming && <NameDialog title={`Rename ${renaming}`} label="New name" value={renaming} action="Rename" close={() => setRenaming("")}
                               done={(to) => wrongWith(() => change("rename_class", { name: renaming, to }))} />}
    </section>
  );
}
