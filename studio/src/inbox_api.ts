// Requests about the Inbox: groups of unsorted photos, the photos of one, and what to label next.
import { change, get } from "./api";

export const INBOX = ".inbox";  // the places that the program keeps unsorted photos in
export const UNKNOWN = ".unknown";
export const titleOf = (name: string) => (name === INBOX ? "the Inbox" : name === UNKNOWN ? "Unknown" : name);

export interface InboxGroup { key: string; suggestion: string; sure: number; photos: number; doubtful: number; covers: string[] }
export interface InboxList {
  revision: number; number: number; ungrouped: number;
  expected: { suggested: number; right: number };  // photos with a suggestion, and how many of these are expected to be right
  groups: InboxGroup[];
}
export interface InboxPhoto { id: string; name: string; sure: number; doubtful: boolean }
export interface Likely { name: string; probability: number | null }
export interface GroupPhotos { key: string; suggestion: string; likely: Likely[]; photos: InboxPhoto[] }
export interface NextPhoto { id: string; name: string; reason: string; stands_for: number; group: string }
export interface NextList { ready: boolean; photos: NextPhoto[] }

export const getInbox = () => get<InboxList>("/api/inbox");
export const getGroup = (key: string) => get<GroupPhotos>("/api/inbox/group", { key });
export const getNext = () => get<NextList>("/api/inbox/next");
export const sortInto = (photos: string[], to: string) => change("move", { photos, to });

export const percent = (fraction: number) => (fraction > 0.995 && fraction < 1 ? "> 99 %" : `${Math.round(100 * fraction)} %`);
export const counted = (photos: number) => (photos === 1 ? "1 photo" : `${photos.toLocaleString("en")} photos`);
