// One photo or one group at a time, those first whose label helps most.
import { useEffect, useState } from "preact/hooks";
import { coverStrip, thumbnail } from "./api";
import { counted, getGroup, getNext, GroupPhotos, InboxList, NextList, NextPhoto, percent, UNKNOWN } from "./inbox_api";
import { sortPhotos } from "./inbox_groups";
import { useKeys } from "./inbox_keys";
import { LabelBar } from "./inbox_label";
import { useShared } from "./store";

const REASONS: Record<string, (photo: NextPhoto) => string> = {
  typical: ({ stands_for }) => (stands_for > 1 ? `Stands for about ${stands_for} photos that no label is near` : "No label is near it"),
  uncertain: () => "The model is unsure of photos like this one",
  "new-class": () => "It may be of a class that the model does not know",
};

export function LabelNext({ list }: { list: InboxList }) {
  const { state } = useShared();
  const [next, setNext] = useState<NextList | null>(null);
  const [skipped, setSkipped] = useState<Set<string>>(new Set());
  const [whole, setWhole] = useState(false);
  const [group, setGroup] = useState<GroupPhotos | null>(null);
  const [focus, setFocus] = useState(0);
  useEffect(() => {
    let live = true;
    getNext().then((answer) => { if (live) setNext(answer); }).catch(() => { /* told elsewhere */ });
    return () => { live = false; };
  }, [state?.id, state?.inbox.next, list.number, list.revision]);
  const left = next?.photos.filter(({ id }) => !skipped.has(id)) ?? [];
  const photo = left[0];
  const key = photo?.group ?? "";
  useEffect(() => {
    if (!key) { setGroup(null); return; }
    let live = true;
    getGroup(key).then((answer) => { if (live) setGroup(answer); }).catch(() => { /* told elsewhere */ });
    return () => { live = false; };
  }, [key, list.number, list.revision]);
  const current = group?.key === key ? group : null;
  const ids = !photo ? [] : whole && current ? current.photos.map(({ id }) => id) : [photo.id];
  const skip = () => { if (photo) setSkipped(new Set([...skipped, photo.id])); };
  const sort = (to: string) => {
    if (!photo || !ids.length) return;
    void sortPhotos(ids, to).then((sorted) => { if (!sorted) setSkipped(new Set()); });
    skip();  // at once: the list follows
  };
  useKeys((pressed) => {
    const likely = /^[1-9]$/.test(pressed) ? current?.likely[Number(pressed) - 1] : undefined;
    if (likely) sort(likely.name);
    else if (pressed === "Enter" && current?.suggestion) sort(current.suggestion);
    else if (pressed.toLowerCase() === "u") sort(UNKNOWN);
    else if (pressed.toLowerCase() === "n") setFocus(focus + 1);
    else if (pressed.toLowerCase() === "g") setWhole(!whole);
    else if (pressed.toLowerCase() === "s" || pressed === "ArrowRight") skip();
    else return false;
    return true;
  });
  if (!photo) {
    return (
      <div class="inbox-none">
        <p class="dim">{!next?.ready ? "Choosing photos…" : skipped.size ? "That was all for now." : "Nothing is left to label."}</p>
        {skipped.size > 0 && list.groups.length > 0 && <button type="button" onClick={() => setSkipped(new Set())}>Show skipped photos again</button>}
      </div>
    );
  }
  const all = current?.photos.length ?? 1;
  return (
    <div class="inbox-next" data-next={photo.id}>
      <img class="inbox-photo" src={thumbnail(photo.id, 384)} alt={photo.name} />
      <p class="dim">{REASONS[photo.reason]?.(photo)}</p>
      {all > 1 && (
        <label class="row inbox-whole"><input type="checkbox" checked={whole} onChange={(event) => setWhole(event.currentTarget.checked)} />
          With the {all - 1} others of its group (G)</label>
      )}
      {whole && current && all > 1 && <img class="inbox-strip" src={coverStrip(current.photos.slice(0, 8).map(({ id }) => id))} alt="Photos of its group" />}
      {current?.suggestion && <button type="button" class="primary" onClick={() => sort(current.suggestion)}>Accept {current.suggestion} ({percent(current.likely[0]?.probability ?? 0)})</button>}
      <LabelBar likely={current?.likely ?? []} of={counted(ids.length)} sort={sort} focus={focus} />
      <button type="button" onClick={skip}>Skip</button>
    </div>
  );
}
