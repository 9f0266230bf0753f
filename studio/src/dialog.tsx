// Dialogs on the browser's own <dialog>: focus stays inside, Escape closes, focus returns.
import { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { IconButton } from "./icons";
import { Notices } from "./notices";
import { current, update, useShared } from "./store";

interface Properties { title: string; close: () => void; children: ComponentChildren; kind?: "wide" | "viewing" }

let nextDialog = 1;

export function Dialog({ title, close, children, kind }: Properties) {
  const element = useRef<HTMLDialogElement>(null);
  const there = useRef(true);
  const [id] = useState(() => nextDialog++);
  const { dialogs } = useShared();
  // Before the next key is read: keys pressed right after opening belong to the dialog, and focus returns to the element that opened it.
  useLayoutEffect(() => {
    const dialog = element.current;
    dialog?.showModal();
    update({ dialogs: [...current().dialogs, id] });
    return () => {
      there.current = false;
      dialog?.close();
      update({ dialogs: current().dialogs.filter((other) => other !== id) });
    };
  }, []);
  return (
    <dialog ref={element} class={kind ?? ""} aria-label={title}
            onClose={() => { if (there.current) close(); /* else it comes late, and another dialog may be open */ }}
            onClick={(event) => { if (event.target === element.current) close(); }}>
      <div class="dialog-body">
        <header>
          <h2>{title}</h2>
          <IconButton icon="close" label="Close" quiet onClick={close} />
        </header>
        {children}
      </div>
      <Notices shown={dialogs[dialogs.length - 1] === id} most={1} />
    </dialog>
  );
}

// An error beside the field it is about; the field names it by aria-describedby.
export function FieldError({ id, text }: { id: string; text: string }) {
  return <p id={id} class={text ? "field-error" : "hidden"} role="alert">{text}</p>;
}

// `done` resolves to what is wrong with the name; empty: nothing, and the dialog closes.
interface NameProperties { title: string; label: string; value?: string; action: string; done: (name: string) => Promise<string>; close: () => void }

export function NameDialog({ title, label, value = "", action, done, close }: NameProperties) {
  const [name, setName] = useState(value);
  const [wrong, setWrong] = useState("");
  const submit = async (event: Event) => {
    event.preventDefault();
    if (!name.trim()) return;
    const found = await done(name.trim());
    setWrong(found);
    if (!found) close();
  };
  return (
    <Dialog title={title} close={close}>
      <form onSubmit={(event) => void submit(event)} class="stack">
        <label>{label}
          <input value={name} maxLength={100} autoFocus aria-invalid={wrong !== ""} aria-describedby="name-wrong" onInput={(event) => { setName(event.currentTarget.value); setWrong(""); }} />
        </label>
        <FieldError id="name-wrong" text={wrong} />
        <div class="buttons">
          <button type="submit" class="primary" disabled={!name.trim()}>{action}</button>
          <button type="button" onClick={close}>Cancel</button>
        </div>
      </form>
    </Dialog>
  );
}
