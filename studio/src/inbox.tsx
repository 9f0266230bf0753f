// The Inbox: photos without a class, in groups that are named or accepted at a click, or one at a time.
import { useEffect, useRef, useState } from "preact/hooks";
import { Dialog, FieldError } from "./dialog";
import { ACCEPT, add, dropped, Found, picked } from "./files";
import { getInbox, INBOX, InboxList } from "./inbox_api";
import { Groups } from "./inbox_groups";
import { LabelNext } from "./inbox_next";
import { useShared } from "./store";

const EMPTY: InboxList = { revision: 0, number: 0, ungrouped: 0, expected: { suggested: 0, right: 0 }, groups: [] };

// Fetched when there is another grouping or the project was changed; a new list soon replaces one that is late.
function useInbox(): InboxList {
  const { state } = useShared();
  const [list, setList] = useState(EMPTY);
  useEffect(() => {
    let live = true;
    getInbox().then((answer) => { if (live) setList(answer); }).catch(() => { /* told elsewhere */ });
    return () => { live = false; };
  }, [state?.id, state?.inbox.number, state?.revision]);
  return list;
}

const take = (found: Found[]) => { if (found.length) void add(new Map([[INBOX, found.map(({ file }) => file)]])); };

function Progress({ list }: { list: InboxList }) {
  const { state } = useShared();
  const { sorted, photos, waiting } = state?.inbox ?? { sorted: 0, photos: 0, waiting: 0 };
  const { suggested, right } = list.expected;
  if (sorted + photos === 0) return null;
  return (
    <div class="inbox-progress">
      <progress value={sorted} max={sorted + photos} aria-label="Photos that are sorted" />
      <span data-testid="inbox-left"><strong>{photos.toLocaleString("en")}</strong> left, {sorted.toLocaleString("en")} sorted</span>
      {suggested > 0 && <span class="dim" data-testid="inbox-expected">of {suggested.toLocaleString("en")} suggestions, about {Math.round((100 * right) / suggested)} % are right</span>}
      {waiting > 0 ? <span class="dim">{waiting.toLocaleString("en")} are being looked at</span> : list.ungrouped > 0 && <span class="dim">grouping…</span>}
    </div>
  );
}

export function Inbox() {
  const { state } = useShared();
  const list = useInbox();
  const [one, setOne] = useState(false);
  const [over, setOver] = useState(false);
  const files = useRef<HTMLInputElement>(null);
  const folder = useRef<HTMLInputElement>(null);
  const drop = (event: DragEvent) => {
    event.preventDefault();
    event.stopPropagation();
    setOver(false);
    if (event.dataTransfer) void dropped(event.dataTransfer).then(take);
  };
  const choose = (event: Event) => {
    const input = event.currentTarget as HTMLInputElement;
    const found = picked(input.files);
    input.value = "";
    take(found);
  };
  const empty = state !== null && state.inbox.photos === 0;
  const nothing = empty && state.inbox.unknown === 0;
  return (
    <div class={over ? "inbox over" : "inbox"} data-testid="inbox" onDrop={drop} onDragLeave={() => setOver(false)}
         onDragOver={(event) => { event.preventDefault(); event.stopPropagation(); setOver(true); }}>
      <div class="inbox-head">
        <div class="row wrap">
          <input ref={files} type="file" accept={ACCEPT} multiple hidden data-testid="pick inbox" onChange={choose} />
          <input ref={folder} type="file" multiple hidden data-testid="pick inbox folder" {...{ webkitdirectory: true }} onChange={choose} />
          <button type="button" onClick={() => files.current?.click()}>Add photos…</button>
          <button type="button" class="wide-only" onClick={() => folder.current?.click()}>Add folder…</button>
          <span class="row inbox-modes" role="group" aria-label="How to sort">
            <button type="button" aria-pressed={!one} onClick={() => setOne(false)}>Groups</button>
            <button type="button" aria-pressed={one} onClick={() => setOne(true)}>Label next</button>
          </span>
        </div>
        <Progress list={list} />
      </div>
      {nothing
        ? <div class="inbox-none">
            <p class="big">{state.inbox.sorted > 0 ? "Everything is sorted" : "Drop photos here to sort them"}</p>
            <p class="dim">Any number of photos without a class: they are grouped, and a group is named at once. When the model knows classes, it suggests them.</p>
          </div>
        : one && !empty ? <LabelNext key={state?.id} list={list} /> : <Groups key={state?.id} list={list} />}
      {!nothing && <p class="dim inbox-help"><kbd>1</kbd>–<kbd>9</kbd> class · <kbd>Enter</kbd> accept · <kbd>U</kbd> unknown · <kbd>N</kbd> name · <kbd>←</kbd> <kbd>→</kbd> {one ? "skip" : "group"} · <kbd>Ctrl</kbd>+<kbd>Z</kbd> undo</p>}
    </div>
  );
}

// Photos that were dropped without a folder: of one class, or to be sorted.
export function LooseDialog({ files, close, sorting }: { files: File[]; close: () => void; sorting: () => void }) {
  const [name, setName] = useState("");
  const [wrong, setWrong] = useState("");
  const submit = (event: Event) => {
    event.preventDefault();
    if (!name.trim()) return;
    void add(new Map([[name.trim(), files]]), [], (found) => { setWrong(found); if (!found) close(); });
  };
  const sort = () => {
    void add(new Map([[INBOX, files]]));
    close();
    sorting();
  };
  return (
    <Dialog title={files.length === 1 ? "One photo" : `${files.length} photos`} close={close}>
      <form onSubmit={submit} class="stack">
        <label>Class they belong to
          <input value={name} maxLength={100} autoFocus aria-invalid={wrong !== ""} aria-describedby="loose-wrong" onInput={(event) => { setName(event.currentTarget.value); setWrong(""); }} />
        </label>
        <FieldError id="loose-wrong" text={wrong} />
        <div class="buttons">
          <button type="submit" class="primary" disabled={!name.trim()}>Add</button>
          <button type="button" onClick={sort}>Sort in the Inbox</button>
          <button type="button" onClick={close}>Cancel</button>
        </div>
      </form>
    </Dialog>
  );
}
