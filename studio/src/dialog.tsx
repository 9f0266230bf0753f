// Dialogs on the browser's own <dialog>: focus stays inside, Escape closes, focus returns.
import { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { Icon } from "./icons";
import { Notices } from "./notices";
import { current, update, useShared } from "./store";

interface Properties { title: string; close: () => void; children: ComponentChildren; wide?: boolean }

let nextDialog = 1;

export function Dialog({ title, close, children, wide }: Properties) {
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
    <dialog ref={element} class={wide ? "wide" : ""} aria-label={title}
            onClose={() => { if (there.current) close(); /* else it comes late, and another dialog may be open */ }}
            onClick={(event) => { if (event.target === element.current) close(); }}>
      <div class="dialog-body">
        <header>
          <h2>{title}</h2>
          <button type="button" class="quiet icon" aria-label="Close" onClick={close}><Icon name="close" /></button>
        </header>
        {children}
      </div>
      <Notices shown={dialogs[dialogs.length - 1] === id} most={1} />
    </dialog>
  );
}

interface NameProperties { title: string; label: string; value?: string; action: string; done: (name: string) => void; close: () => void }

export function NameDialog({ title, label, value = "", action, done, close }: NameProperties) {
  const [name, setName] = useState(value);
  const submit = (event: Event) => {
    event.preventDefault();
    if (name.trim()) done(name.trim());
  };
  return (
    <Dialog title={title} close={close}>
      <form onSubmit={submit} class="stack">
        <label>{label}
          <input value={name} maxLength={100} autoFocus onInput={(event) => setName(event.currentTarget.value)} />
        </label>
        <div class="buttons">
          <button type="submit" class="primary" disabled={!name.trim()}>{action}</button>
          <button type="button" onClick={close}>Cancel</button>
        </div>
      </form>
    </Dialog>
  );
}
