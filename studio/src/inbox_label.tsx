// What photos of the Inbox can be sorted into: the likeliest classes, a name, or Unknown.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { ClassPage, get } from "./api";
import { Likely, percent, UNKNOWN } from "./inbox_api";

interface Properties { likely: Likely[]; of: string; sort: (to: string) => void; focus: number; place?: string }

// `of`: what is sorted, to say it. `focus` grows whenever the name is to be typed.
export function LabelBar({ likely, of, sort, focus, place = "" }: Properties) {
  const [name, setName] = useState("");
  const [names, setNames] = useState<string[]>([]);
  const input = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => { if (focus) input.current?.focus(); }, [focus]);  // before the next key is read
  useEffect(() => {
    let live = true;
    get<ClassPage>("/api/classes", { limit: 20, search: name, sort: "name" })
      .then((page) => { if (live) setNames(page.classes.map((entry) => entry.name)); })
      .catch(() => { /* the list stays as it is */ });
    return () => { live = false; };
  }, [name]);
  const submit = (event: Event) => {
    event.preventDefault();
    if (!name.trim()) return;
    sort(name.trim());
    setName("");
    input.current?.blur();  // so that keys are those of the Inbox again
  };
  return (
    <div class="inbox-label">
      <div class="inbox-likely" role="group" aria-label="Likeliest classes">
        {likely.map((one, index) => (
          <button key={one.name} type="button" onClick={() => sort(one.name)} aria-label={`${one.name}: sort ${of} into it`}>
            <kbd>{index + 1}</kbd> {one.name}{one.probability !== null && <span class="dim"> {percent(one.probability)}</span>}
          </button>
        ))}
      </div>
      <form class="row" onSubmit={submit}>
        <input ref={input} aria-label={`Class of ${of}`} list="inbox-names" placeholder="Class…" maxLength={100} value={name} onInput={(event) => setName(event.currentTarget.value)} />
        <datalist id="inbox-names">{names.map((other) => <option key={other} value={other} />)}</datalist>
        <button type="submit" disabled={!name.trim()}>Sort</button>
        {place !== UNKNOWN && <button type="button" title="Of none of the classes (U)" onClick={() => sort(UNKNOWN)}>Unknown</button>}
      </form>
    </div>
  );
}
