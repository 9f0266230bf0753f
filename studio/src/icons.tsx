// Small drawings for buttons, so that they look the same with any font, and buttons that show nothing else.
import { JSX } from "preact";

const PATHS: Record<string, string> = {
  plus: "M8 3v10M3 8h10",
  minus: "M3 8h10",
  close: "M4 4l8 8M12 4l-8 8",
  check: "M3.5 8.5l3 3 6-7",
  left: "M10 3.5L5.5 8l4.5 4.5",
  right: "M6 3.5L10.5 8 6 12.5",
  bin: "M3 4.5h10M6.5 4.5V3h3v1.5M4.5 4.5l.6 8.5h5.8l.6-8.5M6.8 7v3.6M9.2 7v3.6",
  pencil: "M3 13l.7-3L10.5 3.2a1.2 1.2 0 0 1 1.7 0l.6.6a1.2 1.2 0 0 1 0 1.7L6 12.3 3 13z",
  camera: "M2 5.5h2.5L5.7 4h4.6l1.2 1.5H14v7H2zM8 11a2.2 2.2 0 1 0 0-4.4A2.2 2.2 0 0 0 8 11z",
  undo: "M6 3.5L3 6.5l3 3M3 6.5h6.5a3.5 3.5 0 0 1 0 7H7",
  redo: "M10 3.5l3 3-3 3M13 6.5H6.5a3.5 3.5 0 0 0 0 7H9",
  moon: "M13 9.6A5.4 5.4 0 0 1 6.4 3 5.4 5.4 0 1 0 13 9.6z",
  sun: "M8 5.2a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 0 0 0-5.6zM8 1.5v1.4M8 13.1v1.4M1.5 8h1.4M13.1 8h1.4M3.4 3.4l1 1M11.6 11.6l1 1M3.4 12.6l1-1M11.6 4.4l1-1",
};

export function Icon({ name }: { name: string }) {
  return (
    <svg class="symbol" viewBox="0 0 16 16" width="18" height="18" aria-hidden="true" fill="none" stroke="currentColor" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round">
      <path d={PATHS[name]} />
    </svg>
  );
}

interface IconButtonProperties extends Omit<JSX.HTMLAttributes<HTMLButtonElement>, "icon" | "label"> { icon: string; label: string; tip?: string; disabled?: boolean; quiet?: boolean }

// `tip` is what the pointer sees, where that is shorter than what a screen reader needs.
export function IconButton({ icon, label, tip, quiet, class: more, ...others }: IconButtonProperties) {
  return (
    <button type="button" class={`icon${quiet ? " quiet" : ""}${more ? ` ${String(more)}` : ""}`} aria-label={label} title={tip ?? label} {...others}>
      <Icon name={icon} />
    </button>
  );
}
