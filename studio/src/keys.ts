// Arrow keys within lists whose rows are one Tab stop each.

// Left and right go through the buttons of a row, up and down to the same button of the row above or below.
export function rowKeys(event: KeyboardEvent) {
  const row = (event.target as HTMLElement).closest<HTMLElement>("[aria-posinset]");
  if (!row || !["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"].includes(event.key)) return;
  const stops = (of: Element) => [...of.querySelectorAll<HTMLElement>("button:not(:disabled)")].filter((button) => button.offsetParent !== null);
  const at = stops(row).indexOf(event.target as HTMLElement);
  if (at < 0) return;
  event.preventDefault();
  if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
    stops(row)[at + (event.key === "ArrowLeft" ? -1 : 1)]?.focus();
    return;
  }
  const place = Number(row.getAttribute("aria-posinset")) + (event.key === "ArrowUp" ? -1 : 1);
  const next = row.parentElement?.querySelector(`[aria-posinset="${place}"]`);
  if (next) stops(next)[at]?.focus();
}
