// What every part of the page looks at: the state as the program last told it, notices, and what is being added.
import { useEffect, useState } from "preact/hooks";
import { change, get, State } from "./api";

export interface Notice { id: number; text: string; undo?: boolean; bad?: boolean }
export interface Adding { done: number; total: number }

export interface Shared {
  state: State | null;
  connected: boolean;
  notices: Notice[];
  adding: Adding | null;
}

let shared: Shared = { state: null, connected: true, notices: [], adding: null };
const listeners = new Set<() => void>();
let nextNotice = 1;

export function update(part: Partial<Shared>) {
  shared = { ...shared, ...part };
  for (const listener of listeners) listener();
}

export const current = () => shared;

export function useShared(): Shared {
  const [, redraw] = useState(0);
  useEffect(() => {
    const listener = () => redraw((count) => count + 1);
    listeners.add(listener);
    return () => { listeners.delete(listener); };
  }, []);
  return shared;
}

export function dismiss(id: number) {
  update({ notices: shared.notices.filter((notice) => notice.id !== id) });
}

export function notify(text: string, options: { undo?: boolean; bad?: boolean } = {}) {
  const id = nextNotice++;
  update({ notices: [...shared.notices.slice(-2), { id, text, ...options }] });
  setTimeout(() => dismiss(id), options.bad ? 12000 : 7000);
}

// Runs an action of the person's; what goes wrong is said, never thrown.
export async function attempt(work: () => Promise<unknown>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    notify(error instanceof Error ? error.message : String(error), { bad: true });
    return false;
  }
}

export const undo = () => attempt(async () => {
  const title = shared.state?.undo;
  if (!title) return;
  await change("undo", { revision: shared.state?.revision });
  notify(`Undone: ${title}`);
});

export const redo = () => attempt(async () => {
  const title = shared.state?.redo;
  if (!title) return;
  await change("redo", { revision: shared.state?.revision });
  notify(`Done again: ${title}`);
});

function take(state: State) {
  // Answers and events may cross.
  const old = shared.state;
  if (old && old.folder === state.folder && state.version < old.version && state.revision <= old.revision) return;
  update({ state, connected: true });
}

export async function refresh() {
  const state = await get<State>("/api/state");
  take(state);
  return state;
}

export function connect() {
  void refresh().then((state) => { if (state.notice) notify(state.notice, { bad: true }); }).catch(() => update({ connected: false }));
  const events = new EventSource("/api/events");
  events.addEventListener("state", (event) => take(JSON.parse((event as MessageEvent<string>).data) as State));
  events.onopen = () => update({ connected: true });
  events.onerror = () => update({ connected: false });
}
