/** Files made in the browser: text, and drawings as SVG and PNG. */

const STYLES = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-linejoin", "paint-order", "opacity",
  "font-family", "font-size", "font-weight", "text-anchor", "text-decoration-line", "unicode-bidi"];
const SCALE = 2, MOST_PIXELS = 16000; // of a PNG; browsers draw nothing on larger canvases

/** Let the reader save a text. */
export function saveText(text, name, type) {
  save(new Blob([text], {type: `${type};charset=utf-8`}), name);
}

/** Let the reader save a drawing in SVG, which looks the same without our styles. */
export function saveSvg(svg, name) {
  saveText(standalone(svg), name, "image/svg+xml");
}

/** Let the reader save a drawing as PNG. */
export async function savePng(svg, name) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(standalone(svg))}`;
  await image.decode();
  const scale = Math.min(SCALE, MOST_PIXELS / Math.max(image.naturalWidth, image.naturalHeight));
  const canvas = document.createElement("canvas");
  canvas.width = Math.ceil(scale * image.naturalWidth);
  canvas.height = Math.ceil(scale * image.naturalHeight);
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  const blob = await new Promise(resolve => canvas.toBlob(resolve, "image/png"));
  save(blob, name);
}

/** An SVG as text in its natural size, whose styles are attributes, and on a ground of its own. */
function standalone(svg) {
  const copy = svg.cloneNode(true), {width, height} = svg.dataset;
  const nodes = [...svg.querySelectorAll("*")], copies = [...copy.querySelectorAll("*")];
  nodes.forEach((node, k) => {
    const style = getComputedStyle(node), target = copies[k];
    if (node.closest("title, desc")) return;
    for (const name of STYLES) target.setAttribute(name === "text-decoration-line" ? "text-decoration" : name, style.getPropertyValue(name));
    for (const name of ["class", "role", "tabindex", "aria-pressed", "aria-label", "aria-hidden"]) target.removeAttribute(name);
  });
  nodes.forEach((node, k) => node.classList.contains("hit") && copies[k].remove());
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("width", width);
  copy.setAttribute("height", height);
  copy.setAttribute("role", "img");
  copy.removeAttribute("class");
  const ground = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  ground.setAttribute("width", "100%");
  ground.setAttribute("height", "100%");
  ground.setAttribute("fill", getComputedStyle(svg.closest(".card")).backgroundColor);
  copy.prepend(ground);
  return new XMLSerializer().serializeToString(copy);
}

function save(blob, name) {
  const link = document.createElement("a"), url = URL.createObjectURL(blob);
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
