// The analysis of the photos: findings with a fix at a click, and classes that are confused.
import { useEffect, useState } from "preact/hooks";
import { Analysis, change, Confused, Finding, get, thumbnail } from "./api";
import { attempt, done, notify, useShared } from "./store";

// Fetched when it is shown, and again when there is a newer one.
export function useAnalysis(visible: boolean): Analysis | null {
  const { state } = useShared();
  const [analysis, setAnalysis] = useState<Analysis | null>(null);
  useEffect(() => {
    if (!visible || !state) return;
    let live = true;
    get<Analysis>("/api/analysis").then((answer) => { if (live) setAnalysis(answer); }).catch(() => { /* told elsewhere */ });
    return () => { live = false; };
  }, [visible, state?.id, state?.analysis.number, state?.analysis.current, state?.revision]);
  return analysis;
}

const SENTENCES: Record<string, (finding: Finding) => string> = {
  mislabelled: ({ name, other }) => `In ${name}, looks like ${other}`,
  duplicate: ({ name, other }) => `The same picture twice: ${name} and ${other || name}`,
  "near-duplicate": ({ name, other }) => `Nearly the same picture twice: ${name}${other && other !== name ? ` and ${other}` : ""}`,
  outlier: ({ name }) => `In ${name}, unlike every other photo`,
};

function Shot({ id, open }: { id: string; open: () => void }) {
  return <button type="button" class="shot" aria-label="Open its class" onClick={open}><img src={thumbnail(id)} alt="" width="64" height="64" loading="lazy" /></button>;
}

function FindingRow({ finding, open }: { finding: Finding; open: (name: string) => void }) {
  const sentence = SENTENCES[finding.kind]?.(finding) ?? `${finding.kind}: ${finding.name}`;
  const { photo, other, name } = finding;
  const relabel = () => attempt(async () => {
    const made = await change("move", { photos: [photo], to: other });
    notify(`Moved to ${other}.`, { done: done(made) });
  });
  const remove = () => attempt(async () => {
    const made = await change("remove", { photos: [photo] });
    notify("Removed the photo.", { done: done(made) });
  });
  return (
    <li class="finding">
      {photo && <Shot id={photo} open={() => open(name)} />}
      {finding.other_photo && <Shot id={finding.other_photo} open={() => open(other || name)} />}
      <span class="grow">{sentence}</span>
      <span class="buttons">
        {finding.kind === "mislabelled" && other && <button type="button" onClick={() => void relabel()}>Move to {other}</button>}
        {photo && <button type="button" onClick={() => void remove()}>Remove</button>}
      </span>
    </li>
  );
}

function ConfusedRow({ pair, open }: { pair: Confused; open: (name: string) => void }) {
  return (
    <li class="finding">
      {pair.photos.slice(0, 2).map((id) => <Shot key={id} id={id} open={() => open(pair.name)} />)}
      <span class="grow">{pair.count} of {pair.of} {pair.of === 1 ? "photo" : "photos"} of <strong>{pair.name}</strong> {pair.count === 1 ? "looks" : "look"} more like <strong>{pair.taken_for}</strong></span>
      <button type="button" onClick={() => open(pair.name)}>Look</button>
    </li>
  );
}

export function Findings({ analysis, open }: { analysis: Analysis | null; open: (name: string) => void }) {
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
              <li key={photo} class="finding">
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
          : <ul>{findings.slice(0, shown).map((finding) => <FindingRow key={`${finding.kind} ${finding.photo} ${finding.other_photo} ${finding.name}`} finding={finding} open={open} />)}</ul>}
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
