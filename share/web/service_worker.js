// Keeps every file of the page, so that it works without a network after the first visit. VERSION, a checksum of all files, and FILES
// stand in a line before this one: another export is another version, which takes over when the page asks for it.

const CACHE = `annulus ${self.registration.scope} ${VERSION}`;
const address = (name) => new URL(name, self.registration.scope).href;
const KEPT = new Set(FILES.map(address));
const PAGE = [address("./"), address("index.html")];  // one file by two names

self.addEventListener("install", (event) => {
  event.waitUntil(caches.open(CACHE).then((cache) => cache.addAll(FILES.map((name) => new Request(address(name), { cache: "no-cache" })))));
});

self.addEventListener("activate", (event) => {
  event.waitUntil((async () => {
    const old = (await caches.keys()).filter((name) => name.startsWith(`annulus ${self.registration.scope} `) && name !== CACHE);
    await Promise.all(old.map((name) => caches.delete(name)));
    await self.clients.claim();
  })());
});

self.addEventListener("message", ({ data }) => { if (data === "take over") void self.skipWaiting(); });

self.addEventListener("fetch", (event) => {
  const wanted = new URL(event.request.url);
  wanted.hash = wanted.search = "";
  const name = PAGE.includes(wanted.href) ? PAGE[0] : wanted.href;
  if (event.request.method !== "GET" || !KEPT.has(name)) return;
  event.respondWith((async () => {
    const cache = await caches.open(CACHE);
    return (await cache.match(name)) ?? fetch(event.request);
  })());
});
