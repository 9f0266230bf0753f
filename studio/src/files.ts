// Turns what a person drops, picks or pastes into photos with class names, and uploads them.
import { Outcome, upload } from "./api";
import { INBOX, titleOf } from "./inbox_api";
import { current, Done, notify, sentenceOf, update } from "./store";

export interface Found { file: File; path: string[] }  // path: folders above the file, outermost first
export type Groups = Map<string, File[]>;

const BATCH_FILES = 24;
const BATCH_BYTES = 16 << 20;
const MOST_UNDO = 100;  // changes that the program can undo
export const MOST_BYTES = 60 << 20;
// The formats that the program reads (annulus/vision/image/image_type.cpp); what a file is, the program decides by its content.
const RAW = "dng|cr2|cr3|crw|nef|nrw|arw|sr2|raf|orf|rw2|rwl|pef|srw|mrw|x3f|3fr|iiq|raw";
const EXTENSIONS = `jpg|jpeg|jpe|jfif|png|webp|heic|heif|hif|avif|tif|tiff|gif|bmp|dib|jxl|${RAW}`;
const TYPES = "jpeg|png|webp|heic|heif|avif|tiff|gif|bmp|jxl";
export const FORMATS = "JPEG, PNG, WebP, HEIC, AVIF, TIFF, GIF, BMP, JPEG XL or camera RAW";
// For inputs that pick files: many browsers know no type for the newer formats, so extensions stand beside types.
export const ACCEPT = [...TYPES.split("|").map((type) => `image/${type}`), ...EXTENSIONS.split("|").map((end) => `.${end}`)].join(",");
const IMAGE = new RegExp(`\\.(${EXTENSIONS})$`, "i");
const IMAGE_TYPE = new RegExp(`^image/(${TYPES})$`);
const isImage = (file: File) => IMAGE.test(file.name) || IMAGE_TYPE.test(file.type);

async function entriesOf(reader: FileSystemDirectoryReader): Promise<FileSystemEntry[]> {
  const all: FileSystemEntry[] = [];
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((done, bad) => reader.readEntries(done, bad));
    if (some.length === 0) return all;
    all.push(...some);
  }
}

async function walk(entry: FileSystemEntry, path: string[], found: Found[], any = false): Promise<void> {
  if (entry.isFile) {
    const file = await new Promise<File>((done, bad) => (entry as FileSystemFileEntry).file(done, bad));
    if (any || isImage(file)) found.push({ file, path });
  } else if (!entry.name.startsWith(".")) {
    const entries = await entriesOf((entry as FileSystemDirectoryEntry).createReader());
    for (const inner of entries) await walk(inner, [...path, entry.name], found);
  }
}

// Must be called while the drop event is handled; what it returns comes later. With `any`, files that do not look like photos are returned
// too, unless they are inside a folder: whoever drops one is to hear why it is not taken.
export async function dropped(data: DataTransfer, any = false): Promise<Found[]> {
  const entries = [...data.items].map((item) => (item.kind === "file" ? item.webkitGetAsEntry?.() : null));
  const files = [...data.files];
  const found: Found[] = [];
  if (entries.some((entry) => entry)) {
    for (const entry of entries) if (entry) await walk(entry, [], found, any);
  } else {
    for (const file of files) if (any || isImage(file)) found.push({ file, path: [] });
  }
  return found;
}

export function picked(list: FileList | null): Found[] {
  return [...(list ?? [])].filter(isImage).map((file) => ({ file, path: file.webkitRelativePath.split("/").slice(0, -1) }));
}

const SPLITS = ["train", "training", "val", "valid", "validation", "test", "dev"];

