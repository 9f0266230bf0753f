// Projects to open and make, and exports of this one.
import { useEffect, useRef, useState } from "preact/hooks";
import { get, post, WebPageSize } from "./api";
import { Dialog } from "./dialog";
import { attempt, refresh, useShared } from "./store";

export function Projects({ close }: { close: () => void }) {
  const { state } = useShared();
  const [home, setHome] = useState("");
  const [names, setNames] = useState<string[]>([]);
  const [name, setName] = useState("");
  useEffect(() => {
    void attempt(async () => {
      const answer = await get<{ home: string; projects: string[] }>("/api/projects");
      setHome(answer.home);
      setNames(answer.projects);
    });
  }, []);
  const opening = useRef(false);
  const open = async (wanted: string, made: boolean) => {
    if (opening.current) return;  // the second of a double click
    opening.current = true;
    await attempt(async () => {
      await post("/api/projects", { name: wanted, new: made });
      await refresh();  // every dialog closes when another project comes
    });
    opening.current = false;
  };
  return (
    <Dialog title="Projects" close={close}>
      <p class="dim">A project is an ordinary folder; every change is saved at once. This one: <code>{state?.folder}</code></p>
      <ul class="project-list">
        {names.map((other) => (
          <li key={other}><button type="button" disabled={other === state?.project} onClick={() => void open(other, false)}>{other === state?.project ? `${other} (open)` : other}</button></li>
        ))}
      </ul>
      <form class="row" onSubmit={(event) => { event.preventDefault(); if (name.trim()) void open(name.trim(), true); }}>
        <input aria-label="Name of a new project" placeholder="New project…" value={name} maxLength={100} onInput={(event) => setName(event.currentTarget.value)} />
        <button type="submit" class="primary" disabled={!name.trim()}>Make</button>
      </form>
      <p class="dim">In <code>{home}</code></p>
    </Dialog>
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

export function Exports({ close }: { close: () => void }) {
  const [busy, setBusy] = useState("");
  const save = (what: string) => attempt(async () => {
    setBusy(what);
    try {
      if (what === "report") await get("/api/analysis");
      const response = await fetch(`/api/export/${what}`);
      if (!response.ok) throw new Error(((await response.json()) as { error: string }).error);
      const file = /filename="([^"]+)"/.exec(response.headers.get("Content-Disposition") ?? "")?.[1] ?? what;
      const link = document.createElement("a");
      link.href = URL.createObjectURL(await response.blob());
      link.download = file;
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
