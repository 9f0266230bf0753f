// From what a person drops, picks or pastes to photos with class names, and from there to the program.
import { Outcome, upload } from "./api";
import { current, Done, notify, update } from "./store";

export interface Found { file: File; path: string[] }  // path: folders above the file, outermost first
export type Groups = Map<string, File[]>;

const BATCH_FILES = 24;
const BATCH_BYTES = 16 << 20;
const MOST_UNDO = 100;  // changes that the program can undo
const MOST_BYTES = 60 << 20;
const IMAGE = /\.(jpe?g|png|webp)$/i;
const isImage = (file: File) => IMAGE.test(file.name) || /^image\/(jpeg|png|webp)$/.test(file.type);

async function entriesOf(reader: FileSystemDirectoryReader): Promise<FileSystemEntry[]> {
  const all: FileSystemEntry[] = [];
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((done, bad) => reader.readEntries(done, bad));
    if (some.length === 0) return all;
    all.push(...some);
  }
}

async function walk(entry: FileSystemEntry, path: string[], found: Found[]): Promise<void> {
  if (entry.isFile) {
    const file = await new Promise<File>((done, bad) => (entry as FileSystemFileEntry).file(done, bad));
    if (isImage(file)) found.push({ file, path });
  } else if (!entry.name.startsWith(".")) {
    const entries = await entriesOf((entry as FileSystemDirectoryEntry).createReader());
    for (const inner of entries) await walk(inner, [...path, entry.name], found);
  }
}

// Must be called while the drop event is being handled; goes on afterwards.
export async function dropped(data: DataTransfer): Promise<Found[]> {
  const entries = [...data.items].map((item) => (item.kind === "file" ? item.webkitGetAsEntry?.() : null));
  const files = [...data.files];
  const found: Found[] = [];
  if (entries.some((entry) => entry)) {
    for (const entry of entries) if (entry) await walk(entry, [], found);
  } else {
    for (const file of files) if (isImage(file)) found.push({ file, path: [] });
  }
  return found;
}

export function picked(list: FileList | null): Found[] {
  return [...(list ?? [])].filter(isImage).map((file) => ({ file, path: file.webkitRelativePath.split("/").slice(0, -1) }));
}

// A folder of folders has a class a folder; a folder of photos is a class. Photos without a folder are under "".
export function grouped(found: Found[]): Groups {
  const deep = new Set(found.filter(({ path }) => path.length > 1).map(({ path }) => path[0]));
  const groups: Groups = new Map();
  for (const { file, path } of found) {
    const name = (path.length > 1 ? path[1] : deep.has(path[0]) ? "" : path[0]) ?? "";
    groups.set(name, [...(groups.get(name) ?? []), file]);
  }
  return groups;
}

function batches(files: File[]): File[][] {
  const result: File[][] = [];
  let bytes = 0;
  for (const file of files) {
    const last = result[result.length - 1];
    if (last && last.length < BATCH_FILES && bytes + file.size <= BATCH_BYTES) {
      last.push(file);
      bytes += file.size;
    } else {
      result.push([file]);
      bytes = file.size;
    }
  }
  return result;
}

function summary(outcomes: Outcome[], names: string[], tooLarge: number): { text: string; bad: boolean } {
  const count = (what: string) => outcomes.filter(({ outcome }) => outcome === what).length;
  const photos = (number: number) => (number === 1 ? "1 photo" : `${number} photos`);
  const parts = [`Added ${photos(count("added"))}` + (names.length === 1 ? ` to ${names[0]}` : ` to ${names.length} classes`)];
  const known = outcomes.filter(({ outcome }) => outcome === "known");
  if (known.length) parts.push(known.length === 1 ? `1 was already in ${known[0]?.reason}` : `${known.length} were in the project already`);
  if (count("refused")) parts.push(`${photos(count("refused"))} could not be read as JPEG, PNG or WebP`);
  if (tooLarge) parts.push(`${photos(tooLarge)} left out for being over 60 MB`);
  return { text: parts.join("; ") + ".", bad: count("refused") + tooLarge > 0 };
}

// Sends photos class by class; the lists and the model follow while it goes on.
export async function add(groups: Groups): Promise<void> {
  const names = [...groups.keys()].map((name) => name.trim().replace(/[/\\]/g, "-").replace(/^\.+/, ""));
  const total = [...groups.values()].reduce((sum, files) => sum + files.length, 0);
  if (total === 0) {
    notify("No JPEG, PNG or WebP photos were found there.", { bad: true });
    return;
  }
  const project = current().state?.id ?? "";
  const outcomes: Outcome[] = [];
  let done = 0;
  let tooLarge = 0;
  let made: Done | undefined;  // by all batches, as long as nobody else changed anything in between
  let alone = true;
  update({ adding: { done, total: total + (current().adding?.total ?? 0) } });
  try {
    let index = 0;
    for (const files of groups.values()) {
      const name = names[index++] ?? "";
      const small = files.filter((file) => file.size <= MOST_BYTES);
      tooLarge += files.length - small.length;
      for (const batch of batches(small)) {
        const { revision, photos } = await upload(project, name, batch.map((blob) => ({ name: blob.name, blob })));
        outcomes.push(...photos);
        if (photos.some(({ outcome }) => outcome === "added")) {
          alone = alone && (!made || revision === made.revision + 1);
          made = { project, revision, changes: (made?.changes ?? 0) + 1 };
        }
        done += batch.length;
        update({ adding: { done, total } });
      }
    }
    const said = summary(outcomes, names, tooLarge);
    notify(said.text, { done: made && alone && made.changes <= MOST_UNDO ? made : undefined, bad: said.bad });
  } catch (error) {
    notify(`${error instanceof Error ? error.message : error} (${done} of ${total} photos were added)`, { bad: true });
  } finally {
    update({ adding: null });
  }
}
