// Projects to open, make, rename and delete, and exports of this one.
import { useEffect, useRef, useState } from "preact/hooks";
import { get, post, WebPageSize } from "./api";
import { Dialog, FieldError, NameDialog } from "./dialog";
import { IconButton } from "./icons";
import { attempt, notify, refresh, useShared, wrongWith } from "./store";

interface RowProperties { name: string; current: boolean; open: () => void; rename: () => void; remove: () => void }

function ProjectRow({ name, current, open, rename, remove }: RowProperties) {
  return (
    <li class="row">
      <button type="button" class="grow project-open" disabled={current} onClick={open}>{current ? `${name} (open)` : name}</button>
      <IconButton icon="pencil" label={`Rename project ${name}`} tip="Rename" quiet onClick={rename} />
      <IconButton icon="bin" label={`Delete project ${name}`} tip="Delete" quiet onClick={remove} />
    </li>
  );
}

function DeleteDialog({ name, home, done, close }: { name: string; home: string; done: () => void; close: () => void }) {
  return (
    <Dialog title={`Delete ${name}?`} close={close}>
      <p>Its photos and its model leave the list. The folder is kept in <code>{home}/.deleted</code> until you remove it there.</p>
      <div class="buttons">
        <button type="button" class="danger" onClick={done}>Delete</button>
        <button type="button" autoFocus onClick={close}>Cancel</button>
      </div>
    </Dialog>
  );
}

export function Projects({ close }: { close: () => void }) {
  const { state } = useShared();
  const [home, setHome] = useState("");
  const [names, setNames] = useState<string[]>([]);
  const [name, setName] = useState("");
  const [wrong, setWrong] = useState("");
  const [renaming, setRenaming] = useState("");
  const [deleting, setDeleting] = useState("");
  const look = async () => {
    const answer = await get<{ home: string; projects: string[] }>("/api/projects");
    setHome(answer.home);
    setNames(answer.projects);
  };
  useEffect(() => { void attempt(look); }, []);
  const opening = useRef(false);
  const open = async (wanted: string, made: boolean) => {
    if (opening.current) return "";  // the second of a double click
    opening.current = true;
    const found = await wrongWith(async () => {
      await post("/api/projects", { name: wanted, new: made });
      await refresh();  // every dialog closes when another project comes
    });
    opening.current = false;
    return found;
  };
  const say = (problem: string) => { if (problem) notify(problem, { bad: true }); };
  const remove = (which: string) => attempt(async () => {
    setDeleting("");
    const { kept } = await post<{ kept: string }>("/api/projects/delete", { name: which });
    notify(`Deleted ${which}. Its folder is kept as ${kept}.`);
    await refresh();
    await look();
  });
  return (
    <>
    <Dialog title="Projects" close={close}>
      <p class="dim">A project is an ordinary folder; every change is saved at once. This one: <code>{state?.folder}</code></p>
      <ul class="project-list">
        {names.map((other) => (
          <ProjectRow key={other} name={other} current={other === state?.project} open={() => void open(other, false).then(say)}
                      rename={() => setRenaming(other)} remove={() => setDeleting(other)} />
        ))}
      </ul>
      <form class="row" onSubmit={(event) => { event.preventDefault(); if (name.trim()) void open(name.trim(), true).then(setWrong); }}>
        <input class="grow" aria-label="Name of a new project" placeholder="New project…" value={name} maxLength={100} aria-invalid={wrong !== ""} aria-describedby="project-wrong"
               onInput={(event) => { setName(event.currentTarget.value); setWrong(""); }} />
        <button type="submit" class="primary" disabled={!name.trim()}>Make</button>
      </form>
      <FieldError id="project-wrong" text={wrong} />
      <p class="dim">In <code>{home}</code></p>
    </Dialog>
      {renaming && <NameDialog title={`Rename ${renaming}`} label="New name" value={renaming} action="Rename" close={() => setRenaming("")}
                               done={(to) => wrongWith(async () => { await post("/api/projects/rename", { name: renaming, to }); await refresh(); await look(); })} />}
      {deleting && <DeleteDialog name={deleting} home={home} close={() => setDeleting("")} done={() => void remove(deleting)} />}
    </>
  );
}

const EXPORTS: [string, string, string][] = [
  ["model", "Model", "for annulus predict and annulus serve"],
  ["onnx", "ONNX", "from pixels to class names, checked against the model before it is written"],
  ["card", "Model card", "what to know before using it, as Markdown"],
  ["report", "Report", "what may be wrong with the photos, as one page"],
];

const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;

// A page that recognises photos in any browser. Its size is told before it is made.
function WebPage({ busy, save }: { busy: string; save: () => void }) {
  const [size, setSize] = useState<WebPageSize | null>(null);
  const [looking, setLooking] = useState(false);
  const look = () => attempt(async () => {
    setLooking(true);
    try {
      setSize(await get<WebPageSize>("/api/web-page"));
    } finally {
      setLooking(false);
    }
  });
  return (
    <li>
      {size
        ? <button type="button" class="primary" disabled={busy !== ""} onClick={save}>{busy === "web" ? "Writing…" : "Save"}</button>
        : <button type="button" disabled={busy !== "" || looking} onClick={() => void look()}>{looking ? "Measuring…" : "Web page"}</button>}
      <span class="dim" aria-live="polite">
        {size
          ? `${megabytes(size.bytes)} in ${size.files} files: ${megabytes(size.model_bytes)} model and backbone, ${megabytes(size.runtime_bytes)} engine. It comes as a zip archive, which is smaller: unpack it and put the folder on any web host.`
          : "recognises photos by camera, drop or paste in any browser, also without a network; nothing is uploaded"}
      </span>
    </li>
  );
}

// The name that the program gives the file: that of the project, in any script.
function fileName(response: Response): string | undefined {
  const header = response.headers.get("Content-Disposition") ?? "";
  const encoded = /filename\*=UTF-8''([^;]+)/.exec(header)?.[1];
  return encoded ? decodeURIComponent(encoded) : /filename="([^"]+)"/.exec(header)?.[1];
}

export function Exports({ close }: { close: () => void }) {
  const [busy, setBusy] = useState("");
  const save = (what: string) => attempt(async () => {
    setBusy(what);
    try {
      if (what === "report") await get("/api/analysis");
      const response = await fetch(`/api/export/${what}`);
      if (!response.ok) throw new Error(((await response.json()) as { error: string }).error);
      const link = document.createElement("a");
      link.href = URL.createObjectURL(await response.blob());
      link.download = fileName(response) ?? what;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    } finally {
      setBusy("");
    }
  });
  return (
    <Dialog title="Export" close={close}>
      <ul class="exports">
        {EXPORTS.map(([what, title, text]) => (
          <li key={what}>
            <button type="button" disabled={busy !== ""} onClick={() => void save(what)}>{busy === what ? "Writing…" : title}</button>
            <span class="dim">{text}</span>
          </li>
        ))}
        <WebPage busy={busy} save={() => void save("web")} />
      </ul>
    </Dialog>
  );
}
