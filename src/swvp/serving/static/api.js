/** Requests to the server: cancelled when outdated, tried again once when the server is busy, errors for people. */

import {savedToken} from "./token.js";

const BASE = "api/v1/", LONGEST_WAIT = 30; // seconds

/** An error that the page shows: its message is a sentence. */
class ApiError extends Error {
  constructor(message, status = 0) {
    super(message);
    this.status = status;
  }
}

/**
 * Ask the server, and return its JSON.
 * @param {string} path  below api/v1/
 * @param {{body?: Object, signal?: AbortSignal, onBusy?: function(number): void}} options  with a body it is a POST;
 *   onBusy is told the seconds until the second try
 */
export async function ask(path, {body, signal, onBusy = () => {}} = {}) {
  let answer = await send(path, body, signal);
  if (answer.status === 429) {
    const seconds = Math.min(LONGEST_WAIT, Math.max(1, Number(answer.headers.get("Retry-After")) || 1));
    onBusy(seconds);
    await wait(seconds, signal);
    answer = await send(path, body, signal);
  }
  if (answer.ok) return answer.json();
  throw new ApiError(await messageOf(answer), answer.status);
}

async function send(path, body, signal) {
  const headers = {}, token = savedToken();
  if (body) headers["Content-Type"] = "application/json";
  if (token) headers.Authorization = `Bearer ${token}`;
  try {
    return await fetch(BASE + path, {method: body ? "POST" : "GET", headers, body: body && JSON.stringify(body), signal});
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiError("The server does not answer. Check that `swvp serve` is running, then try again.");
  }
}

async function messageOf(answer) {
  if (answer.status === 429) return "The server is busy. Try again in a moment.";
  const said = await answer.json().then(({error}) => error, () => null);
  if (answer.status === 413) return `The text is too long for this server${said ? `: ${said}` : "."}`;
  return said ?? `The server answered with status ${answer.status}.`;
}

function wait(seconds, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, 1000 * seconds);
    signal?.addEventListener("abort", () => { clearTimeout(timer); reject(signal.reason); }, {once: true});
  });
}