// Of a folder that holds a data set in parts (train/ and test/, say), the training part, as if it had been added itself; the others are for measuring.
function training(found: Found[]): { found: Found[]; notes: string[] } {
  const inner = new Map<string, Set<string>>();
  for (const { path } of found) if (path[0] !== undefined && path[1] !== undefined) inner.set(path[0], (inner.get(path[0]) ?? new Set()).add(path[1]));
  const roots = [...inner].filter(([, names]) => [...names].every((name) => SPLITS.includes(name)) && [...names].some((name) => name.startsWith("train"))).map(([root]) => root);
  if (roots.length === 0) return { found, notes: [] };
  const ofData = ({ path }: Found) => path.length > 1 && roots.includes(path[0] ?? "");
  const kept = found.filter((one) => !ofData(one) || one.path[1]?.startsWith("train")).map((one) => (ofData(one) ? { file: one.file, path: one.path.slice(1) } : one));
  const left = found.length - kept.length;
  return { found: kept, notes: left ? [`Left out ${left === 1 ? "1 photo" : `${left} photos`} that ${left === 1 ? "is" : "are"} not in train`] : [] };
}

// In a folder of folders, each inner folder is a class; a folder of photos is a class. Photos without a folder are under "".
export function grouped(all: Found[]): { groups: Groups; notes: string[] } {
  const { found, notes } = training(all);
  const deep = new Set(found.filter(({ path }) => path.length > 1).map(({ path }) => path[0]));
  const groups: Groups = new Map();
  const merged = new Map<string, Set<string>>();  // folders inside those of classes
  for (const { file, path } of found) {
    const name = (path.length > 1 ? path[1] : deep.has(path[0]) ? "" : path[0]) ?? "";
    groups.set(name, [...(groups.get(name) ?? []), file]);
    if (path[2] !== undefined) merged.set(name, (merged.get(name) ?? new Set()).add(path[2]));
  }
  for (const [name, folders] of merged) if (folders.size > 1) notes.push(`Took the ${folders.size} folders inside ${name} as one class`);
  return { groups, notes };
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

function summary(outcomes: Outcome[], names: string[], tooLarge: number, notes: string[]): { text: string; bad: boolean } {
  const count = (what: string) => outcomes.filter(({ outcome }) => outcome === what).length;
  const photos = (number: number) => (number === 1 ? "1 photo" : `${number} photos`);
  const parts = [`Added ${photos(count("added"))}` + (names.length === 1 ? ` to ${titleOf(names[0] ?? "")}` : ` to ${names.length} classes`)];
  const known = outcomes.filter(({ outcome }) => outcome === "known");
  if (known.length) parts.push(known.length === 1 ? `1 was already in ${known[0]?.reason}` : `${known.length} were in the project already`);
  if (count("rejected")) parts.push(`${photos(count("rejected"))} could not be read as ${FORMATS}`);
  if (tooLarge) parts.push(`${photos(tooLarge)} left out for being over 60 MB`);
  return { text: [parts.join("; "), ...notes].join(". ") + ".", bad: count("rejected") + tooLarge > 0 };
}

// Uploads photos class by class; lists and model are updated in the meantime. `begun` is for whoever typed the name of the class: it is told
// what is wrong with it, or "" once the first photos are in.
export async function add(groups: Groups, notes: string[] = [], begun?: (wrong: string) => void): Promise<void> {
  const names = [...groups.keys()].map((name) => (name === INBOX ? name : name.trim().replace(/[/\\]/g, "-").replace(/^\.+/, "")));
  const total = [...groups.values()].reduce((sum, files) => sum + files.length, 0);
  if (total === 0) {
    notify(`No ${FORMATS} photos were found there.`, { bad: true });
    begun?.("");
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
        begun?.("");
        update({ adding: { done, total } });
      }
    }
    const said = summary(outcomes, names, tooLarge, notes);
    begun?.("");
    notify(said.text, { done: made && alone && made.changes <= MOST_UNDO ? made : undefined, bad: said.bad });
  } catch (error) {
    const reason = sentenceOf(error);
    if (begun && done === 0) begun(reason);
    else notify(`${reason} ${done} of ${total} photos were added.`, { bad: true });
  } finally {
    update({ adding: null });
  }
}
