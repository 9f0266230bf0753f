// The groups of the Inbox: a list, and the photos of the group that is looked at.
import { useEffect, useRef, useState } from "preact/hooks";
import { change, coverStrip } from "./api";
import { counted, getGroup, GroupPhotos, INBOX, InboxGroup, InboxList, percent, sortInto, titleOf, UNKNOWN } from "./inbox_api";
import { useKeys } from "./inbox_keys";
import { LabelBar } from "./inbox_label";
import { PhotoTiles } from "./inbox_photos";
import { attempt, done, notify, useShared } from "./store";
import { useWindow } from "./virtual";

const ROW = 76;
const COVER = 52;  // with the gap after it
const NONE: GroupPhotos = { key: "", suggestion: "", likely: [], photos: [] };

export const titleOfGroup = ({ key, suggestion }: { key: string; suggestion: string }) =>
  suggestion ? suggestion : key === "unknown" ? "Unknown" : key === "others" ? "Unlike the others" : "No suggestion";

// Sorts photos, with a notice that can be undone. Returns whether it was done.
export const sortPhotos = (ids: string[], to: string) => attempt(async () => {
  const made = await sortInto(ids, to);
  notify(`Moved ${counted(ids.length)} to ${titleOf(to)}.`, { done: done(made) });
});

interface RowProperties { group: InboxGroup; index: number; total: number; shown: boolean; show: () => void; accept: () => void }

function GroupRow({ group, index, total, shown, show, accept }: RowProperties) {
  const { suggestion, photos, sure, doubtful, covers } = group;
  const title = titleOfGroup(group);
  const doubts = doubtful ? `, ${doubtful} doubtful` : "";
  return (
    <li class={shown ? "inbox-row shown" : "inbox-row"} style={{ transform: `translateY(${index * ROW}px)`, height: `${ROW}px` }} aria-setsize={total} aria-posinset={index + 1} data-group={group.key}>
      <button type="button" class="inbox-open inbox-keys" aria-pressed={shown} onClick={show} aria-label={`${title}, ${counted(photos)}${suggestion ? `, ${percent(sure)} sure` : ""}${doubts}: look`}>
        <span class="class-name">{title}</span>
        <span class="dim">{counted(photos)}</span>
        {suggestion && <span class="inbox-sure">{percent(sure)}{doubtful > 0 && <span class="bad">, {doubtful} doubtful</span>}</span>}
      </button>
      <span class="covers" aria-hidden="true" onClick={show}>
        {covers.length > 0 && <img src={coverStrip(covers)} alt="" style={{ maxWidth: `${COVER * covers.length}px` }} decoding="async" />}
      </span>
      {suggestion && <button type="button" class={shown ? "primary" : ""} onClick={accept} aria-label={`Accept ${suggestion} for ${counted(photos)}`}>Accept</button>}
    </li>
  );
}

