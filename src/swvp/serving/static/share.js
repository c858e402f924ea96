/** The state of a page in its address, behind #: so a link shows the same text with the same model. */

const LONGEST = 6000; // characters; browsers and messengers cut longer addresses

/** The fields behind #, such as {text, model}. */
export function fieldsOfAddress() {
  return Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
}

/** Put fields behind #, without a new entry in the history; empty ones are left out. Returns whether they fit. */
export function writeAddress(fields) {
  const present = Object.entries(fields).filter(([, value]) => value !== null && value !== "" && value !== false);
  const hash = `#${new URLSearchParams(present)}`, fits = hash.length <= LONGEST;
  history.replaceState(null, "", fits ? hash : "#");
  return fits;
}

/** Copy a text; returns whether the browser allows it. */
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
