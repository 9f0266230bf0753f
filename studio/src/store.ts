// The state that all parts of the page share: what the program last sent, notices, and what is being added.
import { useLayoutEffect, useState } from "preact/hooks";
import { change, Changed, get, showing, State } from "./api";
import type { Viewed } from "./viewer";

// The changes of a project that a notice is about; the last of them led to `revision`.
export interface Done { project: string; revision: number; changes: number }
export interface Notice { id: number; text: string; done?: Done; bad?: boolean }
export interface Adding { done: number; total: number }

export interface Shared {
  state: State | null;
  connected: boolean;
  notices: Notice[];
  adding: Adding | null;
  dialogs: number[];  // that are open, the topmost last
  viewed: Viewed | null;  // photos that are shown at full size
}

let shared: Shared = { state: null, connected: true, notices: [], adding: null, dialogs: [], viewed: null };
const listeners = new Set<() => void>();
let nextNotice = 1;

export function update(part: Partial<Shared>) {
  shared = { ...shared, ...part };
  for (const listener of listeners) listener();
}

export const current = () => shared;

export function useShared(): Shared {
  const [seen, see] = useState(shared);
  useLayoutEffect(() => {
    const listener = () => see(shared);
    listeners.add(listener);
    listener();  // updates since it was drawn
    return () => { listeners.delete(listener); };
  }, []);
  return seen;
}

export function dismiss(id: number) {
  update({ notices: shared.notices.filter((notice) => notice.id !== id) });
}

export const done = ({ revision, changed }: Changed): Done | undefined => (changed ? { project: shared.state?.id ?? "", revision, changes: 1 } : undefined);

export function notify(text: string, options: { done?: Done; bad?: boolean } = {}) {
  const id = nextNotice++;
  update({ notices: [...shared.notices.slice(-2), { id, text, ...options }] });
  setTimeout(() => dismiss(id), options.bad ? 12000 : 7000);
}

// Runs an action; an error becomes a notice and is not thrown.
export async function attempt(work: () => Promise<unknown>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    notify(sentenceOf(error), { bad: true });
    return false;
  }
}

// As the program words it, but as a sentence of its own.
export function sentenceOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  const whole = /^[a-z]+[ ,:]/.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text;  // not the name of a file
  return /[.!?]$/.test(whole) ? whole : `${whole}.`;
}

// For what is typed into a field: what went wrong is shown beside it. Empty: nothing did.
export async function wrongWith(work: () => Promise<unknown>): Promise<string> {
  try {
    await work();
    return "";
  } catch (error) {
    return sentenceOf(error);
  }
}

// One after the other, each when the page knows the result of the one before: what is undone is what is shown.
let turn: Promise<unknown> = Promise.resolve();
function inTurn(work: () => Promise<void>): Promise<boolean> {
  const next = turn.then(() => attempt(work));
  turn = next;
  return next;
}

const step = (action: "undo" | "redo", said: string) => inTurn(async () => {
  const title = shared.state?.[action];
  if (!title) return;
  await change(action, { revision: shared.state?.revision });
  await refresh();
  notify(`${said}: ${title}`);
});
export const undo = () => step("undo", "Undone");
export const redo = () => step("redo", "Done again");

// Only the latest change can be undone.
export const canUndo = ({ project, revision }: Done) => shared.state?.id === project && shared.state.revision === revision;

export const undoDone = ({ project, revision, changes }: Done) => inTurn(async () => {
  let title = "";
  for (let i = 0; i < changes; ++i) ({ revision, title } = await change("undo", { revision, project }));
  await refresh();
  notify(`Undone: ${title}${changes > 1 ? ` and ${changes - 1} more` : ""}`);
});

const left = new Set<string>();  // ids of projects that were open before this one

function take(state: State) {
  // Responses and events may arrive in another order.
  const old = shared.state;
  if (left.has(state.id)) return;
  if (old && old.id === state.id && state.version < old.version && state.revision <= old.revision) return;
  if (old && old.id !== state.id) left.add(old.id);
  showing(state.id);
  update({ state, connected: true });
}

export async function refresh() {
  const state = await get<State>("/api/state");
  take(state);
  return state;
}

// Browsers allow few connections to one host, and a page that listens holds one: only visible pages listen, the others catch up when they are shown.
export function connect() {
  let events: EventSource | null = null;
  const look = () => {
    if (document.visibilityState === "hidden") {
      events?.close();
      events = null;
    } else if (!events) {
      events = new EventSource("/api/events");
      events.addEventListener("state", (event) => take(JSON.parse((event as MessageEvent<string>).data) as State));
      events.onopen = () => update({ connected: true });
      events.onerror = () => update({ connected: false });
    }
  };
  const catchUp = () => refresh().catch(() => { update({ connected: false }); return null; });
  document.addEventListener("visibilitychange", () => {
    look();
    if (events) void catchUp();
  });
  look();
  void catchUp().then((state) => { if (state?.notice) notify(state.notice, { bad: true }); });
}
