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
