// Notices of what was done or went wrong, for a few seconds, with a button to undo it.
import { IconButton } from "./icons";
import { canUndo, dismiss, Done, Notice, undoDone, useShared } from "./store";

const undoable = (notice: Notice): notice is Notice & { done: Done } => !!notice.done && canUndo(notice.done);

// One in the page and one in each dialog, with room of their own: they cover nothing. Only that of the topmost dialog is shown, because all below it cannot be clicked. The box exists
// before its text, as screen readers expect. `most`: the number of notices shown, the latest ones.
export function Notices({ shown, most = 3 }: { shown: boolean; most?: number }) {
  const { notices } = useShared();
  return (
    <div class="notices" role="log" aria-label="Notices">
      {shown && notices.slice(-most).map((notice) => (
        <div key={notice.id} class={notice.bad ? "notice bad" : "notice"}>
          <span class="grow">{notice.text}</span>
          {undoable(notice) && <button type="button" class="quiet" onClick={() => { dismiss(notice.id); void undoDone(notice.done); }}>Undo</button>}
          <IconButton icon="close" label="Dismiss" quiet onClick={() => dismiss(notice.id)} />
        </div>
      ))}
    </div>
  );
}
