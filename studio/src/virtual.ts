// Long lists: only visible rows are drawn.
import { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

export interface Window { first: number; last: number; width: number }  // rows [first, last), width of the box in pixels

export function useWindow(box: RefObject<HTMLElement>, rows: number, rowHeight: number, spare = 4): Window {
  const [window_, set] = useState<Window>({ first: 0, last: Math.min(rows, 20), width: 0 });
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    let frame = 0;
    const look = () => {
      frame = 0;
      const first = Math.max(0, Math.floor(element.scrollTop / rowHeight) - spare);
      const last = Math.min(rows, Math.ceil((element.scrollTop + element.clientHeight) / rowHeight) + spare);
      const width = element.clientWidth;
      set((old) => (old.first === first && old.last === last && old.width === width ? old : { first, last, width }));
    };
    const soon = () => { if (!frame) frame = requestAnimationFrame(look); };
    const observer = new ResizeObserver(soon);
    observer.observe(element);
    element.addEventListener("scroll", soon, { passive: true });
    look();
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", soon);
      if (frame) cancelAnimationFrame(frame);
    };
  }, [rows, rowHeight]);
  return window_;
}

export interface Part<T> { total: number; gone?: boolean; entries: T[] }  // total: of the whole list; gone: the list no longer exists

// Entries of a long list, fetched a page at a time when they become visible. `key` names the list, `version` its state. Responses that
// are no longer needed are dropped; the others are passed to `taken`.
export function usePages<T>(key: string, version: unknown, first: number, last: number, size: number,
                            load: (offset: number, limit: number) => Promise<Part<T>>, taken: (part: Part<T>) => void) {
  const pages = useRef(new Map<number, { version: unknown; entries: T[] }>());
  const known = useRef(key);
  const [, redraw] = useState(0);
  if (known.current !== key) {
    known.current = key;
    pages.current = new Map();
  }
  const from = Math.floor(first / size);
  const to = Math.floor(Math.max(first, last - 1) / size);
  useEffect(() => {
    let live = true;
    for (let page = from; page <= to; ++page) {
      if (pages.current.get(page)?.version === version) continue;
      load(page * size, size).then((answer) => {
        if (!live || known.current !== key) return;
        pages.current.set(page, { version, entries: answer.entries });
        taken(answer);
        redraw((count) => count + 1);
      }).catch(() => { /* the state tells of lost connections; the next version asks again */ });
    }
    return () => { live = false; };
  }, [key, version, from, to]);
  const at = (index: number): T | undefined => pages.current.get(Math.floor(index / size))?.entries[index % size];
  return { at };
}