export function Groups({ list }: { list: InboxList }) {
  const { state } = useShared();
  const box = useRef<HTMLDivElement>(null);
  const [key, setKey] = useState("");
  const [loaded, setLoaded] = useState<GroupPhotos>(NONE);
  const [chosen, setChosen] = useState<Set<string>>(new Set());
  const [focus, setFocus] = useState(0);
  const unknown = state?.inbox.unknown ?? 0;
  const groups = unknown ? [...list.groups, { key: "unknown", suggestion: "", sure: 0, photos: unknown, doubtful: 0, covers: [] }] : list.groups;
  const at = groups.findIndex((group) => group.key === key);
  const shown = groups[at] ?? list.groups[0];  // what was set aside is shown on request alone
  const place = useRef(0);  // of the group that is looked at: the next one moves there when it is sorted
  useEffect(() => {
    if (at >= 0) place.current = at;
    else setKey(list.groups[Math.min(place.current, list.groups.length - 1)]?.key ?? "");
  }, [key, at, groups.length]);
  const window_ = useWindow(box, groups.length, ROW);
  const wanted = shown?.key ?? "";
  useEffect(() => {
    if (!wanted) { setLoaded(NONE); return; }
    let live = true;
    getGroup(wanted).then((group) => {
      if (!live) return;
      setLoaded(group);
      const there = new Set(group.photos.map(({ id }) => id));
      setChosen((old) => new Set([...old].filter((id) => there.has(id))));
    }).catch(() => { /* the state tells of lost connections */ });
    return () => { live = false; };
  }, [wanted, list.number, list.revision]);
  const current = loaded.key === wanted ? loaded : NONE;
  const ids = current.photos.filter(({ id }) => chosen.has(id)).map(({ id }) => id);
  const of = ids.length ? `${counted(ids.length)} chosen` : counted(current.photos.length);

  const sort = (to: string) => {
    const photos = ids.length ? ids : current.photos.map(({ id }) => id);
    if (!photos.length) return;
    setChosen(new Set());
    void sortPhotos(photos, to);
  };
  const acceptGroup = (group: InboxGroup) => attempt(async () => {
    const photos = group.key === current.key ? current.photos : (await getGroup(group.key)).photos;
    if (photos.length) await sortPhotos(photos.map(({ id }) => id), group.suggestion);
  });
  const step = (by: number) => {
    const to = groups[Math.max(0, Math.min(groups.length - 1, Math.max(at, 0) + by))];
    if (!to) return;
    setKey(to.key);
    setChosen(new Set());
    const row = groups.indexOf(to) * ROW;
    const element = box.current;
    if (element && (row < element.scrollTop || row + ROW > element.scrollTop + element.clientHeight)) element.scrollTop = row - ROW;
  };
  useKeys((pressed) => {
    const likely = /^[1-9]$/.test(pressed) ? current.likely[Number(pressed) - 1] : undefined;
    if (likely) sort(likely.name);
    else if (pressed === "Enter" && current.suggestion) sort(current.suggestion);
    else if (pressed.toLowerCase() === "u" && current.key !== "unknown") sort(UNKNOWN);
    else if (pressed.toLowerCase() === "n") setFocus(focus + 1);
    else if (pressed.toLowerCase() === "a") setChosen(new Set(current.photos.map(({ id }) => id)));
    else if (pressed === "Escape" && ids.length) setChosen(new Set());
    else if (pressed === "ArrowRight") step(1);
    else if (pressed === "ArrowLeft") step(-1);
    else return false;
    return true;
  });
  const remove = () => attempt(async () => {
    const made = await change("remove", { photos: ids });
    setChosen(new Set());
    notify(`Removed ${counted(ids.length)}.`, { done: done(made) });
  });

  const rows = [];
  for (let i = window_.first; i < Math.min(window_.last, groups.length); ++i) {
    const group = groups[i] as InboxGroup;
    rows.push(<GroupRow key={group.key} group={group} index={i} total={groups.length} shown={group.key === wanted} accept={() => void acceptGroup(group)}
                        show={() => { setKey(group.key); setChosen(new Set()); }} />);
  }
  return (
    <div class="inbox-body">
      <div class="scroll inbox-list" ref={box} tabIndex={0} role="group" aria-label="Groups">
        <ul class="virtual" style={{ height: `${groups.length * ROW}px` }} aria-label="Groups of photos">{rows}</ul>
      </div>
      {shown && (
        <section class="inbox-group" aria-label="Group">
          <p class="inbox-title"><strong>{titleOfGroup(shown)}</strong> <span class="dim" aria-live="polite">
            {ids.length ? `${ids.length} of ${current.photos.length} chosen` : `${counted(shown.photos)}${shown.suggestion ? `, ${percent(shown.sure)} sure` : ""}`}</span></p>
          <LabelBar likely={current.likely} of={of} sort={sort} focus={focus} place={current.key === "unknown" ? UNKNOWN : ""} />
          {(ids.length > 0 || current.key === "unknown") && (
            <div class="buttons inbox-more">
              {current.key === "unknown" && <button type="button" onClick={() => sort(INBOX)}>Back to the Inbox</button>}
              {ids.length > 0 && <button type="button" class="danger" onClick={() => void remove()}>Remove chosen</button>}
              {ids.length > 0 && <button type="button" onClick={() => setChosen(new Set())}>Choose none</button>}
            </div>
          )}
          <PhotoTiles key={wanted} photos={current.photos} suggestion={current.suggestion} chosen={chosen} choose={setChosen} />
        </section>
      )}
    </div>
  );
}
