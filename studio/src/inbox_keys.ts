// Keys of the Inbox, wherever the focus is, unless somebody types or a dialog is open.
import { useEffect, useRef } from "preact/hooks";
import { current } from "./store";

// `pressed` returns whether the key was meant for it.
export function useKeys(pressed: (key: string) => boolean) {
  const latest = useRef(pressed);
  latest.current = pressed;
  useEffect(() => {
    const listener = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement;
      if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || current().dialogs.length > 0) return;
      if (target.closest("input, select, textarea")) return;
      // Other buttons keep their Enter; that of a photo is for its group.
      if (event.key === "Enter" && target.closest("button, a") && !target.closest(".inbox-keys")) return;
      if (latest.current(event.key)) event.preventDefault();
    };
    window.addEventListener("keydown", listener);
    return () => window.removeEventListener("keydown", listener);
  }, []);
}
