// Saves a chart or its data as a file, from the page alone.
for (const bar of document.querySelectorAll(".save")) {
  bar.hidden = false;
}
document.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-save]");
  if (!button) return;
  const figure = button.closest("figure");
  const kind = button.dataset.save;
  const text = kind === "svg"
    ? new XMLSerializer().serializeToString(figure.querySelector("svg"))
    : figure.querySelector("template").content.textContent;
  const type = kind === "svg" ? "image/svg+xml" : "text/csv";
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = figure.dataset.name + "." + kind;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
});
// Zooms a chart over time along its axis. With the focus, the wheel and + - zoom, dragging and arrows move, a
// double click and 0 show everything. Without it, the wheel scrolls the page.
for (const plot of document.querySelectorAll("svg[data-from]")) {
  const [from, to] = [Number(plot.dataset.from), Number(plot.dataset.to)];
  const [x, width] = [plot.x.baseVal.value, plot.width.baseVal.value];
  const { width: whole, height } = plot.viewBox.baseVal;
  const ticks = plot.parentNode.querySelector("[data-ticks]");
  const [mark, label] = [ticks.querySelector("line"), ticks.querySelector("text")];
  let [left, shown] = [0, whole];
  const show = (newLeft, newShown) => {
    shown = Math.min(whole, Math.max(whole / 1000, newShown));
    left = Math.min(whole - shown, Math.max(0, newLeft));
    plot.setAttribute("viewBox", `${left} 0 ${shown} ${height}`);
    const [start, span] = [from + (left / whole) * (to - from), (shown / whole) * (to - from)];
    const unit = 10 ** Math.floor(Math.log10(span / 4));
    const step = [1, 2, 5, 10].map((n) => n * unit).find((n) => n >= span / 4);
    ticks.replaceChildren();
    for (let n = Math.ceil(start / step); n * step <= start + span; n++) {
      const at = x + ((n * step - start) / span) * width;
      const [line, text] = [mark.cloneNode(), label.cloneNode()];
      line.setAttribute("x1", at);
      line.setAttribute("x2", at);
      text.setAttribute("x", at);
      text.textContent = Number((n * step).toPrecision(8));
      ticks.append(line, text);
    }
  };
  const zoom = (factor, share) => show(left + share * shown * (1 - factor), shown * factor);
  const box = () => plot.getBoundingClientRect();
  plot.addEventListener("wheel", (event) => {
    if (document.activeElement !== plot) return;
    event.preventDefault();
    zoom(event.deltaY < 0 ? 0.8 : 1.25, (event.clientX - box().left) / box().width);
  });
  plot.addEventListener("pointerdown", (event) => {
    plot.focus();
    plot.setPointerCapture(event.pointerId);
  });
  plot.addEventListener("pointermove", (event) => {
    if (event.buttons) show(left - (event.movementX / box().width) * shown, shown);
  });
  plot.addEventListener("dblclick", () => show(0, whole));
  plot.addEventListener("keydown", (event) => {
    const keys = {
      "+": () => zoom(0.5, 0.5),
      "-": () => zoom(2, 0.5),
      0: () => show(0, whole),
      ArrowLeft: () => show(left - shown / 4, shown),
      ArrowRight: () => show(left + shown / 4, shown),
    };
    if (!keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  });
}
