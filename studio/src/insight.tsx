// The analysis of the photos: findings with a fix at a click, and classes that are confused.
import { useEffect, useState } from "preact/hooks";
import { Analysis, change, Confused, Finding, get, largePhoto, post, shownProject, thumbnail } from "./api";
import { attempt, done, notify, useShared } from "./store";
import { viewAll } from "./viewer";

// Fetched when it is shown, and again when there is a newer one.
export function useAnalysis(visible: boolean): [Analysis | null, () => void] {
  const { state } = useShared();
  const [asked, setAsked] = useState(0);
  const [analysis, setAnalysis] = useState<Analysis | null>(null);
  useEffect(() => {
    if (!visible || !state) return;
    let live = true;
    get<Analysis>("/api/analysis").then((answer) => { if (live) setAnalysis(answer); }).catch(() => { /* told elsewhere */ });
    return () => { live = false; };
  }, [visible, state?.id, state?.analysis.number, state?.analysis.current, state?.analysis.confirmed, state?.revision, asked]);
  return [analysis, () => setAsked((count) => count + 1)];
}

const SENTENCES: Record<string, (finding: Finding) => string> = {
  mislabelled: ({ name, other }) => `In ${name}, looks like ${other}`,
  duplicate: ({ name, other }) => (other && other !== name ? `The same picture in ${name} and in ${other}` : `The same picture twice in ${name}`),
  "near-duplicate": ({ name, other }) => (other && other !== name ? `Nearly the same picture in ${name} and in ${other}` : `Nearly the same picture twice in ${name}`),
  outlier: ({ name }) => `In ${name}, unlike every other photo`,
};

// The photos to compare, and what each is.
function shotsOf({ kind, photo, own_photo, other_photo, name, other }: Finding): { id: string; caption: string; name: string }[] {
  const mislabelled = kind === "mislabelled";
  const shots = [
    { id: photo, caption: mislabelled ? `This photo, in ${name}` : name, name },
    { id: own_photo, caption: `Most like it in ${name}`, name },
    { id: other_photo, caption: mislabelled ? `Most like it in ${other}` : other || name, name: other || name },
  ];
  return shots.filter((shot): shot is { id: string; caption: string; name: string } => !!shot.id);
}

// Photos side by side with captions; a click enlarges one, and the others are an arrow key away.
function Shots({ shots }: { shots: { id: string; caption: string }[] }) {
  const viewed = shots.map(({ id, caption }) => ({ address: largePhoto(id), caption }));
  return (
    <div class="shots">
      {shots.map(({ id, caption }, index) => (
        <figure key={id}>
          <button type="button" class="shot" aria-label={`Enlarge: ${caption}`} title="Enlarge" onClick={() => viewAll(viewed, index)}>
            <img src={thumbnail(id, 384)} alt="" width="120" height="120" loading="lazy" />
          </button>
          <figcaption>{caption}</figcaption>
        </figure>
      ))}
    </div>
  );
}

function FindingRow({ finding, open, again }: { finding: Finding; open: (name: string) => void; again: () => void }) {
  const sentence = SENTENCES[finding.kind]?.(finding) ?? `${finding.kind}: ${finding.name}`;
  const { kind, photo, other, name, sure } = finding;
  const relabel = () => attempt(async () => {
    const made = await change("move", { photos: [photo], to: other });
    notify(`Moved to ${other}.`, { done: done(made) });
  });
  const remove = () => attempt(async () => {
    const made = await change("remove", { photos: [photo] });
    notify("Removed the photo.", { done: done(made) });
  });
  const confirm = () => attempt(async () => {
    await post("/api/findings/confirm", { project: shownProject(), kind, photo, other_photo: kind === "mislabelled" ? "" : finding.other_photo ?? "" });
    notify("Remembered: it is right.");
    again();
  });
  return (
    <li class="finding">
      <p class="finding-text">{sentence}{sure !== undefined && <span class="dim"> · {Math.round(100 * sure)} % sure</span>}</p>
      <Shots shots={shotsOf(finding)} />
      <div class="buttons">
        {kind === "mislabelled" && other && <button type="button" onClick={() => void relabel()}>Move to {other}</button>}
        {photo && <button type="button" onClick={() => void remove()}>Remove</button>}
        {photo && <button type="button" onClick={() => void confirm()}>It is right</button>}
        <button type="button" class="quiet" onClick={() => open(name)}>Open {name}</button>
      </div>
    </li>
  );
}

function ConfusedRow({ pair, open }: { pair: Confused; open: (name: string) => void }) {
  return (
    <li class="finding">
      <p class="finding-text">{pair.count} of {pair.of} {pair.of === 1 ? "photo" : "photos"} of <strong>{pair.name}</strong> {pair.count === 1 ? "looks" : "look"} more like <strong>{pair.taken_for}</strong></p>
      <Shots shots={pair.photos.slice(0, 3).map((id) => ({ id, caption: `In ${pair.name}` }))} />
      <div class="buttons">
        <button type="button" onClick={() => open(pair.name)}>Open {pair.name}</button>
        <button type="button" onClick={() => open(pair.taken_for)}>Open {pair.taken_for}</button>
      </div>
    </li>
  );
}

export function Findings({ analysis, open, again }: { analysis: Analysis | null; open: (name: string) => void; again: () => void }) {
  const [shown, setShown] = useState(20);
  if (!analysis) return <p class="dim">Looking…</p>;
  const findings = analysis.findings ?? [];
  const confused = analysis.confused ?? [];
  const remove = (id: string) => attempt(async () => {
    const made = await change("remove", { photos: [id] });
    notify("Removed the photo.", { done: done(made) });
  });
  return (
    <div class="findings">
      {analysis.broken.length > 0 && (
        <section aria-label="Photos that cannot be read">
          <h2 class="sub">Photos that cannot be read</h2>
          <ul>
            {analysis.broken.slice(0, 50).map(({ photo, reason, name }) => (
              <li key={photo} class="finding unread-photo">
                <span class="grow"><strong>{name}</strong>: {reason}</span>
                <button type="button" onClick={() => void remove(photo)}>Remove</button>
              </li>
            ))}
          </ul>
        </section>
      )}
      <section aria-label="What may be wrong">
        <h2 class="sub">What may be wrong</h2>
        {findings.length === 0
          ? <p class="dim">{analysis.findings ? "Nothing was found." : "This is looked at once there is a model."}</p>
          : <ul>{findings.slice(0, shown).map((finding) => <FindingRow key={`${finding.kind} ${finding.photo} ${finding.other_photo} ${finding.name}`} finding={finding} open={open} again={again} />)}</ul>}
        {findings.length > shown && <button type="button" onClick={() => setShown(shown + 50)}>Show more ({findings.length - shown})</button>}
      </section>
      <section aria-label="Confused classes">
        <h2 class="sub">Confused classes</h2>
        <p class="dim">Judged by the other photos of each class, without the model.</p>
        {confused.length === 0
          ? <p class="dim">None.</p>
          : <ul>{confused.slice(0, shown).map((pair) => <ConfusedRow key={`${pair.name} ${pair.taken_for}`} pair={pair} open={open} />)}</ul>}
      </section>
    </div>
  );
}
