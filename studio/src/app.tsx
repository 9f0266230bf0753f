// The page: classes on one side, what can be done with them on the other; on a phone one at a time.
import { useEffect, useState } from "preact/hooks";
import { post, State } from "./api";
import { Classes } from "./classes";
import { ClassView } from "./class_view";
import { add, dropped, Found, grouped } from "./files";
import { Inbox, LooseDialog } from "./inbox";
import { Findings, useAnalysis } from "./insight";
import { ClassMapView } from "./map";
import { Notices } from "./notices";
import { Exports, Projects } from "./projects";
import { Adding, attempt, redo, undo, useShared } from "./store";
import { Try } from "./try";
import { IconButton } from "./icons";
import { view, Viewer } from "./viewer";

type Tab = "classes" | "inbox" | "try" | "map" | "findings";
const TABS: [Tab, string][] = [["classes", "Classes"], ["inbox", "Inbox"], ["try", "Try"], ["map", "Map"], ["findings", "Findings"]];

function statusText(state: State | null, adding: Adding | null, connected: boolean): string {
  if (!connected) return "The studio does not answer; is it still running?";
  if (!state) return "Loading…";
  if (adding) return `Adding photos: ${adding.done} of ${adding.total}`;
  const { work, model } = state;
  if (state.error) return state.error;
  if (work.stage === "backbone") return `Getting the backbone ${state.backbone} ready…`;
  if (work.stage === "features") return `Looking at photos: ${work.done} of ${work.total}`;
  if (work.stage === "update") return "Updating the model…";
  if (work.stage === "fit" && model?.current) return `Knows ${model.classes} classes; fitting them anew…`;
  if (work.stage === "fit") return "Learning…";
  if (work.stage === "analysis") return "Looking for mistakes…";
  if (work.stage === "inbox" && state.inbox.photos > 0) return "Grouping the photos of the Inbox…";
  if (state.photos === 0) return state.inbox.photos ? "Ready: sort the Inbox" : "Ready for photos";
  if (!model) return "Add photos of at least two classes";
  if (!model.current) return "Learning soon…";
  if (model.incremental) return `Knows ${model.classes} classes; a full fit follows`;
  const correct = model.held_out ? `; ${Math.round((100 * model.held_out_correct) / model.held_out)} % correct on held-out photos` : "";
  return `Ready: knows ${model.classes} classes${correct}`;
}

function Status() {
  const { state, adding, connected } = useShared();
  const text = statusText(state, adding, connected);
  const work = adding ?? state?.work;
  const busy = !!adding || !!state?.work.stage;
  // Screen readers announce stages, not every photo.
  const spoken = text.replace(/: \d+ of \d+/, "");
  return (
    <div class="status">
      <span class={state?.error || !connected ? "dot bad" : busy ? "dot busy" : state?.model?.current ? "dot good" : "dot"} aria-hidden="true" />
      <span class="status-text" data-testid="status" aria-hidden="true" title={text}>{text}</span>
      <span class="hidden" role="status">{spoken}</span>
      {busy && work && work.total > 0 && <progress value={work.done} max={work.total} aria-label="Progress" />}
      {state?.error && <button type="button" onClick={() => void attempt(() => post("/api/retry", {}))}>Try again</button>}
    </div>
  );
}

function useTheme(): [string, () => void] {
  const [theme, setTheme] = useState(localStorage.getItem("annulus-theme") ?? "");
  useEffect(() => {
    if (theme) document.documentElement.dataset.theme = theme;
    else delete document.documentElement.dataset.theme;
    localStorage.setItem("annulus-theme", theme);
  }, [theme]);
  const dark = theme ? theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  return [dark ? "dark" : "light", () => setTheme(dark ? "light" : "dark")];
}

