"use strict";
const copied = async (button) => {
  const text = document.getElementById(button.dataset.copy).textContent;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // A browser may keep the clipboard from pages that come from a file.
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  const before = button.textContent;
  button.textContent = "Copied";
  setTimeout(() => { button.textContent = before; }, 1200);
};
document.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-copy]");
  if (button) copied(button);
});
// A link to a finding unfolds it.
const unfold = () => {
  const card = location.hash && document.getElementById(location.hash.slice(1));
  if (card && card.tagName === "DETAILS") card.open = true;
};
addEventListener("hashchange", unfold);
unfold();
// The marks of the plots say in words what they show.
const tip = document.getElementById("tip");
document.addEventListener("pointermove", (event) => {
  const mark = event.target.closest("figure svg [aria-label]");
  const says = mark && mark.getAttribute("aria-roledescription") !== "axis" && mark.getAttribute("aria-label");
  tip.hidden = !says;
  if (!says) return;
  tip.textContent = says;
  const left = Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8);
  const above = event.clientY - tip.offsetHeight - 10;
  tip.style.left = `${Math.max(8, left)}px`;
  tip.style.top = `${above > 8 ? above : event.clientY + 18}px`;
});
