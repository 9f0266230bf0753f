// Requests to the program that serves this page.

export interface Work { stage: string; done: number; total: number; detail: string }
export interface ModelInfo {
  current: boolean; classes: number; photos: string; held_out: number; held_out_right: number;
  knows_strangers: boolean; seconds: number; content: string;
}
export interface State {
  project: string; folder: string; backbone: string; revision: number; classes: number; photos: number;
  undo: string | null; redo: string | null; version: number; work: Work; waiting: number; trouble: string;
  broken: number; analysis_current: boolean; model: ModelInfo | null; notice?: string;
}
export interface ClassEntry { name: string; photos: number; covers: string[] }
export interface PhotoEntry { id: string; name: string; trouble?: string }
export interface ClassPage { revision: number; total: number; offset: number; classes: ClassEntry[] }
export interface PhotoPage { revision: number; gone: boolean; total: number; offset: number; photos: PhotoEntry[] }
export interface Prediction {
  unknown: boolean; current: boolean;
  top: { name: string; probability: number }[];
  nearest: { photo: string; name: string; cosine: number }[];
}
export interface Confused { name: string; taken_for: string; count: number; of: number; photos: string[] }
export interface Finding { kind: string; name: string; other: string; photo?: string; other_photo?: string }
export interface Analysis {
  current: boolean;
  broken: { photo: string; reason: string; name: string }[];
  map?: { shown: number; points: [string, number, number, number][] };
  confused?: Confused[];
  findings?: Finding[];
  recognised?: number;
}
export interface Outcome { outcome: "added" | "known" | "refused"; id: string; name: string; reason: string }

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

export const change = (action: string, fields: Record<string, unknown> = {}) =>
  post<{ revision: number; title: string }>("/api/change", { action, ...fields });

export const thumbnail = (id: string, side = 96) => `/api/thumbnail/${id}?side=${side}`;

// Photos of one class in one request: a line of JSON, then the bytes of the files.
export async function upload(name: string, files: { name: string; blob: Blob }[]): Promise<Outcome[]> {
  const header = JSON.stringify({ class: name, files: files.map((file) => [file.name, file.blob.size]) });
  const body = new Blob([header, "\n", ...files.map((file) => file.blob)]);
  return (await post<{ photos: Outcome[] }>("/api/photos", body)).photos;
}
