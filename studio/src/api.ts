// Requests to the program that serves this page.

export interface Work { stage: string; done: number; total: number; detail: string }
export interface ModelInfo {
  can_predict: boolean;  // false until the backbone is open, a moment after the project
  current: boolean;      // trained from the photos there are now
  incremental: boolean;  // by updates since the last fit
  number: number; classes: number; held_out: number; held_out_correct: number;
  rejects_unknown: boolean; false_rejection_rate: number; seconds: number;
}
export interface State {
  id: string;  // another one each time that a project is opened
  project: string; folder: string; backbone: string; revision: number; classes: number; photos: number;
  undo: string | null; redo: string | null; version: number; work: Work; waiting: number; error: string;
  inbox: { photos: number; unknown: number; sorted: number; waiting: number; number: number; next: number };
  broken: number; map: number; analysis: { current: boolean; number: number; confirmed: number }; model: ModelInfo | null; notice?: string;
}
export interface ClassEntry { name: string; photos: number; covers: string[] }
export interface PhotoEntry { id: string; name: string; error?: string }
export interface ClassPage { revision: number; total: number; offset: number; classes: ClassEntry[] }
export interface PhotoPage { revision: number; gone: boolean; total: number; offset: number; photos: PhotoEntry[] }
// As `annulus predict --format jsonl` and `annulus serve` write it.
export interface Prediction {
  label: string; probability: number;
  unknown?: boolean;  // only of a model that can reject
  top: { label: string; probability: number }[];
  explain?: { nearest: { path: string; label: string; cosine: number }[] };
}
export interface Predicted { model: number; prediction: Prediction }
export interface Confused { name: string; taken_for: string; count: number; of: number; photos: string[] }
// sure: how probable a wrong label is. own_photo: of the same class, like it; other_photo: of the other class, like it; or the other of two copies.
export interface Finding { kind: string; name: string; other: string; photo?: string; other_photo?: string; own_photo?: string; sure?: number }
export interface Analysis {
  current: boolean;
  broken: { photo: string; reason: string; name: string }[];
  confused?: Confused[];
  findings?: Finding[];
  recognised?: number;
}
// Coordinates in units of 1 / `units`; the photos of a class follow one another.
export interface ClassMap {
  units: number; shown: number; classes: string[]; counts: number[];
  prototypes: { x: number[]; y: number[] };
  photos: { x: number[]; y: number[]; class: number[]; id: string[] };
}
export interface WebPageSize { files: number; bytes: number; model_bytes: number; runtime_bytes: number }
export interface Changed { revision: number; changed: boolean; title: string }  // changed: false when everything was already so
export interface Outcome { outcome: "added" | "known" | "rejected"; id: string; name: string; reason: string }

async function answer<T>(response: Response): Promise<T> {
  const text = await response.text();
  if (response.ok) return (text ? JSON.parse(text) : {}) as T;
  let message = `The studio answered ${response.status}.`;
  try {
    message = (JSON.parse(text) as { error: string }).error;
  } catch { /* no JSON: keep the status */ }
  throw new Error(message);
}

export async function get<T>(path: string, query: Record<string, string | number> = {}): Promise<T> {
  const words = Object.entries(query).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  return answer<T>(await fetch(words.length ? `${path}?${words.join("&")}` : path));
}

export async function post<T>(path: string, body: unknown): Promise<T> {
  const sent = body instanceof Blob ? body : JSON.stringify(body);
  return answer<T>(await fetch(path, { method: "POST", body: sent }));
}

// Changes are for the project that the page shows: the program rejects them when another one is open by now.
let shown = "";
export const showing = (id: string) => { shown = id; };
export const shownProject = () => shown;

export const change = (action: string, fields: Record<string, unknown> = {}) =>
  post<Changed>("/api/change", { action, project: shown, ...fields });

// Several photos in one picture, squares of 48 CSS pixels with gaps of 4: one request per photo would make scrolling slow.
export const coverStrip = (ids: string[]) => `/api/covers/${ids.join(",")}?side=${window.devicePixelRatio > 1 ? 96 : 48}`;
// As large as a screen: the file itself may be of a format that browsers do not show.
export const largePhoto = (id: string) => `/api/thumbnail/${id}?side=1024`;
export const thumbnail = (id: string, side = 96) => `/api/thumbnail/${id}?side=${side}`;

// Photos of one class in one request: a line of JSON, then the bytes of the files.
export async function upload(project: string, name: string, files: { name: string; blob: Blob }[]): Promise<{ revision: number; photos: Outcome[] }> {
  const header = JSON.stringify({ class: name, project, files: files.map((file) => [file.name, file.blob.size]) });
  const body = new Blob([header, "\n", ...files.map((file) => file.blob)]);
  return post("/api/photos", body);
}