export function App() {
  const { state, dialogs } = useShared();
  const [tab, setTab] = useState<Tab>("classes");
  const [open, setOpen] = useState("");
  const [dialog, setDialog] = useState<"" | "projects" | "export">("");
  const [loose, setLoose] = useState<File[]>([]);
  const [photos, setPhotos] = useState<Blob[]>([]);  // to try
  const [theme, switchTheme] = useTheme();
  const side: Tab = tab === "classes" ? "try" : tab;  // beside the classes on wide screens
  const [analysis, lookAgain] = useAnalysis(side === "map" || side === "findings");

  useEffect(() => { setOpen(""); setDialog(""); setLoose([]); view(null); }, [state?.id]);  // they were about another project
  const take = (found: Found[]) => {
    const { groups, notes } = grouped(found);
    const nameless = groups.get("") ?? [];
    groups.delete("");
    if (groups.size || !nameless.length) void add(groups, notes);
    if (nameless.length) setLoose(nameless);
  };
  useEffect(() => {
    const keys = (event: KeyboardEvent) => {
      const typing = event.target instanceof HTMLInputElement && event.target.type !== "file";
      if (typing || !(event.ctrlKey || event.metaKey)) return;
      const key = event.key.toLowerCase();
      if (key === "z" || key === "y") {
        event.preventDefault();
        void (key === "y" || event.shiftKey ? redo() : undo());
      }
    };
    const paste = (event: ClipboardEvent) => {
      const files = [...(event.clipboardData?.files ?? [])].filter((one) => one.type.startsWith("image/"));
      if (!files.length) return;
      event.preventDefault();
      if (open) void add(new Map([[open, files]]));
      else { setPhotos(files); setTab("try"); }
    };
    const over = (event: DragEvent) => event.preventDefault();
    const drop = (event: DragEvent) => {
      event.preventDefault();
      if (event.dataTransfer) void dropped(event.dataTransfer).then(take);
    };
    const asked = (event: Event) => take((event as CustomEvent<Found[]>).detail);
    window.addEventListener("keydown", keys);
    window.addEventListener("paste", paste);
    window.addEventListener("dragover", over);
    window.addEventListener("drop", drop);
    window.addEventListener("annulus-add", asked);
    return () => {
      window.removeEventListener("keydown", keys);
      window.removeEventListener("paste", paste);
      window.removeEventListener("dragover", over);
      window.removeEventListener("drop", drop);
      window.removeEventListener("annulus-add", asked);
    };
  }, [open]);

  // Focus goes where the link says once it is drawn.
  const skip = (event: Event, to: Tab) => {
    event.preventDefault();
    setTab(to);
    setTimeout(() => document.getElementById(to === "classes" ? "class-list" : "view")?.focus());
  };
  const tabButton = ([name, title]: [Tab, string]) => (
    <button key={name} type="button" class={name === "classes" ? "tab narrow-only" : "tab"} aria-pressed={tab === name || (tab === "classes" && name === "try" ? "mixed" : false)}
            data-tab={name} onClick={() => setTab(name)}>{title}</button>
  );
  return (
    <div class={`page show-${tab}`}>
      <nav class="skips" aria-label="Skip">
        <a href="#class-list" onClick={(event) => skip(event, "classes")}>Skip to the classes</a>
        <a href="#view" onClick={(event) => skip(event, "try")}>Skip to Try</a>
        <a href="#view" onClick={(event) => skip(event, "findings")}>Skip to the findings</a>
      </nav>
      <header class="top">
        <h1><span class="ring" aria-hidden="true" />Annulus <span class="dim">studio</span></h1>
        <button type="button" class="project-name" onClick={() => setDialog("projects")} aria-label={`Project ${state?.project ?? ""}: open another`} title={state?.project}>{state?.project ?? "…"} ▾</button>
        <Status />
        <div class="row top-actions">
          <IconButton icon="undo" label="Undo" tip={state?.undo ? `Undo: ${state.undo}` : "Nothing to undo"} disabled={!state?.undo} onClick={() => void undo()} />
          <IconButton icon="redo" label="Redo" tip={state?.redo ? `Redo: ${state.redo}` : "Nothing to redo"} disabled={!state?.redo} onClick={() => void redo()} />
          <button type="button" disabled={!state?.model} onClick={() => setDialog("export")}>Export</button>
          <IconButton icon={theme === "dark" ? "sun" : "moon"} label={theme === "dark" ? "Light colours" : "Dark colours"} onClick={switchTheme} />
        </div>
      </header>
      <main>
        <Classes open={setOpen} />
        <section class="pane side" aria-label="Model">
          <nav class="tabs" aria-label="Views">{TABS.map(tabButton)}</nav>
          <div id="view" class="scroll side-scroll" tabIndex={0} role="group" aria-label={TABS.find(([name]) => name === side)?.[1]}>
            {side === "inbox" && <Inbox />}
            {side === "try" && <Try photos={photos} choose={setPhotos} open={setOpen} />}
            {side === "map" && <ClassMapView open={setOpen} />}
            {side === "findings" && <Findings analysis={analysis} open={setOpen} again={lookAgain} />}
          </div>
        </section>
      </main>
      <Notices shown={dialogs.length === 0} />
      {open && <ClassView key={open} name={open} close={() => setOpen("")} renamed={setOpen} />}
      {dialog === "projects" && <Projects close={() => setDialog("")} />}
      {dialog === "export" && <Exports close={() => setDialog("")} />}
      {loose.length > 0 && <LooseDialog files={loose} close={() => setLoose([])} sorting={() => setTab("inbox")} />}
      <Viewer />
    </div>
  );
}
